"""Builds the package `araplbs` and its extension module `araplbs._engine`: csrc/ with CHOLMOD
compiled in, and OpenBLAS next to it.

The name and the requirements of the package are in pyproject.toml, and its version is in
blender_manifest.toml. Importing this file does nothing. Only the commands do work.

CHOLMOD comes from a SuiteSparse source tree (5.x or 7.x, downloaded by tools/fetch_suitesparse.sh)
and OpenBLAS from the package scipy-openblas32. Every symbol is hidden, and every BLAS name has the
prefix scipy_, because Blender itself loads another CHOLMOD and another BLAS into the same process.

Environment:
  ARAPLBS_SUITESPARSE_DIR  the SuiteSparse tree; default: suitesparse/ in the cache folder, in the
                           source package next to this file
  ARAPLBS_CACHE            the cache folder; default: araplbs/ in the user's cache
  ARAPLBS_WERROR=1         warnings in csrc/ are errors
  ARAPLBS_ASAN=1           address and undefined-behavior sanitizers, and allocations that tests
                           can make fail; output in build/asan
  ARAPLBS_TSAN=1           the thread sanitizer; output in build/tsan
"""

import filecmp
import importlib.metadata
import os
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext as _build_ext
from setuptools.command.egg_info import egg_info as _egg_info
from setuptools.command.sdist import sdist as _sdist

sys.path.insert(0, str(Path(__file__).resolve().parent / "tools"))
import sources
from sources import MANIFEST, ROOT, SUITESPARSE

ASAN = os.environ.get("ARAPLBS_ASAN") == "1"
TSAN = os.environ.get("ARAPLBS_TSAN") == "1"
SANITIZERS = "address,undefined" if ASAN else "thread" if TSAN else ""
WERROR = os.environ.get("ARAPLBS_WERROR") == "1"
BUILD = "build/asan" if ASAN else "build/tsan" if TSAN else "build"


