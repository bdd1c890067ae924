"""Builds the extension module `araplbs`: csrc/ with CHOLMOD compiled in, OpenBLAS beside it.

CHOLMOD comes from a SuiteSparse source tree (5.x or 7.x; tools/fetch_suitesparse.sh gets one) and
OpenBLAS from the package scipy-openblas32.  Every symbol is hidden and every BLAS name carries the
prefix scipy_, because Blender itself loads another CHOLMOD and another BLAS into the same process.

Environment:
  ARAPLBS_SUITESPARSE_DIR  the SuiteSparse tree; default: suitesparse/ in the cache folder
  ARAPLBS_CACHE            the cache folder; default: araplbs/ in the user's cache
  ARAPLBS_WERROR=1         warnings in csrc/ are errors
  ARAPLBS_ASAN=1           address and undefined-behaviour sanitizers, and allocations that tests
                           can make fail; output in build/asan
  ARAPLBS_TSAN=1           the thread sanitizer; output in build/tsan
"""

import importlib.metadata
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy
import scipy_openblas32
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext as _build_ext

ROOT = Path(__file__).resolve().parent
MANIFEST = tomllib.loads((ROOT / "blender_manifest.toml").read_text())
ASAN = os.environ.get("ARAPLBS_ASAN") == "1"
TSAN = os.environ.get("ARAPLBS_TSAN") == "1"
SANITIZERS = "address,undefined" if ASAN else "thread" if TSAN else ""
WERROR = os.environ.get("ARAPLBS_WERROR") == "1"
BUILD = "build/asan" if ASAN else "build/tsan" if TSAN else "build"

# What csrc/ uses of CHOLMOD: real double, int32 indices, no graph partitioning (METIS).
CHOLMOD_MODULES = ("Core", "Utility", "Check", "Cholesky", "MatrixOps", "Modify", "Supernodal")
# The BLAS and LAPACK names, less their letter for the type, that CHOLMOD calls or csrc/ may call.
BLAS_ROUTINES = [
    *("gemm", "gemv", "ger", "symm", "symv", "syr", "syrk", "syr2k", "trmm", "trmv", "trsm"),
    *("trsv", "axpy", "copy", "dot", "nrm2", "scal", "swap", "hemm", "hemv", "herk", "her2k"),
    *("potrf", "potri", "potrs"),
]


def suitesparse_dir():
    cache = os.environ.get("ARAPLBS_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "araplbs"
    )
    return Path(os.environ.get("ARAPLBS_SUITESPARSE_DIR") or os.path.join(cache, "suitesparse"))


SUITESPARSE = suitesparse_dir()


def suitesparse_version():
    """'7.10.1' from the header, or None where there is no SuiteSparse tree."""
    header = SUITESPARSE / "SuiteSparse_config/SuiteSparse_config.h"
    if not header.exists():
        return None
    text = header.read_text(errors="replace")
    parts = [
        re.search(rf"#define\s+SUITESPARSE_{part}_VERSION\s+(\d+)", text)
        for part in ("MAIN", "SUB", "SUBSUB")
    ]
    return ".".join(m.group(1) for m in parts) if all(parts) else "unknown"


def suitesparse_sources():
    """The int32 files; t_*.c are templates included by others, *_l_*.c the int64 twins."""
    folders = [SUITESPARSE / "CHOLMOD" / m for m in CHOLMOD_MODULES]
    folders += [SUITESPARSE / "AMD/Source", SUITESPARSE / "COLAMD/Source"]
    files = [f for d in folders for f in sorted(d.glob("*.c"))]
    files = [f for f in files if not re.match(r"t_|(cholmod|amd|colamd)_l[_12.]", f.name)]
    return [*files, SUITESPARSE / "SuiteSparse_config/SuiteSparse_config.c"]


