"""For every rule of `make release-check`, a zip or source package that breaks only this rule is
rejected, and docs/release.md names the rule."""

import io
import re
import tarfile
import zipfile

import pytest
import release_check
import sources
from paths import ROOT
from release_check import RULES, read_zip
from release_code import uses

NAME = "araplbs-1.2.3-linux_x64.zip"
WHEEL = "wheels/araplbs-1.2.3-cp311-abi3-manylinux_2_27_x86_64.whl"
MANIFEST = f"""
schema_version = "1.0.0"
id = "araplbs"
version = "1.2.3"
name = "Auto-weight"
tagline = "Weights"
maintainer = "Us"
website = "https://example.org/"
type = "add-on"
tags = ["Rigging"]
blender_version_min = "4.2.0"
platforms = ["linux-x64"]
license = ["SPDX:GPL-3.0-or-later"]
copyright = ["2026 Us"]
wheels = ["./{WHEEL}"]
[permissions]
files = "Write reports"
"""
GOOD = {
    "blender_manifest.toml": MANIFEST,
    "__init__.py": "from . import more\n",
    "more.py": "x = 1\n",
    "languages/de_DE.po": 'msgid "a"\nmsgstr "b"\n',
    "LICENSE": "GNU GENERAL PUBLIC LICENSE",
    "THIRD_PARTY.md": "`a.txt`",
    "licenses/a.txt": "text",
    WHEEL: "wheel",
}
# Things that the code of the extension does, in the files that release_code.py lists for it.
SAMPLES = {
    "search path": "import sys\nsys.path[0] = 'x'\n",
    "network": "import socket\n",
    "process": "import subprocess\n",
    "__file__": "x = __file__\n",
    "write": "open('x', 'w')\n",
}


def good_files(tmp_path, monkeypatch):
    import release_code

    monkeypatch.setattr(release_check, "ROOT", tmp_path)
    made = tmp_path / "build/cross" / WHEEL
    made.parent.mkdir(parents=True)
    made.write_text(GOOD[WHEEL])
    files = dict(GOOD)
    for kind, names in release_code.WANTED.items():
        for name in names:
            files[name] = files.get(name, "") + SAMPLES[kind]
            files["__init__.py"] += f"import_module('{name.removesuffix('.py')}')\n"
    return files


def zipped(files, name=NAME, times=((2026, 1, 1, 0, 0, 0),), link=None):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for number, (path, text) in enumerate(files.items()):
            entry = zipfile.ZipInfo(path, times[number % len(times)])
            entry.external_attr = (0o120777 if path == link else 0o100644) << 16
            archive.writestr(entry, text)
    return read_zip(name, out.getvalue())


@pytest.fixture
def files(tmp_path, monkeypatch):
    return good_files(tmp_path, monkeypatch)


def broken(zip):
    return {name for name, _ in release_check.broken_in_zip(zip)}


def test_a_good_zip_breaks_no_rule(files):
    assert release_check.broken_in_zip(zipped(files)) == []


def test_a_zip_that_blender_has_split(files):
    """The lists that Blender's tool wrote at the end apply, as when Blender reads them, not those
    of all systems."""
    other = WHEEL.replace("manylinux_2_27_x86_64", "win_amd64")
    text = MANIFEST.replace(f'"./{WHEEL}"', f'"./{other}", "./{WHEEL}"')
    text = text.replace('["linux-x64"]', '["windows-x64", "linux-x64"]')
    made = f'[build.generated]\nplatforms = ["linux-x64"]\nwheels = ["./{WHEEL}"]\n'
    assert broken(zipped(files | {"blender_manifest.toml": text})) >= {"wheel"}
    assert broken(zipped(files | {"blender_manifest.toml": text + made})) == set()


def changed(old, new):
    assert old in MANIFEST
    return {"blender_manifest.toml": MANIFEST.replace(old, new)}


CASES = [
    ("manifest", changed('"Auto-weight"', '"Auto-weight for Blender"')),
    ("manifest", changed('"Weights"', '"Weights for Blender"')),
    ("manifest", changed("platforms", 'blender_version_max = "5.3.0"\nplatforms')),
    ("permissions", changed("files =", "network ='Because'\nfiles =")),
    ("permissions", changed('files = "Write reports"', "")),
    ("license_and_copyright", changed("GPL-3.0-or-later", "GPL-3.0-only")),
    ("license_and_copyright", {"LICENSE": "MIT"}),
    ("license_and_copyright", {"THIRD_PARTY.md": "`b.txt`"}),
    ("wheel", changed(f'"./{WHEEL}"', "")),
    ("wheel", {"wheels/numpy-2.0-py3-none-any.whl": ""}),
    ("wheel", changed("linux-x64", "linux-arm64")),
    ("wheel", {WHEEL: "another"}),
    ("nothing_else", {"more.pyc": "x"}),
    ("nothing_else", {"more.png": "x"}),
    ("nothing_else", {".hidden/a.py": ""}),
    ("nothing_else", {"test_more.py": ""}),
    ("nothing_else", {"more.txt": "a\0b"}),
    ("dead_files", {"forgotten.py": ""}),
    ("dead_files", {"__init__.py": "'more is only mentioned'\n"}),
    ("paths", {"mehr_größe.py": ""}),
    ("paths", {"More.py": ""}),
    ("languages", {"languages/de_DE.po": 'msgid "a"\nmsgstr ""\n'}),
    ("code", {"more.py": "bl_info = {}"}),
    ("code", {"more.py": "from araplbs_addon.live import x"}),
    ("code", {"more.py": "eval('1')"}),
    ("code", {"more.py": "import subprocess"}),
    ("code", {"araplbs/disk/files.py": ""}),  # entries that are no longer used
]


