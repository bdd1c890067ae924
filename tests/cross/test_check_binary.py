"""Every check of tools/check_binary.py fails on a wheel with exactly one fault, that is, a wheel
from build/cross/wheels in which a few bytes are changed."""

import re
import zipfile
from functools import cache

import check_binary
import cross
import pefile
import pytest
from check_binary import Bad
from sources import ROOT

targets = pytest.mark.parametrize("target", cross.TARGETS)
MODULE = r"araplbs/_engine\.(pyd|abi3\.so)"
BLAS = r"openblas[^/]*\.(dll|dylib|so)$"


@cache
def read(target):
    path = cross.WHEELS / cross.TARGETS[target].wheel
    if not path.exists():
        pytest.skip(f"no wheel for {target}: run make extension-all")
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


class Wheel:
    """A wheel in memory: changed, with a RECORD of the changed files."""

    def __init__(self, target):
        self.files = dict(read(target))
        self.name = cross.TARGETS[target].wheel
        self.module = next(n for n in self.files if re.fullmatch(MODULE, n))
        self.blas = next(n for n in self.files if re.search(BLAS, n))

    def refused(self, pattern, **more):
        record = next(n for n in self.files if n.endswith("/RECORD"))
        lines = [f"{n},{cross.digest(d)},{len(d)}" for n, d in self.files.items() if n != record]
        self.files[record] = "\n".join([*lines, f"{record},,"]).encode()
        with pytest.raises(Bad, match=pattern):
            check_binary.check_files(self.name, self.files, **more)

    def replace(self, file, old, new):
        assert old in self.files[file] and len(old) == len(new)
        self.files[file] = self.files[file].replace(old, new)


@pytest.fixture
def wheel(target):
    return Wheel(target)


@pytest.fixture
def unsigned(monkeypatch):
    """Removes the check of signatures, which changed bytes also break and another test covers."""
    monkeypatch.setattr(check_binary, "check_signature", lambda *arguments: None)


@targets
def test_good_wheels_pass(wheel):
    check_binary.check_files(wheel.name, wheel.files)


@targets
def test_another_processor(wheel, target):
    system, processor = target.split("_", 1)
    names = {"win": ("amd64", "arm64"), "macos": ("x86_64", "arm64")}.get(
        system, ("x86_64", "aarch64")
    )
    swap = dict(zip(names, reversed(names), strict=True))
    wheel.name = wheel.name.replace(f"{processor}.whl", f"{swap[processor]}.whl")
    wheel.refused("is for processor")


@targets
def test_a_newer_system_than_promised(wheel, target):
    if target.startswith("win"):
        pe = pefile.PE(data=wheel.files[wheel.module])
        pe.OPTIONAL_HEADER.MajorSubsystemVersion = 11
        wheel.files[wheel.module] = bytes(pe.write())
    wheel.name = re.sub(r"macosx_\d+_\d+", "macosx_10_9", wheel.name)
    wheel.name = re.sub(r"manylinux_\d+_\d+", "manylinux_2_5", wheel.name)
    wheel.refused("asks for system version")


@targets
def test_another_export(wheel, unsigned):
    wheel.replace(wheel.module, b"PyInit__engine\0", b"PyInit__enginf\0")
    wheel.refused("exports .*PyInit__enginf")


@targets
def test_more_exports(wheel, monkeypatch):
    original = check_binary.READERS[check_binary.promise(wheel.name)[0]]

    def reader(data):
        binary = original(data)
        return binary._replace(exports=binary.exports | {"cholmod_start"})

    monkeypatch.setitem(check_binary.READERS, check_binary.promise(wheel.name)[0], reader)
    wheel.refused(r"exports .*cholmod_start")


@targets
def test_not_in_the_limited_api(wheel, unsigned):
    wheel.replace(wheel.module, b"PyErr_Format\0", b"PyErr_Formax\0")
    wheel.refused("wants PyErr_Formax, which is not in the limited API")


@targets
def test_what_openblas_does_not_have(wheel, unsigned):
    wheel.replace(wheel.module, b"scipy_dpotrs_\0", b"scipy_dpotrz_\0")
    wheel.refused("wants scipy_dpotrz_, which .* does not have")


@targets
def test_a_blas_name_without_our_prefix(wheel, unsigned):
    wheel.replace(wheel.module, b"scipy_dpotrs_\0", b"xcipy_dpotrs_\0")
    wheel.refused("wants xcipy_dpotrs_ of ")