def collect_licences():
    """Copies the licence texts of all that is compiled in or bundled to build/licenses."""
    target = ROOT / "build/licenses"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    texts = {
        "SuiteSparse-AMD.txt": "AMD/Doc/License.txt",
        "SuiteSparse-COLAMD.txt": "COLAMD/Doc/License.txt",
        "SuiteSparse-CHOLMOD.txt": "CHOLMOD/Doc/License.txt",
        "GPL-2.0.txt": "CHOLMOD/Supernodal/gpl.txt",
        "LGPL-2.1.txt": "CHOLMOD/Cholesky/lesser.txt",
    }
    for name, source in texts.items():
        shutil.copyfile(SUITESPARSE / source, target / name)
    # SuiteSparse_config has no licence file of its own: its header says what holds for it.
    header = (SUITESPARSE / "SuiteSparse_config/SuiteSparse_config.h").read_text(errors="replace")
    (target / "SuiteSparse-SuiteSparse_config.txt").write_text(
        header.split("#ifndef SUITESPARSE_CONFIG_H")[0]
    )
    openblas = importlib.metadata.distribution("scipy-openblas32")
    for file in openblas.files:
        if "licenses" in file.parts or file.name.upper().startswith(("LICENSE", "COPYING")):
            shutil.copyfile(file.locate(), target / f"OpenBLAS-{file.name}")
    origin = SUITESPARSE / "ORIGIN"
    lines = [
        f"SuiteSparse {suitesparse_version()}",
        *(origin.read_text().splitlines() if origin.exists() else []),
        f"OpenBLAS: PyPI package scipy-openblas32 {openblas.version}",
    ]
    (target / "VERSIONS.txt").write_text("\n".join(lines) + "\n")
    return sorted(str(f.relative_to(ROOT)) for f in target.iterdir())


class build_ext(_build_ext):
    """Compiles in parallel and only what changed: each object keeps its command and its headers."""

    def build_extension(self, ext):
        if not suitesparse_version():
            sys.exit(
                f"setup.py: no SuiteSparse sources in {SUITESPARSE}: run "
                "tools/fetch_suitesparse.sh, or set ARAPLBS_SUITESPARSE_DIR to a source tree"
            )
        blas = [f"-D{p}{r}_=scipy_{p}{r}_" for p in "sdcz" for r in BLAS_ROUTINES]
        include = [
            SUITESPARSE / "SuiteSparse_config",
            *(SUITESPARSE / m / "Include" for m in ("AMD", "COLAMD", "CHOLMOD")),
            *map(Path, self.include_dirs),  # Python's own
            Path(scipy_openblas32.get_include_dir()),
            Path(numpy.get_include()),
        ]
        common = ["-O3", "-g0", "-fno-math-errno", "-fvisibility=hidden", "-pthread", "-std=gnu11"]
        if not SANITIZERS:
            common += ["-include", str(ROOT / "tools/glibc_floor.h")]
        else:
            common += ["-O1", "-g", "-UNDEBUG", "-fno-omit-frame-pointer"]
            common += [f"-fsanitize={SANITIZERS}", "-fno-sanitize-recover=undefined"]
        if ASAN:
            common += ["-DARAP_FAULT_INJECTION"]  # see csrc/base/memory.h
        common += [f"-I{d}" for d in include] + blas + ["-DNPARTITION", "-DNCAMD"]
        # Error messages of CHOLMOD name its file: keep this machine's folders out of the binary.
        theirs = [*common, "-w", "-DNDEBUG", f"-ffile-prefix-map={SUITESPARSE}=SuiteSparse"]
        ours = [
            *common,
            "-Icsrc",  # includes name the room: "mesh/rings.h"
            *("-Wall", "-Wextra", f"-ffile-prefix-map={ROOT}=araplbs"),
            *(["-Werror"] if WERROR else []),
            "-DPy_LIMITED_API=0x030b0000",  # one wheel for Python 3.11 and later
            "-DNPY_TARGET_VERSION=NPY_1_23_API_VERSION",  # Blender 4.2 has NumPy 1.24
            "-DNPY_NO_DEPRECATED_API=NPY_1_23_API_VERSION",
            f'-DARAPLBS_VERSION="{MANIFEST["version"]}"',
        ]
        temp = Path(self.build_temp)
        jobs = [
            (s, temp / "suitesparse" / s.relative_to(SUITESPARSE), theirs)
            for s in suitesparse_sources()
        ]
        jobs += [(Path(s), temp / s, ours) for s in ext.sources]
        if not (temp / "suitesparse").exists():
            print(f"CHOLMOD of SuiteSparse {suitesparse_version()} from {SUITESPARSE}", flush=True)
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            objects = list(pool.map(lambda job: self.compile_one(*job), jobs))

        # The linking, with its own test whether anything is newer, is left to setuptools.
        listing = temp / "objects.txt"  # changes when a source file is added or taken away
        if not listing.exists() or listing.read_text().split() != objects:
            listing.write_text("\n".join(objects))
        ext.sources, ext.depends, ext.extra_objects = [], [*objects, str(listing)], objects
        super().build_extension(ext)

    def compile_one(self, source, stem, flags):
        obj, dep, cmd = (stem.with_name(stem.name + end) for end in (".o", ".d", ".cmd"))
        command = [*self.compiler.compiler_so, *flags, "-MMD", "-MF", str(dep)]
        command += ["-c", str(source), "-o", str(obj)]
        if not self.is_current(obj, dep, cmd, command):
            obj.parent.mkdir(parents=True, exist_ok=True)
            cmd.unlink(missing_ok=True)
            if not source.is_absolute():  # CHOLMOD's 60 files are not worth a line each
                print(f"compile {source}\n", end="", flush=True)
            if subprocess.run(command).returncode:
                sys.exit(f"setup.py: {source} does not compile")
            cmd.write_text(shlex.join(command))
        return str(obj)

    @staticmethod
    def is_current(obj, dep, cmd, command):
        if not (obj.exists() and dep.exists() and cmd.exists()):
            return False
        # An object without a warning is as good where they are no errors.
        strict = cmd.read_text()
        if shlex.join(command) not in (strict, strict.replace(" -Werror", "")):
            return False
        built = obj.stat().st_mtime
        headers = shlex.split(dep.read_text().replace("\\\n", " "))[1:]
        return all(os.path.exists(h) and os.path.getmtime(h) <= built for h in headers)


