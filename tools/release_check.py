#!/usr/bin/env python3
"""Tests the rules of docs/release.md on the zips and the source package, and prints a table.

  tools/release_check.py          checks the zips and the source package of this version in dist/
  tools/release_check.py --tree   checks only the tree: rules without a build (tools/check.sh)

Exits with 1 and names the rule if a rule is broken. docs/release.md lists the source of each rule.
Blender's own validator (tools/stage_extension.sh) checks the manifest, and ruff the syntax.
"""

import argparse
import ast
import io
import re
import stat
import sys
import tarfile
import tomllib
import zipfile
from typing import NamedTuple

import bench_pages
from release_code import WANTED, uses
from sources import MANIFEST, ROOT, package_files, wheel_files

sys.path.append(str(ROOT))
from araplbs.base.catalogue import parse_catalogue

ID = "araplbs"
VERSION = MANIFEST["version"]
RULES = {}  # name: function of a Zip
TREE_RULES = {"manifest", "permissions", "paths", "code"}
SDIST_RULES = {}
TEXT = {".py", ".toml", ".md", ".txt", ".html", ".po", ""}
PICTURES = re.compile(
    r"manual/[\w-]+\.png|features/edits/icons/\w+\.dat"
)  # .dat: Blender's for tools
PLATFORMS = {  # and the end of the name of the wheel
    "windows-x64": "win_amd64",
    "windows-arm64": "win_arm64",
    "macos-x64": "_x86_64",
    "macos-arm64": "_arm64",
    "linux-x64": "_x86_64",
    "linux-arm64": "_aarch64",
}
# linux-arm64 passes Blender's own validator but is refused on upload.
REFUSED = "linux-arm64"
ADDON = "araplbs_addon/"  # in the wheel
# Folders whose files are found by their location (features/__init__.py, cli/main.py), and presets.
FOUND = re.compile(r"features/\w+/|araplbs/cli/commands/|presets/operator/")


class Zip(NamedTuple):
    name: str
    size: int
    files: dict  # name: bytes
    modes: dict  # name: Unix mode, 0 where it has no such
    times: set
    manifest: dict

    def generated(self, key):
        """Return the manifest as Blender reads it. The values that Blender's tool wrote when it
        split platforms take precedence."""
        values = self.manifest.get("build", {}).get("generated", {})
        return values.get(key, self.manifest.get(key, []))

    @property
    def platforms(self):
        return self.generated("platforms")

    def python(self):
        return {n: d.decode("utf-8") for n, d in self.files.items() if n.endswith(".py")}

    def python_of_wheels(self):
        files = {}
        for name, data in self.files.items():
            if name.endswith(".whl") and zipfile.is_zipfile(io.BytesIO(data)):
                with zipfile.ZipFile(io.BytesIO(data)) as wheel:
                    names = [member for member in wheel.namelist() if member.endswith(".py")]
                    files |= {member: wheel.read(member).decode("utf-8") for member in names}
        return files


