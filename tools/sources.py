"""Lists the files of the package araplbs, and the sources and symbol names of its engine. setup.py,
which builds for this machine, and tools/cross.py, which builds for other systems, share this
module. Importing it has no side effects.

CHOLMOD comes from a SuiteSparse source tree (5.x or 7.x; tools/fetch_suitesparse.sh gets one) and
OpenBLAS from the package scipy-openblas32. Every BLAS name has the prefix scipy_, because Blender
itself loads another BLAS into the same process.

Environment:
  ARAPLBS_SUITESPARSE_DIR  the SuiteSparse tree; default: suitesparse/ next to setup.py in the
                           source package, else in the cache folder
  ARAPLBS_CACHE            the cache folder; default: araplbs/ in the user's cache
"""

import os
import re
import shutil
import tomllib
from pathlib import Path

import engine_docs

ROOT = Path(__file__).resolve().parents[1]
CSRC = ROOT / "csrc"
PACKAGE = ROOT / "araplbs"
ADDON = ROOT / "araplbs_addon"  # also in wheels, for Python with the module bpy
MANIFEST = tomllib.loads((ROOT / "blender_manifest.toml").read_text())
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CACHE = Path(
    os.environ.get("ARAPLBS_CACHE")
    or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "araplbs")
)
IN_SDIST = (ROOT / "PKG-INFO").exists()  # unpacked from the source package
SUITESPARSE = Path(
    os.environ.get("ARAPLBS_SUITESPARSE_DIR") or (ROOT if IN_SDIST else CACHE) / "suitesparse"
)

# The part of CHOLMOD that csrc/ uses: real double, int32 indices, no graph partitioning (METIS).
CHOLMOD_MODULES = ("Core", "Utility", "Cholesky", "Supernodal")
# The BLAS and LAPACK names, without their type letter, that CHOLMOD calls or csrc/ may call.
BLAS_ROUTINES = [
    *("gemm", "gemv", "ger", "symm", "symv", "syr", "syrk", "syr2k", "trmm", "trmv", "trsm"),
    *("trsv", "axpy", "copy", "dot", "nrm2", "scal", "swap", "hemm", "hemv", "herk", "her2k"),
    *("potrf", "potri", "potrs"),
]
# Routines that CHOLMOD takes from csrc/linalg/blas.c, which calls OpenBLAS or plain loops.
THROUGH_US = ("gemm", "gemv", "syrk", "trsm", "trsv")

COMPILE_FLAGS = ["-O3", "-g0", "-fno-math-errno", "-fvisibility=hidden", "-std=gnu11"]
# Multiplications and additions are fused only in the SIMD kernels. A compiler for ARM would fuse
# them everywhere, and results that are exactly zero on other processors would not be zero.
FUSED = {"local_kernels.c"}
WHEEL_TAG = "cp311-abi3"  # one wheel for Python 3.11 and later


def suitesparse_version():
    """Return the version from the header, such as '7.10.1', or None if there is no SuiteSparse
    tree."""
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
    """Return the int32 sources. Files named t_*.c are templates that other files include, and
    *_l_*.c are the int64 variants."""
    folders = [SUITESPARSE / "CHOLMOD" / m for m in CHOLMOD_MODULES]
    folders += [SUITESPARSE / "AMD/Source", SUITESPARSE / "COLAMD/Source"]
    files = [f for d in folders for f in sorted(d.glob("*.c"))]
    files = [f for f in files if not re.match(r"t_|(cholmod|amd|colamd)_l[_12.]", f.name)]
    return [*files, SUITESPARSE / "SuiteSparse_config/SuiteSparse_config.c"]


def suitesparse_files():
    """Return the files of the tree that a build needs, and its license texts."""
    folders = [SUITESPARSE / "CHOLMOD" / m for m in (*CHOLMOD_MODULES, "Include", "Doc")]
    folders += [
        SUITESPARSE / p / d for p in ("AMD", "COLAMD") for d in ("Source", "Include", "Doc")
    ]
    files = [f for d in folders for f in d.rglob("*") if f.suffix in {".c", ".h", ".txt"}]
    files += [*(SUITESPARSE / "SuiteSparse_config").glob("*.[ch]"), SUITESPARSE / "ORIGIN"]
    return sorted(f for f in files if f.exists())


def own_sources():
    return sorted(CSRC.rglob("*.c"))


def package_files():
    """Return the files of the package araplbs, without the engine, which is built."""
    files = (f for f in PACKAGE.rglob("*") if f.suffix in {".py", ".pyi", ".typed", ".md"})
    return sorted(f for f in files if "__pycache__" not in f.parts)


def wheel_files():
    """Return all files of a wheel except the engine. The add-on's modules are included, so scripts
    find them without the extension (docs/decisions)."""
    return [*package_files(), *sorted(ADDON.rglob("*.py"))]


