"""Checks a wheel that cross.py built for a system that the build machine cannot run
(`check_wheel`).

The name of the wheel states what the wheel requires: the system, the processor and the oldest
version of the system. Each function checks one property and raises Bad, which names the property
and the fault.
"""

import base64
import hashlib
import io
import posixpath
import re
import struct
import subprocess
import sys
import zipfile
from functools import cache
from typing import NamedTuple

import abi3info
import pefile
from elftools.elf.elffile import ELFFile

EXPORT = "PyInit__engine"
PYTHON = (3, 11)
PROCESSORS = {  # in wheel tags: in ELF, PE and Mach-O files
    "x86_64": ("EM_X86_64", 0x8664, 0x01000007),
    "aarch64": ("EM_AARCH64", 0xAA64, 0x0100000C),
}
WINDOWS_LIBRARIES = re.compile(r"kernel32\.dll|api-ms-win-crt-[a-z]+-l1-1-0\.dll", re.IGNORECASE)
# Blender has this library next to its executable; OpenBLAS for Windows on ARM needs it.
WINDOWS_FROM_BLENDER = re.compile(r"vcruntime140\.dll", re.IGNORECASE)
MACOS_LIBRARIES = {"/usr/lib/libSystem.B.dylib"}
# zig's linker exports these names from every macOS library.
MACOS_HARMLESS = {"__mh_dylib_header", "___dso_handle"}
# Libraries that libgfortran also needs. Every Linux system with Python has them.
LINUX_OF_FORTRAN = {"libgcc_s.so.1", "libz.so.1"}
LINUX_LIBRARIES = re.compile(r"lib(c|m|dl|pthread|rt)\.so\.\d|ld-linux[\w-]*\.so\.\d")
LICENSES = {
    *("LICENSE", "THIRD_PARTY.md", "VERSIONS.txt", "OpenBLAS-LICENSE.txt", "zig-LICENSE.txt"),
    *(f"SuiteSparse-{m}.txt" for m in ("AMD", "COLAMD", "CHOLMOD", "SuiteSparse_config")),
    *("GPL-2.0.txt", "LGPL-2.1.txt"),
}
WINDOWS_LICENSES = {"mingw-w64-COPYING.txt", "mingw-w64-winpthreads.txt"}


class Bad(Exception):
    """Raised if a file does not meet a requirement."""


class Binary(NamedTuple):
    processor: object  # as the file names it
    minimum: tuple  # the oldest version of the system; () if the file does not state one
    exports: set
    libraries: list
    imports: list  # (library, or None if any library may contain the name; name)


@cache
def limited_api():
    """Return {name: is it data?} for all names in Python's limited API since the oldest version
    that we support."""
    known = [(abi3info.FUNCTIONS, False), (abi3info.DATAS, True)]
    return {
        symbol.name: data
        for table, data in known
        for symbol, entry in table.items()
        if (entry.added.major, entry.added.minor) <= PYTHON
    }


# ---- Windows


def read_pe(data):
    pe = pefile.PE(data=data, fast_load=True)
    wanted = ("IMAGE_DIRECTORY_ENTRY_IMPORT", "IMAGE_DIRECTORY_ENTRY_EXPORT")
    pe.max_symbol_exports = 1 << 20  # OpenBLAS has more names than the usual limit
    pe.parse_data_directories([pefile.DIRECTORY_ENTRY[name] for name in wanted])
    header = pe.OPTIONAL_HEADER
    imports = [
        (entry.dll.decode(), (item.name or b"").decode())
        for entry in getattr(pe, "DIRECTORY_ENTRY_IMPORT", [])
        for item in entry.imports
    ]
    symbols = getattr(getattr(pe, "DIRECTORY_ENTRY_EXPORT", None), "symbols", [])
    return Binary(
        pe.FILE_HEADER.Machine,
        (header.MajorSubsystemVersion, header.MinorSubsystemVersion),
        {s.name.decode() for s in symbols if s.name},
        list(dict.fromkeys(library for library, _ in imports)),
        imports,
    )