class sdist(_sdist):
    """Adds CHOLMOD's sources to the source package, so building it requires only a compiler."""

    def make_release_tree(self, base_dir, files):
        if not sources.suitesparse_version():
            sys.exit(f"setup.py: no SuiteSparse sources in {SUITESPARSE}")
        super().make_release_tree(base_dir, files)
        for file in sources.suitesparse_files():
            target = Path(base_dir, "suitesparse", file.relative_to(SUITESPARSE))
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
        for name in self.distribution.metadata.license_files:  # setuptools omits some of these
            target = Path(base_dir, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(name, target)


class egg_info(_egg_info):
    """Adds the license texts of all compiled-in or bundled code to the wheel."""

    def finalize_options(self):
        (ROOT / "build").mkdir(exist_ok=True)
        super().finalize_options()

    def run(self):
        if sources.suitesparse_version():
            openblas = importlib.metadata.distribution("scipy-openblas32")
            texts = [f.locate() for f in openblas.files if sources.is_license(f)]
            files = sources.collect_licenses(ROOT / "build/licenses", texts, openblas.version)
            kept = self.distribution.metadata.license_files
            self.distribution.metadata.license_files = [
                *(f for f in kept if not f.startswith("build/licenses/")),
                *(str(f.relative_to(ROOT)) for f in files),
            ]
        super().run()


class build_ext(_build_ext):
    """Compiles in parallel, and only changed files. To detect changes, the command and the headers
    of each object are stored."""

    def build_extension(self, ext):
        import numpy
        import scipy_openblas32

        if not sources.suitesparse_version():
            sys.exit(
                f"setup.py: no SuiteSparse sources in {SUITESPARSE}: run "
                "tools/fetch_suitesparse.sh, or set ARAPLBS_SUITESPARSE_DIR to a source tree"
            )
        include = [
            *sources.include_dirs(),
            *map(Path, self.include_dirs),  # Python's own
            Path(scipy_openblas32.get_include_dir()),
            Path(numpy.get_include()),
        ]
        common = [*sources.COMPILE_FLAGS, "-pthread"]
        if not SANITIZERS:
            common += ["-include", str(ROOT / "tools/glibc_floor.h")]
        else:
            common += ["-O1", "-g", "-UNDEBUG", "-fno-omit-frame-pointer"]
            common += [f"-fsanitize={SANITIZERS}", "-fno-sanitize-recover=undefined"]
        if ASAN:
            common += ["-DARAP_FAULT_INJECTION"]  # see csrc/base/memory.h
        common += [f"-I{d}" for d in include]
        ours = [*common, "-Werror"] if WERROR else common
        temp = Path(self.build_temp)
        jobs = [
            (s, temp / "suitesparse" / s.relative_to(SUITESPARSE), common + sources.flags_of(s))
            for s in sources.suitesparse_sources()
        ]
        jobs += [
            (s, temp / s, ours + sources.flags_of(s) + asan_flags(s))
            for s in map(Path, ext.sources)
        ]
        if not (temp / "suitesparse").exists():
            print(
                f"CHOLMOD of SuiteSparse {sources.suitesparse_version()} from {SUITESPARSE}",
                flush=True,
            )
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            objects = list(pool.map(lambda job: self.compile_one(*job), jobs))

        ext.libraries = [scipy_openblas32.get_library(), "m"]
        ext.library_dirs = [scipy_openblas32.get_lib_dir()]
        if sources.IN_SDIST:  # pip deletes the package of OpenBLAS after the build
            ext.runtime_library_dirs = ["$ORIGIN/../araplbs.libs"]
            beside = Path(self.build_lib, "araplbs.libs")
            beside.mkdir(parents=True, exist_ok=True)
            for library in Path(scipy_openblas32.get_lib_dir()).glob("*.so*"):
                shutil.copyfile(library, beside / library.name)
        else:  # for a build in place; auditwheel replaces it when it adds OpenBLAS to the wheel
            ext.runtime_library_dirs = ext.library_dirs
        # setuptools links, with its own check for newer files, which overlooks files that are gone.
        listing = temp / "objects.txt"
        if not listing.exists() or listing.read_text().split() != objects:
            self.force = self.compiler.force = True
        ext.sources, ext.depends, ext.extra_objects = [], objects, objects
        super().build_extension(ext)
        listing.write_text("\n".join(objects))

    def copy_file(self, source, target, *how, **more):
        """Keeps a file that is unchanged, because running tests may use it."""
        if os.path.exists(target) and filecmp.cmp(source, target, shallow=False):
            return target, False
        return super().copy_file(source, target, *how, **more)

    def compile_one(self, source, stem, flags):
        obj, dep, cmd = (stem.with_name(stem.name + end) for end in (".o", ".d", ".cmd"))
        command = [*self.compiler.compiler_so, *flags, "-MMD", "-MF", str(dep)]
        command += ["-c", str(source), "-o", str(obj)]
        if not self.is_current(obj, dep, cmd, command):
            obj.parent.mkdir(parents=True, exist_ok=True)
            cmd.unlink(missing_ok=True)
            if not source.is_absolute():  # the files of CHOLMOD are not worth a line each
                print(f"compile {source}\n", end="", flush=True)
            if subprocess.run(command).returncode:
                sys.exit(f"setup.py: {source} does not compile")
            cmd.write_text(shlex.join(command))
        return str(obj)

    @staticmethod
    def is_current(obj, dep, cmd, command):
        if not (obj.exists() and dep.exists() and cmd.exists()):
            return False
        # An object without warnings is the same whether or not warnings are errors.
        strict = cmd.read_text()
        if shlex.join(command) not in (strict, strict.replace(" -Werror", "")):
            return False
        built = obj.stat().st_mtime
        headers = shlex.split(dep.read_text().replace("\\\n", " "))[1:]
        return all(os.path.exists(h) and os.path.getmtime(h) <= built for h in headers)


def asan_flags(source):
    """Before gcc 12.4 and 13.3, the stack with which asan finds uses after return does not align
    vectors of 64 bytes, so aligned loads crash (GCC bug 110027)."""
    return ["--param=asan-use-after-return=0"] if ASAN and source.name in sources.FUSED else []


if __name__ == "__main__":
    module = Extension(
        "araplbs._engine",
        sources=[str(f.relative_to(ROOT)) for f in sources.own_sources()],
        extra_link_args=["-pthread"] + ([f"-fsanitize={SANITIZERS}"] if SANITIZERS else []),
        py_limited_api=True,
    )
    setup(
        version=MANIFEST["version"],
        ext_modules=[module],
        packages=sources.packages(),
        package_data={"araplbs": ["*.pyi", "py.typed", "SKILL.md"]},
        cmdclass={"build_ext": build_ext, "egg_info": egg_info, "sdist": sdist},
        options={
            "build": {
                "build_base": BUILD, "build_lib": f"{BUILD}/lib", "build_temp": f"{BUILD}/obj"
            },
            "bdist_wheel": {"py_limited_api": "cp311"},
            "egg_info": {"egg_base": "build"},
        },
    )  # fmt: skip
