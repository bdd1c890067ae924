"""Combines every option that names an output with our own and foreign files at that path. Only our
own files are replaced, and a refusal comes before any file is opened. test_command_files.py covers
links, FIFOs and other obstacles. The short form of the test does not weight any file. With
ARAPLBS_TEST_OUTPUTS=1, all work is done, and the files are examined afterwards."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

import bpy
import pytest
from command import folder_of, run, save
from scenes import add_armature, add_tube, addon, auto_weight, bind, new_scene, package

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="Windows has no such files"),
    pytest.mark.slow,
]
ALL = bool(os.environ.get("ARAPLBS_TEST_OUTPUTS"))


@dataclass
class Option:
    """words: the command and its arguments, where `{}` stands for the path; kind: the kind of the
    output file; below: its position, if the path is a folder; opens: whether an input must be
    opened to determine the outputs."""

    words: str
    kind: str
    below: str = ""
    opens: bool = False


BATCH = ["weight", "quantize", "repair", "bake", "joints"]
OPTIONS = {
    **{f"{name} -o": Option(f"{name} in.blend -o {{}}", "BLEND") for name in BATCH},
    "transfer -o": Option("transfer in.blend --source Tube --target Tube -o {}", "BLEND"),
    "folder": Option("weight in.blend second.blend -o {}", "BLEND", "second.blend"),
    **{
        f"{name} --json": Option(f"{name} in.blend -o o.blend --json {{}}", "RESULTS")
        for name in BATCH
    },
    "check --json": Option("check in.blend --json {}", "RESULTS"),
    "report": Option("weight in.blend -o o.blend --report {}", "REPORT", "o.blend.json"),
    "picture": Option("weight in.blend -o o.blend --report {}", "PICTURE", "o.blend.0.png"),
    "table": Option("weight in.blend -o o.blend --report {}", "TABLE", "table.json"),
    "page": Option("quantize in.blend -o o.blend --report {}", "REPORT_PAGE", "index.html"),
    "plan": Option("weight in.blend -o o.blend --plan --report {}", "REPORT", "o.blend.json"),
    "jobs": Option("weight in.blend -o o.blend --jobs 2 --report {}", "REPORT", "o.blend.json"),
    "compare": Option(
        "compare in.blend -o {} --method nearest --judged-poses 2", "COMPARISON_PAGE", "index.html"
    ),
    "compare report": Option(
        "compare in.blend -o {} --method nearest --judged-poses 2", "COMPARISON", "report.json"
    ),
    "compare page": Option(
        "compare in.blend -o {} --method nearest --judged-poses 2",
        "COMPARISON_PAGE",
        "Other.html",
        opens=True,
    ),
    "keep --file": Option("keep in.blend -o o.blend --file {}", "KEPT"),
    "merge": Option("merge {}", "REPORT_PAGE", "index.html"),
    "merge table": Option("merge {}", "TABLE", "table.json"),
}

OURS = {
    "BLEND": "BLENDER older",
    "PICTURE": "\x89PNG\r\n\x1a\n" + 25 * "." + "\0\0\0\x17tEXtSoftware\0araplbs report",
    "REPORT_PAGE": '<!DOCTYPE html><meta name="generator" content="araplbs reports">',
    "COMPARISON_PAGE": '<!DOCTYPE html><meta name="generator" content="araplbs compare">',
    "REPORT": '{"generator": "araplbs report", "files": []}',
    "RESULTS": '{"generator": "araplbs results"}',
    "TABLE": '{"generator": "araplbs table"}',
    "COMPARISON": '{"generator": "araplbs compare"}',
    "KEPT": "araplbs kept weights 1\n",
}


def ours(path, kind):
    path.write_text(OURS[kind], encoding="latin-1")
    return True


def foreign(path, _kind):
    path.write_text("MINE")


def of_another_kind(path, kind):
    ours(path, "TABLE" if kind != "TABLE" else "REPORT")


def nothing(_path, _kind):
    return True


THINGS = [nothing, ours, foreign, of_another_kind]
# Obstacles in place of the folder that is written into, if there is one.
FOLDERS = {
    "missing": lambda path: True,
    "of any name": lambda path: True,
    "deep": lambda path: True,
    "link": lambda path: path.symlink_to(_made("elsewhere")) or True,
    "file": lambda path: path.write_text("MINE") and None,
    "input": lambda path: os.link("in.blend", path),
    "FIFO": lambda path: os.mkfifo(path),
    "broken link": lambda path: path.symlink_to("no folder/new"),
    "below a file": lambda path: path.parent.write_text("MINE") and None,
}


def _made(name):
    Path(name).mkdir()
    return name


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Two files with one character each; the first file contains a second character."""
    place = tmp_path_factory.mktemp("inputs")
    for name, second in (("in.blend", True), ("second.blend", False)):
        new_scene()
        for rig_name, shift in [("Rig", 0), ("Other", 5)][: 1 + second]:
            rig = add_armature()
            rig.name = rig_name
            tube = add_tube(rings=5, sides=4, shift=(shift, 0, 0))
            rig.location.x = shift
            bind(tube, rig)
            if ALL:
                auto_weight(tube, rig)
        save(place / name)
    return place