@pytest.mark.parametrize("rule, change", CASES, ids=lambda x: x if isinstance(x, str) else "")
def test_every_rule_of_zips_can_be_broken(files, rule, change):
    assert rule in broken(zipped(files | change))


def test_the_copy_of_the_add_on_in_the_wheel(files, tmp_path):
    """The wheel contains the add-on's modules for scripts: those of the zip, and no others."""

    def with_copies(**copies):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as wheel:
            for name, text in copies.items():
                wheel.writestr(f"araplbs_addon/{name}.py", text)
        (tmp_path / "build/cross" / WHEEL).write_bytes(out.getvalue())
        return zipped(files | {WHEEL: out.getvalue()})

    copy = {"native_module": files["native_module.py"]}
    assert broken(with_copies(**copy)) == set()
    assert broken(with_copies(**copy, other="import subprocess")) == {"code"}
    assert broken(with_copies(native_module="x = 1")) == {"code"}


def test_a_dead_file_of_the_wheel(files, tmp_path):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as wheel:
        for name in ("__init__", "used", "dead", "cli/commands/check"):
            wheel.writestr(f"araplbs/{name}.py", "from . import used\n" * (name == "__init__"))
    (tmp_path / "build/cross" / WHEEL).write_bytes(out.getvalue())
    found = release_check.broken_in_zip(zipped(files | {WHEEL: out.getvalue()}))
    assert found == [("dead_files", "araplbs/dead.py is never imported")]


def test_rules_about_the_archive_itself(files):
    assert "same_bits" in broken(
        zipped(files, times=((2026, 1, 1, 0, 0, 0), (2026, 1, 2, 0, 0, 0)))
    )
    assert "nothing_else" in broken(zipped(files, link="more.py"))


def test_every_rule_has_a_case():
    assert {rule for rule, _ in CASES} | {"same_bits"} == set(RULES)


@pytest.mark.parametrize(
    "text, kind",
    [
        ("exec('x')", "eval"),
        ("import _bpy", "private"),
        ("from _bpy import ops", "private"),
        ("import sys\nsys.path.insert(0, 'x')", "search path"),
        ("import sys\nsys.modules['x'] = 1", "search path"),
        ("import urllib.request", "network"),
        ("from urllib import request", "network"),
        ("import os\nos.system('x')", "process"),
        ("print(__file__)", "__file__"),
        ("p.open('w')", "write"),
        ("open(p, mode=m)", "write"),
        ("p.write_bytes(b'')", "write"),
        ("import shutil\nshutil.rmtree(p)", "write"),
    ],
)
def test_what_code_does_is_found(text, kind):
    assert kind in uses(text)


@pytest.mark.parametrize(
    "text",
    [
        *("open(p)", "open(p, 'rb')", "p.open('rb')", "x = sys.path", "text.replace('a', 'b')"),
        *("re.compile('a')", "from urllib.parse import quote", "ast.literal_eval('1')"),
    ],
)
def test_what_it_may_do_is_not(text):
    assert uses(text) == {}


def packed(files, link=None):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(f"araplbs-1/{name}")
            member.size = len(data)
            if name == link:
                member.type, member.size, member.linkname = tarfile.SYMTYPE, 0, "x"
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def good_sdist():
    files = {
        f.relative_to(ROOT).as_posix(): b""
        for f in (ROOT / "csrc").rglob("*")
        if f.is_file() and "__pycache__" not in f.parts
    }
    files |= {f.relative_to(ROOT).as_posix(): b"" for f in sources.wheel_files()}
    text = (ROOT / "tools/release_check.py").read_text("utf-8")
    block = text.split("def sdist_sources")[1].split("for name in names")[0]
    files |= {name: b"" for name in re.findall(r'"([\w./]+)"', block) if "_" not in name[:1]}
    return files


def test_rules_of_the_source_package():
    good = good_sdist()

    def broken(files, **more):
        return {name for name, _ in release_check.broken_in_sdist(packed(files, **more))}

    assert broken(good) == set()
    for gone in ("csrc/arap.h", "suitesparse/ORIGIN", "tools/sources.py"):
        assert broken({n: d for n, d in good.items() if n != gone}) == {"sdist_sources"}
    for more in ("docs/a.md", "csrc/.hidden"):
        assert broken(good | {more: b""}) == {"sdist_nothing_else"}
    assert broken(good | {"csrc/a.so": b"\0"}) == {"sdist_nothing_else"}
    assert broken(good, link="setup.py") == {"sdist_nothing_else"}


def test_the_page_names_every_rule():
    text = (ROOT / "docs/release.md").read_text("utf-8")
    column = [line.rsplit("|", 2)[1] for line in text.splitlines() if line.startswith("|")]
    named = set(re.findall(r"`(\w+)`", " ".join(column)))
    assert named == {*RULES, *release_check.SDIST_RULES}
    for path in re.findall(r"`(tests/[\w./]+)`", text):
        assert (ROOT / path).exists(), path


def test_icons_of_the_brushes_may_be_in_the_zip():
    """In whichever folder the tree has them, so the rule still holds if the folder moves."""
    zip = release_check.tree()
    icons = [name for name in zip.files if name.endswith(".dat")]
    assert icons
    zip = zip._replace(files={name: zip.files[name] for name in icons})
    assert not list(RULES["nothing_else"](zip))