def clear_times(path):
    """Clear the timestamps that the linker writes into a DLL."""
    pe = pefile.PE(data=path.read_bytes())
    pe.FILE_HEADER.TimeDateStamp = 0
    if hasattr(pe, "DIRECTORY_ENTRY_EXPORT"):
        pe.DIRECTORY_ENTRY_EXPORT.struct.TimeDateStamp = 0
    for entry in getattr(pe, "DIRECTORY_ENTRY_DEBUG", []):
        entry.struct.TimeDateStamp = 0
    if pe.OPTIONAL_HEADER.CheckSum:
        pe.OPTIONAL_HEADER.CheckSum = pe.generate_checksum()
    path.write_bytes(bytes(pe.write()))


def check_no_times(name, data):
    pe = pefile.PE(data=data)
    if pe.FILE_HEADER.TimeDateStamp:
        raise Bad(f"{name} holds the time of its linking ({pe.FILE_HEADER.TimeDateStamp})")


# ---- macOS


def load_commands(data):
    if data[:4] != b"\xcf\xfa\xed\xfe":
        raise Bad("not a 64-bit Mach-O file")
    (count,) = struct.unpack_from("<I", data, 16)
    at = 32
    for _ in range(count):
        command, size = struct.unpack_from("<II", data, at)
        yield command, data[at : at + size]
        at += size


def thin(data):
    """Return the file for one processor from a universal file, and any other file unchanged."""
    magic, count = struct.unpack_from(">II", data)
    if magic != 0xCAFEBABE or count != 1:
        return data
    at, size = struct.unpack_from(">II", data, 16)
    return data[at : at + size]


def c_string(data, at):
    return data[at : data.index(b"\0", at)].decode()


def read_macho(data):
    data = thin(data)
    libraries, minimum, symbols = [], (), []
    for command, body in load_commands(data):
        if command in (0x0C, 0x80000018, 0x8000001F):  # LC_LOAD_DYLIB, weak, re-exported
            libraries.append(c_string(body, struct.unpack_from("<I", body, 8)[0]))
        elif command in (0x24, 0x32):  # LC_VERSION_MIN_MACOSX, LC_BUILD_VERSION
            (version,) = struct.unpack_from("<I", body, 8 if command == 0x24 else 12)
            minimum = (version >> 16, version >> 8 & 0xFF)
        elif command == 0x02:  # LC_SYMTAB
            offset, count, strings, _ = struct.unpack_from("<IIII", body, 8)
            symbols = [struct.unpack_from("<IBBHQ", data, offset + 16 * i) for i in range(count)]
    exports, imports = set(), []
    for string, kind, _, description, _ in symbols:
        if kind & 0xE0 or kind & 0x10 or not kind & 0x01:  # for debuggers, hidden, or local
            continue
        name = c_string(data, strings + string)
        if kind & 0x0E:
            exports.add(name)
        else:  # by the ordinal of its library; high ordinals are looked up in the whole process
            ordinal = description >> 8
            in_range = 0 < ordinal <= len(libraries)
            imports.append((libraries[ordinal - 1] if in_range else None, name.removeprefix("_")))
    return Binary(struct.unpack_from("<I", data, 4)[0], minimum, exports, libraries, imports)