def rename_library(wheel, target, file):
    """Changes the name of a system library that `file` needs to a name that no system has, and
    returns the new name."""
    old, new = {
        "win": (b"KERNEL32.dll", b"KERNEL33.dll"),
        "macos": (b"libSystem.B.dylib", b"libSystem.C.dylib"),
        "linux": (b"libm.so.6", b"libn.so.6"),
    }[target.split("_")[0]]
    wheel.replace(file, old, new)
    return new.decode()


@targets
def test_another_library(wheel, target, unsigned):
    new = rename_library(wheel, target, wheel.module)
    wheel.refused(f"wants the library .*{new}")


@targets
def test_openblas_wants_another_library(wheel, target, unsigned):
    new = rename_library(wheel, target, wheel.blas)
    wheel.refused(f"openblas.* wants the library .*{new}")


@targets
def test_a_license_is_missing(wheel, target):
    name = "mingw-w64-winpthreads.txt" if target.startswith("win") else "OpenBLAS-LICENSE.txt"
    wheel.files = {n: d for n, d in wheel.files.items() if not n.endswith(name)}
    wheel.refused(f"no license text {name}")


@targets
def test_a_file_that_the_record_does_not_know(wheel):
    wheel.files["more.py"] = b""
    with pytest.raises(Bad, match="RECORD does not list"):
        check_binary.check_files(wheel.name, wheel.files)


@targets
def test_a_file_that_is_not_as_recorded(wheel):
    wheel.files[wheel.module] += b"\0"
    with pytest.raises(Bad, match="RECORD has another hash"):
        check_binary.check_files(wheel.name, wheel.files)


@pytest.mark.parametrize("target", ["macos_arm64"])
@pytest.mark.parametrize("which", ["module", "blas"])
@pytest.mark.parametrize("place", [0.2, 0.5, 0.8])
def test_a_page_that_was_not_signed(wheel, which, place):
    name = getattr(wheel, which)
    data = bytearray(wheel.files[name])
    data[int(place * len(data))] ^= 1
    wheel.files[name] = bytes(data)
    wheel.refused("is not what was signed|signature")


@pytest.mark.parametrize("target", ["macos_arm64"])
def test_no_signature(wheel):
    command = (0x1D).to_bytes(4, "little") + (16).to_bytes(4, "little")
    wheel.replace(wheel.module, command, (0x29).to_bytes(4, "little") + command[4:])
    wheel.refused("has no signature")


@pytest.mark.parametrize("target", ["win_amd64", "win_arm64"])
def test_the_time_of_linking(wheel):
    pe = pefile.PE(data=wheel.files[wheel.module])
    pe.FILE_HEADER.TimeDateStamp = 1_790_000_000
    wheel.files[wheel.module] = bytes(pe.write())
    wheel.refused("the time of its linking")


@pytest.mark.parametrize("target", ["linux_x86_64", "linux_aarch64"])
def test_another_run_path(wheel):
    wheel.replace(wheel.module, b"$ORIGIN/../araplbs.libs\0", b"$ORIGIN/../araplbs.libz\0")
    wheel.refused("looks for libraries in")


def test_a_tag_of_no_system():
    with pytest.raises(Bad, match="no system"):
        check_binary.promise("araplbs-0.1.0-cp311-abi3-linux_x86_64.whl")


@pytest.mark.parametrize("target", ["macos_arm64", "linux_aarch64"])
def test_the_fortran_library_is_missing(wheel):
    name = next(n for n in wheel.files if "libgfortran" in n)
    del wheel.files[name]
    wheel.refused("openblas.* wants the library .*libgfortran")


def test_one_openblas_for_all():
    """The wheel for this machine and the wheels from the cross compiler contain the same OpenBLAS
    version, one for ARM and one for all others, and there is a hash for each target."""

    def versions(name):
        text = (ROOT / "tools" / name).read_text()
        return re.findall(r"^scipy-openblas32==([\d.]+)", text, re.MULTILINE), text

    lists = ["requirements-platforms.txt", "requirements-platforms-arm.txt"]
    assert versions("requirements.txt")[0] == [v for name in lists for v in versions(name)[0]]
    for name in lists:
        targets = [t for t in cross.TARGETS.values() if t.requirements == name]
        assert versions(name)[1].count("--hash=sha256:") == 2 * len(targets)