module = Extension(
    "araplbs",
    sources=sorted(str(f.relative_to(ROOT)) for f in (ROOT / "csrc").rglob("*.c")),
    libraries=[scipy_openblas32.get_library(), "m"],
    library_dirs=[scipy_openblas32.get_lib_dir()],
    # For the build in place; auditwheel replaces it when it takes OpenBLAS into the wheel.
    runtime_library_dirs=[scipy_openblas32.get_lib_dir()],
    extra_link_args=["-pthread"] + ([f"-fsanitize={SANITIZERS}"] if SANITIZERS else []),
    py_limited_api=True,
)

stubs = (ROOT / "csrc/araplbs-stubs/__init__.pyi").exists()
licences = collect_licences() if suitesparse_version() else []

setup(
    name=MANIFEST["id"],
    version=MANIFEST["version"],
    description=MANIFEST["tagline"],
    author=MANIFEST["maintainer"],
    license="GPL-3.0-or-later",
    license_files=["LICENSE", "THIRD_PARTY.md", *licences],
    python_requires=">=3.11",
    install_requires=["numpy>=1.23"],
    ext_modules=[module],
    packages=["araplbs-stubs"] if stubs else [],
    package_dir={"araplbs-stubs": "csrc/araplbs-stubs"} if stubs else {},
    package_data={"araplbs-stubs": ["*.pyi", "py.typed"]} if stubs else {},
    cmdclass={"build_ext": build_ext},
    options={
        "build": {"build_base": BUILD, "build_lib": f"{BUILD}/lib", "build_temp": f"{BUILD}/obj"},
        "bdist_wheel": {"py_limited_api": "cp311"},
        "egg_info": {"egg_base": "build"},
    },
)