def check_signature(name, data):
    """Check the ad hoc signature, which contains the hash of every page. Apple silicon runs no
    unsigned code."""
    data = thin(data)
    where = [struct.unpack_from("<II", b, 8) for c, b in load_commands(data) if c == 0x1D]
    if not where:
        raise Bad(f"{name} has no signature")
    start, size = where[0]
    blob = data[start : start + size]
    magic, _, count = struct.unpack_from(">III", blob)
    if magic != 0xFADE0CC0:
        raise Bad(f"{name} has a signature of an unknown kind ({magic:#x})")
    directories = 0
    for i in range(count):
        (at,) = struct.unpack_from(">I", blob, 16 + 8 * i)
        if struct.unpack_from(">I", blob, at) != (0xFADE0C02,):
            continue
        directories += 1
        hashes, _, _, pages, limit = struct.unpack_from(">IIIII", blob, at + 16)
        hash_size, kind, _, page_bits = struct.unpack_from("4B", blob, at + 36)
        algorithm = {1: hashlib.sha1, 2: hashlib.sha256}.get(kind)
        page = 1 << page_bits
        if limit != start or pages != -(-limit // page) or not algorithm:
            raise Bad(f"{name} is signed up to byte {limit}, its signature starts at {start}")
        for p in range(pages):
            signed = blob[at + hashes + p * hash_size :][:hash_size]
            if algorithm(data[p * page : min((p + 1) * page, limit)]).digest() != signed:
                raise Bad(f"{name}: page {p} of {pages} is not what was signed")
    if not directories:
        raise Bad(f"{name} has a signature without pages")


# ---- Linux


def read_elf(data):
    elf = ELFFile(io.BytesIO(data))
    dynamic, symbols = elf.get_section_by_name(".dynamic"), elf.get_section_by_name(".dynsym")
    needs, versions = elf.get_section_by_name(".gnu.version_r"), {}
    for library, entries in needs.iter_versions() if needs else ():
        for entry in entries:
            versions[entry["vna_other"]] = (library.name, entry.name)
    of_symbol = elf.get_section_by_name(".gnu.version")
    exports, imports, minimum = set(), [], (0, 0)
    for i, symbol in enumerate(symbols.iter_symbols()):
        if not symbol.name or symbol["st_info"]["bind"] == "STB_LOCAL":
            continue
        if symbol["st_shndx"] != "SHN_UNDEF":
            exports.add(symbol.name)
            continue
        index = of_symbol.get_symbol(i)["ndx"] if of_symbol else None
        library, version = versions.get(index, (None, ""))
        if found := re.fullmatch(r"GLIBC_(\d+)\.(\d+)(\.\d+)?", version):
            minimum = max(minimum, (int(found[1]), int(found[2])))
        if symbol["st_info"]["bind"] != "STB_WEAK" or library:
            imports.append((library, symbol.name))
    libraries = [t.needed for t in dynamic.iter_tags() if t.entry.d_tag == "DT_NEEDED"]
    return Binary(elf.header["e_machine"], minimum, exports, libraries, imports)


def check_run_path(name, data, wanted):
    dynamic = ELFFile(io.BytesIO(data)).get_section_by_name(".dynamic")
    tags = {"DT_RUNPATH": "runpath", "DT_RPATH": "rpath"}
    paths = [getattr(t, tags[t.entry.d_tag]) for t in dynamic.iter_tags() if t.entry.d_tag in tags]
    if paths != wanted:
        raise Bad(f"{name} looks for libraries in {paths}, not in {wanted}")


# ---- all of them

READERS = {"windows": read_pe, "macos": read_macho, "linux": read_elf}
SYSTEM_LIBRARIES = {
    "windows": WINDOWS_LIBRARIES.fullmatch,
    "macos": MACOS_LIBRARIES.__contains__,
    "linux": LINUX_LIBRARIES.fullmatch,
}


def check_processor(name, binary, processor):
    if binary.processor not in PROCESSORS[processor]:
        raise Bad(f"{name} is for processor {binary.processor}, not for {processor}")


def check_minimum(name, binary, minimum):
    if not binary.minimum or binary.minimum > minimum:
        raise Bad(f"{name} asks for system version {binary.minimum}, not {minimum} or less")


def check_exports(name, binary):
    """Check the exported names, because Blender or another extension could bind to them."""
    names = {n.removeprefix("_") if n == f"_{EXPORT}" else n for n in binary.exports}
    if names - MACOS_HARMLESS != {EXPORT}:
        raise Bad(f"{name} exports {sorted(names - MACOS_HARMLESS)}, not {EXPORT} alone")


def check_imports(name, binary, system, blas_name, blas):
    """Check that only the limited API of Python, names from OpenBLAS, and the system's own
    libraries are imported. A BLAS name without our prefix would bind to Blender's own copy of
    OpenBLAS."""
    for library in binary.libraries:
        place = posixpath.join(posixpath.dirname(name), library.removeprefix("@loader_path/"))
        names = (library, posixpath.normpath(place))
        own = blas_name in names or library == blas_name.split("/")[-1]
        python = system == "windows" and library == "python3.dll"
        if not (own or python or SYSTEM_LIBRARIES[system](library)):
            raise Bad(f"{name} wants the library {library}")
    offered = {n.removeprefix("_") if system == "macos" else n for n in blas.exports}
    for library, symbol in binary.imports:
        if symbol.startswith("scipy_"):
            if symbol not in offered:
                raise Bad(f"{name} wants {symbol}, which {blas_name} does not have")
        elif re.match(r"_?Py", symbol):
            if symbol not in limited_api():
                raise Bad(f"{name} wants {symbol}, which is not in the limited API of {PYTHON}")
        elif not (library and SYSTEM_LIBRARIES[system](library)):
            raise Bad(f"{name} wants {symbol} of {library or 'nobody knows what'}")


def check_bundled(name, binary, system, processor, files):
    """Check that a bundled library needs only the system and the other bundled files."""
    for library in binary.libraries:
        from_blender = processor == "aarch64" and WINDOWS_FROM_BLENDER.fullmatch(library)
        place = posixpath.join(posixpath.dirname(name), library.removeprefix("@loader_path/"))
        beside = posixpath.normpath(place) in files
        of_fortran = "gfortran" in name and library in LINUX_OF_FORTRAN
        if not (
            SYSTEM_LIBRARIES[system](library)
            or (system == "windows" and from_blender)
            or (system == "macos" and library.startswith("@loader_path/") and beside)
            or (system == "linux" and (beside or of_fortran))
        ):
            raise Bad(f"{name} wants the library {library}")


def check_licenses(names, system):
    wanted = LICENSES | (WINDOWS_LICENSES if system == "windows" else set())
    there = {n.split("/")[-1] for n in names if "/licenses/" in n}
    if wanted - there:
        raise Bad(f"no license text {', '.join(sorted(wanted - there))}")


def check_record(files):
    (record,) = (n for n in files if n.endswith(".dist-info/RECORD"))
    lines = dict(line.rsplit(",", 2)[:2] for line in files[record].decode().splitlines())
    if set(lines) != set(files):
        raise Bad(f"RECORD does not list just the files there are: {set(lines) ^ set(files)}")
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        if name != record and lines[name] != f"sha256={digest}":
            raise Bad(f"RECORD has another hash of {name}")


def promise(wheel_name):
    """Return (system, processor, oldest version of the system) from a wheel's tag."""
    tag = wheel_name.removesuffix(".whl").split("-")[-1]
    if found := re.fullmatch(r"win_(amd64|arm64)", tag):
        return "windows", {"amd64": "x86_64", "arm64": "aarch64"}[found[1]], (10, 0)
    if found := re.fullmatch(r"macosx_(\d+)_(\d+)_(x86_64|arm64)", tag):
        processor = {"arm64": "aarch64"}.get(found[3], found[3])
        return "macos", processor, (int(found[1]), int(found[2]))
    if found := re.fullmatch(r"manylinux_(\d+)_(\d+)_(x86_64|aarch64)", tag):
        return "linux", found[3], (int(found[1]), int(found[2]))
    raise Bad(f"{wheel_name}: a tag of no system that is built for")


def check_files(wheel_name, files):
    """Check the files of a wheel. files: {name in the wheel: bytes}."""
    system, processor, minimum = promise(wheel_name)
    check_record(files)
    check_licenses(files, system)
    (module,) = (n for n in files if re.fullmatch(r"araplbs/_engine\.(pyd|abi3\.so)", n))
    (blas_name,) = (n for n in files if re.search(r"openblas[^/]*\.(dll|dylib|so)$", n))
    bundled = [n for n in files if re.search(r"\.(dll|dylib|so(\.\d+)*)$", n) and n != module]
    binaries = {name: READERS[system](files[name]) for name in (module, *bundled)}
    binary, blas = binaries[module], binaries[blas_name]
    for name, each in binaries.items():
        check_processor(name, each, processor)
        check_minimum(name, each, minimum)
        if system == "macos" and processor == "aarch64":
            check_signature(name, files[name])
    check_exports(module, binary)
    check_imports(module, binary, system, blas_name, blas)
    for name in bundled:
        check_bundled(name, binaries[name], system, processor, files)
    if system == "windows":
        check_no_times(module, files[module])
    if system == "linux":
        check_run_path(module, files[module], ["$ORIGIN/../" + blas_name.split("/")[0]])
        if len(bundled) > 1:
            check_run_path(blas_name, files[blas_name], ["$ORIGIN"])


def check_wheel(path):
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    try:
        check_files(path.name, files)
    except Bad as error:
        sys.exit(f"{path.name}: {error}")
    audit = [sys.executable, "-m", "abi3audit", "--strict", "--summary", str(path)]
    done = subprocess.run(audit, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{path.name}: not of the limited API:\n{done.stdout}")