def read_zip(name, data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        infos = [info for info in archive.infolist() if not info.is_dir()]
        files = {info.filename: archive.read(info) for info in infos}
    manifest = tomllib.loads(files.get("blender_manifest.toml", b"").decode("utf-8"))
    modes = {info.filename: info.external_attr >> 16 for info in infos}
    return Zip(name, len(data), files, modes, {info.date_time for info in infos}, manifest)


def rule(function):
    RULES[function.__name__] = function
    return function


@rule
def manifest(zip):
    """The name and the tagline do not contain the name Blender. There is no blender_version_max,
    because the module uses Python's stable ABI, and an upper bound would exclude users of the next
    version."""
    for key in ("name", "tagline"):
        text = zip.manifest.get(key, "")
        if "blender" in text.lower():
            yield f"{key}: '{text}' names Blender"
    if "blender_version_max" in zip.manifest:
        yield "has a blender_version_max"


@rule
def permissions(zip):
    """The permissions are exactly those that the code uses."""
    requested = zip.manifest.get("permissions", {})
    kinds = {kind for text in zip.python().values() for kind in uses(text)}
    for key, kind in (("files", "write"), ("network", "network")):
        needed = kind in kinds and not _only_elsewhere(zip, kind)
        if needed != (key in requested):
            yield f"{key} is {'needed' if needed else 'asked for, and not needed'}"


def _only_elsewhere(zip, kind):
    """Return whether only code that runs outside of Blender uses the file."""
    users = {name for name, text in zip.python().items() if kind in uses(text)}
    return users <= {"araplbs/farm/dask_client.py"}


@rule
def license_and_copyright(zip):
    """The license is GPL-3.0-or-later. The zip contains its text and the license texts of all
    bundled software."""
    if zip.manifest.get("license") != ["SPDX:GPL-3.0-or-later"]:
        yield f"license {zip.manifest.get('license')}"
    if b"GNU GENERAL PUBLIC LICENSE" not in zip.files.get("LICENSE", b"")[:400]:
        yield "LICENSE is not the GNU General Public License"
    third = zip.files.get("THIRD_PARTY.md", b"").decode("utf-8")
    texts = {n.removeprefix("licenses/") for n in zip.files if n.startswith("licenses/")}
    for name in sorted(set(re.findall(r"`([\w.-]+\.txt)`", third)) - texts):
        yield f"THIRD_PARTY.md names licenses/{name}, which is not there"
    if not third or not texts:
        yield "nothing about what is bundled"


@rule
def wheel(zip):
    """The only wheel is that of the platform, bit-for-bit as in the package index."""
    wheels = {name: data for name, data in zip.files.items() if name.endswith(".whl")}
    if len(zip.platforms) != 1 or sorted(zip.generated("wheels")) != [f"./{n}" for n in wheels]:
        yield f"lists {zip.generated('wheels')} for {zip.platforms}, holds {sorted(wheels)}"
    for name, data in wheels.items():
        published = ROOT / "build/cross/wheels" / name.removeprefix("wheels/")
        if not published.stem.endswith(tuple(PLATFORMS.get(p, "?") for p in zip.platforms)):
            yield f"{name} is not for {zip.platforms}"
        if not published.is_file() or published.read_bytes() != data:
            yield f"{name} is not build/cross/wheels/{published.name}"


@rule
def nothing_else(zip):
    """There is no byte code, and there are no binaries besides the wheel, links, hidden files,
    tests, or system files."""
    for name in zip.files:
        parts, end = name.split("/"), re.search(r"(\.\w+)?$", name)[0]
        if (parts[0] == "wheels" and end == ".whl") or PICTURES.fullmatch(name):
            continue
        if end not in TEXT or any(p.startswith(".") or p == "__pycache__" for p in parts):
            yield f"{name} has no business here"
        elif b"\0" in zip.files[name]:
            yield f"{name} is binary"
        if "tests" in parts or parts[-1].startswith("test_"):
            yield f"{name} is a test"
    for name, mode in zip.modes.items():
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            yield f"{name} is not a plain file"


@rule
def dead_files(zip):
    """Every Python file is imported, run, or in a folder whose files are all used."""
    files = zip.python()
    files |= {n: t for n, t in zip.python_of_wheels().items() if not n.startswith(ADDON)}
    named = set()
    for text in files.values():
        try:
            nodes = list(ast.walk(ast.parse(text)))
        except SyntaxError:
            continue  # ruff reports it
        for node in nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                names = [node.value] if re.fullmatch(r"[\w./]+", node.value) else []
            else:
                continue
            named |= {part for name in names for part in re.split(r"[./]", name)}
    for name in files:
        stem = name.split("/")[-1].removesuffix(".py")
        if stem not in named | {"__init__", "__main__"} and not FOUND.match(name):
            yield f"{name} is never imported"


@rule
def paths(zip):
    """Every system can unpack the paths, which are short ASCII names in small folders."""
    folded = {}
    for name in zip.files:
        if (
            not re.fullmatch(r"[\w./+() -]+", name, re.ASCII)
            or ".." in name
            or name.startswith("/")
        ):
            yield f"the name {name}"
        if len(name) > 100:
            yield f"{name} has {len(name)} characters"
        if folded.setdefault(name.lower(), name) != name:
            yield f"{name} and {folded[name.lower()]} are one file on Windows"


@rule
def languages(zip):
    """Every text is translated into every language."""
    for name, data in zip.files.items():
        if name.endswith(".po"):
            for english, text in parse_catalogue(data.decode("utf-8")).items():
                if not text:
                    yield f"{name} has no translation of '{english}'"


@rule
def code(zip):
    """The code uses eval, Python's search path, pip, the network, processes, written files,
    __file__ and bl_info only where release_code.py lists a reason, and imports its own files
    relatively, because the package has a different name in every repository. The wheel's copy of
    the add-on, for scripts, equals that in the zip."""
    own, wheels = zip.python(), zip.python_of_wheels()
    for name, text in wheels.items():
        if name.startswith(ADDON) and own.get(name.removeprefix(ADDON)) != text:
            yield f"{name}: the wheel's copy differs from that of the zip"
    copies = {name for name in wheels if name.startswith(ADDON)}
    used = {n: uses(text) for n, text in (own | wheels).items() if n not in copies}
    for name, kinds in used.items():
        for kind, lines in kinds.items():
            if name not in WANTED.get(kind, {}):
                yield f"{name}:{lines[0]}: {kind}"
    for kind, names in WANTED.items():
        for name in names:
            if kind not in used.get(name, {}):
                yield f"release_code.py lists {name} for '{kind}', which it does not use"


@rule
def same_bits(zip):
    """All files have the same time, so the same sources give the same zip."""
    if len(zip.times) != 1:
        yield f"{len(zip.times)} times"


def sdist_rule(function):
    SDIST_RULES[function.__name__] = function
    return function


@sdist_rule
def sdist_sources(files, modes):
    """The source package contains everything that is compiled, including CHOLMOD, so a bare machine
    can build it."""
    names = [f.relative_to(ROOT) for f in (ROOT / "csrc").rglob("*") if f.is_file()]
    names += [f.relative_to(ROOT) for f in wheel_files()]
    names = [f.as_posix() for f in names if "__pycache__" not in f.parts]
    names += ["setup.py", "pyproject.toml", "blender_manifest.toml", "tools/sources.py"]
    names += ["tools/glibc_floor.h", "LICENSE", "THIRD_PARTY.md", "README.md", "CHANGELOG.md"]
    names += ["suitesparse/ORIGIN", "suitesparse/CHOLMOD/Include/cholmod.h"]
    names += ["suitesparse/CHOLMOD/Supernodal/gpl.txt", "suitesparse/AMD/Doc/License.txt"]
    for name in names:
        if name not in files:
            yield f"no {name}"


@sdist_rule
def sdist_nothing_else(files, modes):
    """The source package contains no build outputs, binaries, links, hidden files, or files that
    only developers need."""
    for name, data in files.items():
        first, last = name.split("/")[0], name.split("/")[-1]
        if first in {"dist", "docs", "demo"} or "__pycache__" in name:
            yield f"{name} has no business here"
        if last.startswith(".") or b"\0" in data:
            yield f"{name} is hidden or binary"
    for name, mode in modes.items():
        if not stat.S_ISREG(mode):
            yield f"{name} is not a plain file"


def tree():
    """Return the files that every zip and its wheel would contain, except the engine and
    licenses."""
    folder = ROOT / "araplbs_addon"
    files = {
        f.relative_to(folder).as_posix(): f.read_bytes()
        for f in sorted(folder.rglob("*"))
        if f.is_file() and "__pycache__" not in f.parts
    }
    files |= {f.relative_to(ROOT).as_posix(): f.read_bytes() for f in package_files()}
    return Zip("araplbs_addon", 0, files, {}, set(), MANIFEST)


def read_sdist(data):
    """Return (files, modes) of the source package, without its top folder."""
    files, modes = {}, {}
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            if member.isdir():
                continue
            name = member.name.partition("/")[2]
            modes[name] = (stat.S_IFREG if member.isreg() else stat.S_IFLNK) | member.mode
            files[name] = archive.extractfile(member).read() if member.isreg() else b""
    return files, modes


def broken_in_zip(zip, names=None):
    """Return [(rule, fault)] of a zip."""
    return [(n, fault) for n, f in RULES.items() if names is None or n in names for fault in f(zip)]


def broken_in_sdist(data):
    files, modes = read_sdist(data)
    return [(n, fault) for n, f in SDIST_RULES.items() for fault in f(files, modes)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tree", action="store_true", help="the tree alone")
    options = parser.parse_args()
    if options.tree:
        broken = {"araplbs_addon": broken_in_zip(tree(), TREE_RULES)}
        return report(broken, {"araplbs_addon": len(TREE_RULES)}, {})
    broken, counts, notes = {}, {}, {}
    for platform in PLATFORMS:
        path = ROOT / "dist" / f"{ID}-{VERSION}-{platform.replace('-', '_')}.zip"
        counts[path.name] = len(RULES)
        if platform == REFUSED:
            notes[path.name] = "for our own repository: Blender's platform refuses this system"
        if path.is_file():
            broken[path.name] = broken_in_zip(read_zip(path.name, path.read_bytes()))
            notes.setdefault(path.name, f"{path.stat().st_size / 1e6:.1f} MB")
        else:
            broken[path.name] = [("there", "no such file: run make extension-all")]
    sdist = ROOT / "dist" / f"{ID}-{VERSION}.tar.gz"
    counts[sdist.name] = len(SDIST_RULES)
    if sdist.is_file():
        broken[sdist.name] = broken_in_sdist(sdist.read_bytes())
        notes[sdist.name] = f"{sdist.stat().st_size / 1e6:.1f} MB"
    else:
        broken[sdist.name] = [("there", "no such file: run make sdist")]
    broken["docs/bench"], counts["docs/bench"] = bench_pages.broken(), 1
    notes["docs/bench"] = f"{len(bench_pages.old_pages())} pages of an older engine"
    return report(broken, counts, notes)


def report(faults, counts, notes):
    for name, broken in faults.items():
        bad = len({rule for rule, _ in broken})
        state = f"{bad} broken" if bad else "good"
        print(f"{name:38} {counts[name]:3} rules, {state:10} {notes.get(name, '')}".rstrip())
        for rule, fault in broken:
            print(f"    {rule}: {fault}")
    return int(any(faults.values()))


if __name__ == "__main__":
    sys.exit(main())