def packages():
    """Return ['araplbs', 'araplbs.base', ..., 'araplbs_addon', ...]."""
    folders = {f.parent for f in wheel_files() if f.name == "__init__.py"}
    return sorted(".".join(f.relative_to(ROOT).parts) for f in folders)


def include_dirs():
    """Return the include folders, without the folders of Python, NumPy and OpenBLAS."""
    modules = (SUITESPARSE / m / "Include" for m in ("AMD", "COLAMD", "CHOLMOD"))
    return [CSRC, engine_docs_folder(), SUITESPARSE / "SuiteSparse_config", *modules]


def engine_docs_folder():
    """Return the folder of engine_docs.h, which is generated from the stubs. The timestamp of the
    file changes only with its content."""
    folder, stubs = ROOT / "build/generated", ROOT / "araplbs/_engine.pyi"
    text = engine_docs.header(stubs.read_text(encoding="utf-8"))
    made = folder / "python/engine_docs.h"
    if not made.exists() or made.read_text(encoding="utf-8") != text:
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_text(text, encoding="utf-8")
    return folder


def flags_of(source):
    """Return the flags that the file requests, in addition to COMPILE_FLAGS and the header
    folders."""
    names = {f"{p}{r}_": f"scipy_{p}{r}_" for p in "sdcz" for r in BLAS_ROUTINES}
    names |= {f"d{r}_": f"arap_d{r}_" for r in THROUGH_US}
    blas = [f"-D{theirs}={ours}" for theirs, ours in names.items()]
    common = [*blas, "-DNPARTITION", "-DNCAMD", "-DNCHECK", "-DNMATRIXOPS", "-DNMODIFY"]
    common += [] if source.name in FUSED else ["-ffp-contract=off"]
    # CHOLMOD's error messages name source files; this keeps the machine's folders out of the
    # binary.
    if source.is_relative_to(SUITESPARSE):
        return [*common, "-w", "-DNDEBUG", f"-ffile-prefix-map={SUITESPARSE}=SuiteSparse"]
    return [
        *common,
        # The way in which vectors are passed depends on the machine, so all functions that take one
        # are inlined (vec4.h).
        *("-Wall", "-Wextra", "-Wno-psabi", f"-ffile-prefix-map={ROOT}=araplbs"),
        "-DPy_LIMITED_API=0x030b0000",
        "-DNPY_TARGET_VERSION=NPY_1_23_API_VERSION",  # Blender 4.2 has NumPy 1.24
        "-DNPY_NO_DEPRECATED_API=NPY_1_23_API_VERSION",
        f'-DARAPLBS_VERSION="{MANIFEST["version"]}"',
    ]


def collect_licenses(target, openblas, version, zig=None):
    """Collect the license texts of all compiled or bundled software as files in `target`.

    openblas: the files of that package that contain its licenses; version: the version of that
    package; zig: the folder of this compiler, whose libraries are linked into the binaries that it
    builds.
    """
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
    # SuiteSparse_config has no license file of its own; its header states its license.
    header = (SUITESPARSE / "SuiteSparse_config/SuiteSparse_config.h").read_text(errors="replace")
    (target / "SuiteSparse-SuiteSparse_config.txt").write_text(
        header.split("#ifndef SUITESPARSE_CONFIG_H")[0]
    )
    for file in openblas:
        text = Path(file).read_bytes().replace(b"\r\n", b"\n")  # as in the package for Windows
        (target / f"OpenBLAS-{file.name}").write_bytes(text)
    if zig:
        shutil.copyfile(zig / "LICENSE", target / "zig-LICENSE.txt")
        mingw = zig / "lib/libc/mingw"
        shutil.copyfile(mingw / "COPYING", target / "mingw-w64-COPYING.txt")
        (target / "mingw-w64-winpthreads.txt").write_text(opening_comments(mingw / "winpthreads"))
    zig_info = zig.parent.glob("ziglang-*.dist-info") if zig else []
    origin = SUITESPARSE / "ORIGIN"
    lines = [
        f"SuiteSparse {suitesparse_version()}",
        *(origin.read_text().splitlines() if origin.exists() else []),
        f"OpenBLAS: PyPI package scipy-openblas32 {version}",
        *(f"zig: PyPI package {' '.join(i.stem.split('-'))}" for i in zig_info),
    ]
    (target / "VERSIONS.txt").write_text("\n".join(lines) + "\n")
    return sorted(target.iterdir())


def opening_comments(folder):
    """Return the heads of all C files in the folder, each once. They contain the license of a
    library that has no license file."""
    found = {}
    for file in sorted(folder.rglob("*.[ch]")):
        comment = re.match(r"\s*/\*.*?\*/", file.read_text(errors="replace"), re.DOTALL)
        if comment:
            found.setdefault(comment.group().strip(), []).append(file.name)
    return "\n\n".join(f"{', '.join(names)}:\n{text}" for text, names in found.items()) + "\n"


def is_license(path):
    return "licenses" in path.parts or path.name.upper().startswith(("LICENSE", "COPYING"))