@pytest.fixture
def place(inputs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("in.blend", "second.blend"):
        (tmp_path / name).write_bytes((inputs / name).read_bytes())
    return tmp_path


def snapshot(place):
    """The current directory entry, without following links."""
    found = {}
    for path in place.rglob("*"):
        mode = path.lstat().st_mode
        content = None
        if stat.S_ISLNK(mode):
            content = os.readlink(path)
        elif stat.S_ISREG(mode):
            content = path.read_bytes()
        found[path] = mode, content
    return found


def command(words, path, monkeypatch):
    """Whether the command was not refused. Files are opened only if ARAPLBS_TEST_OUTPUTS is set."""
    began = []
    files, bpy.context.scene.name = package("blender.files"), "Untouched"
    if not ALL:
        monkeypatch.setattr(files, "_do_files", lambda *_: began.append(1) or 0)
    words = [word.format(path) if word == "{}" else word for word in words.split()]
    code = run(*words)
    if code:
        assert bpy.context.scene.name == "Untouched", "a file was opened"
    else:
        assert began or "--plan" in words or words[0] == "merge" or ALL
    return not code


def report_for_merge(path):
    (path / "x.blend.json").write_text(
        '{"generator": "araplbs report", "files": [{"input": "x", "output": "x", "error": "e"}]}'
    )


def opens_first(words, path, monkeypatch):
    """Like command(), for commands that open a file to determine their outputs: whether solving
    begins."""
    began = []

    def solve(*_):
        began.append(1)
        raise package("base.refusal").Refused("solving begins")

    if not ALL:
        monkeypatch.setattr(addon("features.compare.task").CompareTask, "solve", solve)
    code = run(*[path if word == "{}" else word for word in words.split()])
    return not code or bool(began)


@pytest.mark.parametrize("thing", THINGS, ids=lambda thing: thing.__name__)
@pytest.mark.parametrize("name", OPTIONS)
def test_what_is_there(name, thing, place, monkeypatch):
    option = OPTIONS[name]
    path = place / ("there" if option.below else "there.blend")
    at = path / option.below if option.below else path
    at.parent.mkdir(exist_ok=True)
    if option.words.startswith("merge"):
        report_for_merge(path)
    welcome = thing(at, option.kind)
    real = Path(os.path.realpath(at))
    before = snapshot(place)
    if ALL and welcome and option.words.startswith("transfer"):
        pytest.skip("somebody would have to give a mesh to transfer to")
    done = (opens_first if option.opens else command)(option.words, path, monkeypatch)
    assert done == bool(welcome)
    after = snapshot(place)
    if not welcome:
        assert after == before
    else:
        changed = {each for each in before if after.get(each) != before[each]}
        assert changed <= {at, real, path / "table.json", path / "index.html"}
        assert not [each for each in after if each.name.startswith(".araplbs")]


@pytest.mark.parametrize("what", FOLDERS)
@pytest.mark.parametrize("name", [name for name in OPTIONS if OPTIONS[name].below])
def test_folders(name, what, place, monkeypatch):
    option = OPTIONS[name]
    names = {"of any name": os.fsdecode(b"\xff\xfe 'x'\n"), "deep": "a/b/c"}
    path = place / names.get(what, "parent/there" if what == "below a file" else "there")
    welcome = FOLDERS[what](path)
    if what == "input" or option.words.startswith("merge"):
        welcome = None
    before = snapshot(place)
    done = (opens_first if option.opens else command)(option.words, path, monkeypatch)
    assert done == bool(welcome)
    if not welcome:
        assert snapshot(place) == before


@pytest.mark.parametrize("words", ["weight in.blend -o {}", "check in.blend --json {}"])
def test_names(words, place, monkeypatch):
    """Every name that a .blend file can have works; case and dots do not change it into another
    name."""
    for name in (os.fsdecode(b"\xff.blend"), "a\nb.blend", "-x.blend", "%s{}.blend", "n" * 200):
        path = place / (name if name.endswith(".blend") else f"{name}.blend")
        assert command(words, path, monkeypatch)
    before = snapshot(place)
    assert not command(words, place / "x/../in.blend", monkeypatch), "an input, by another name"
    assert command(words, place / "x.blend/y.blend", monkeypatch)
    assert not command(words, place / "in.blend/y.blend", monkeypatch)
    if not ALL:
        assert snapshot(place) == before and folder_of(place) == ["in.blend", "second.blend"]
