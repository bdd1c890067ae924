#!/usr/bin/env python3
"""Tests the rules of docs/release.md that can be tested on files, and prints a table.

  tools/release_check.py          checks the zips and the source package of this version in dist/
  tools/release_check.py --tree   checks only the tree: rules without a build (tools/check.sh)

Exits with 1 and names the rule if a rule is broken. The rules for zips are in release_rules.py.
"""

import argparse
import io
import stat
import sys
import tarfile
from email.parser import Parser

import bench_pages
from release_rules import ID, RULES, SERVER_PLATFORMS, WHEEL_ENDS, Zip, read_zip
from sources import MANIFEST, PROJECT, ROOT, package_files, wheel_files

VERSION = MANIFEST["version"]
TREE_RULES = {
    *("manifest", "name_and_tagline", "blender_versions", "permissions", "paths", "reviewable"),
    *("no_bl_info", "code", "own_name_space"),
}
SDIST_RULES = {}
SDIST_LIMIT = 10_000_000


def sdist_rule(function):
    SDIST_RULES[function.__name__] = function
    return function


@sdist_rule
def sdist_sources(files, modes):
    """The source package contains everything that is compiled, including CHOLMOD, so a bare machine
    can build it."""
    wanted = [f.relative_to(ROOT) for f in (ROOT / "csrc").rglob("*") if f.is_file()]
    wanted += [f.relative_to(ROOT) for f in wheel_files()]
    wanted = [f.as_posix() for f in wanted if "__pycache__" not in f.parts]
    wanted += ["setup.py", "pyproject.toml", "blender_manifest.toml", "tools/sources.py"]
    wanted += ["tools/glibc_floor.h", "LICENSE", "THIRD_PARTY.md", "README.md", "CHANGELOG.md"]
    wanted += ["suitesparse/ORIGIN", "suitesparse/CHOLMOD/Include/cholmod.h"]
    wanted += ["suitesparse/CHOLMOD/Supernodal/gpl.txt", "suitesparse/AMD/Doc/License.txt"]
    for name in wanted:
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


@sdist_rule
def sdist_metadata(files, modes):
    """The metadata states the purpose, the audience and the license."""
    info = Parser().parsestr(files.get("PKG-INFO", b"").decode("utf-8"))
    wanted = {
        "Name": PROJECT["name"],
        "Version": VERSION,
        "Summary": PROJECT["description"],
        "License-Expression": PROJECT["license"],
        "Requires-Python": PROJECT["requires-python"],
        "Description-Content-Type": "text/markdown",
    }
    for key, value in wanted.items():
        if info[key] != value:
            yield f"{key} is {info[key]}, not {value}"
    for key in ("Classifier", "Keywords", "License-File", "Requires-Dist"):
        if not info[key]:
            yield f"no {key}"
    if "Typing :: Typed" not in info.get_all("Classifier", []):
        yield "not said to be typed"
    for name in info.get_all("License-File", []):
        if name not in files:
            yield f"{name}, which is not there, is said to be a license"
    if "](docs/" in (info.get_payload() or ""):
        yield "the description links to pages that are not there"


@sdist_rule
def sdist_size(files, modes):
    """The source package is small."""
    size = sum(map(len, files.values()))
    if size > SDIST_LIMIT:
        yield f"{size} bytes unpacked, more than {SDIST_LIMIT}"


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
    return [(n, what) for n, f in RULES.items() if names is None or n in names for what in f(zip)]


def broken_in_sdist(data):
    files, modes = read_sdist(data)
    return [(n, what) for n, f in SDIST_RULES.items() for what in f(files, modes)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tree", action="store_true", help="the tree alone")
    options = parser.parse_args()
    if options.tree:
        found = {"araplbs_addon": broken_in_zip(tree(), TREE_RULES)}
        return report(found, {"araplbs_addon": len(TREE_RULES)}, {})
    found, counts, notes = {}, {}, {}
    for platform in WHEEL_ENDS:
        path = ROOT / "dist" / f"{ID}-{VERSION}-{platform.replace('-', '_')}.zip"
        counts[path.name] = len(RULES)
        if platform not in SERVER_PLATFORMS:
            notes[path.name] = "for our own repository: Blender's platform refuses this system"
        if path.is_file():
            found[path.name] = broken_in_zip(read_zip(path.name, path.read_bytes()))
            notes.setdefault(path.name, f"{path.stat().st_size / 1e6:.1f} MB")
        else:
            found[path.name] = [("there", "no such file: run make extension-all")]
    sdist = ROOT / "dist" / f"{ID}-{VERSION}.tar.gz"
    counts[sdist.name] = len(SDIST_RULES)
    if sdist.is_file():
        found[sdist.name] = broken_in_sdist(sdist.read_bytes())
        notes[sdist.name] = f"{sdist.stat().st_size / 1e6:.1f} MB"
    else:
        found[sdist.name] = [("there", "no such file: run make sdist")]
    found["docs/bench"], counts["docs/bench"] = bench_pages.broken(), 1
    notes["docs/bench"] = f"{len(bench_pages.old_pages())} pages of an older engine"
    return report(found, counts, notes)


def report(found, counts, notes):
    for name, broken in found.items():
        bad = len({rule for rule, _ in broken})
        state = f"{bad} broken" if bad else "good"
        print(f"{name:38} {counts[name]:3} rules, {state:10} {notes.get(name, '')}".rstrip())
        for rule, what in broken:
            print(f"    {rule}: {what}")
    return int(any(found.values()))


if __name__ == "__main__":
    sys.exit(main())
