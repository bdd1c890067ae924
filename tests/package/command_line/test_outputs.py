"""An output replaces only a file of its kind, and never a file that is read. The tests cover the
marks of all kinds, several names of one file, and a check that no other code of the add-on writes
files."""

import ast
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from araplbs import replay
from araplbs.base.refusal import Refused
from araplbs.disk import files, outputs
from araplbs.disk.outputs import BLEND, RESULTS, Kind, Outputs, replaced
from araplbs.features.compare.files import write_comparisons
from araplbs.reports.pictures import png
from araplbs.reports.problem_report import TITLE
from paths import ROOT, python_files

posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
KINDS = {name: kind for name, kind in vars(outputs).items() if isinstance(kind, Kind)}
PIXELS = np.zeros((3, 4, 4), np.uint8)


def write(path, kind):
    """A file of a kind, as the add-on writes it."""
    if kind is BLEND:
        with replaced(path, kind) as temporary:
            temporary.write_bytes(b"BLENDER-v405")
    elif kind is outputs.PICTURE:
        outputs.write_content(path, kind, png(PIXELS, kind.generator))
    elif kind is outputs.PROBLEM_TEXT:
        outputs.write_content(path, kind, TITLE)
    elif kind is outputs.PROBLEM:
        with replaced(path, kind) as temporary:
            replay.save(temporary, {"vertices": np.zeros((3, 3))})
    elif kind in (outputs.REPORT_PAGE, outputs.COMPARISON_PAGE):
        outputs.write_content(path, kind, outputs.page_head(kind) + "<title>T</title>")
    else:
        outputs.write_json(path, kind, {"a": 1})


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_is_known_again(name, tmp_path):
    """Each kind is recognized by its content, under any name. No other kind may replace it."""
    path = tmp_path / "anything"
    write(path, KINDS[name])
    before = path.read_bytes()
    write(path, KINDS[name])
    assert path.read_bytes() == before
    for other in KINDS.values():
        assert outputs.carries(path, other) == (other is KINDS[name])
        if other is not KINDS[name]:
            with pytest.raises(Refused, match=f"already exists and is not a {other.name}"):
                write(path, other)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["anything"]


FOREIGN = {
    "text": b"a diary",
    "page": b'<!DOCTYPE html><html><head><title>araplbs compare</title><p>"araplbs reports"',
    "page about": b"<!DOCTYPE html>" + bytes(300) + outputs._tag("araplbs compare").encode(),
    "JSON": b'{"name": "x", "generator": "araplbs report"}',
    "JSON about": b'{"generator": "araplbs reporting tool"}',
    "picture": png(PIXELS),
    "picture of another": png(PIXELS, "GIMP"),
    "bytes": bytes(range(256)),
}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("what", FOREIGN)
def test_foreign_files_stay(name, what, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(FOREIGN[what])
    with pytest.raises(Refused, match=r"file' already exists and is not a "):
        write(path, KINDS[name])
    assert path.read_bytes() == FOREIGN[what] and os.listdir(tmp_path) == ["file"]


def test_empty_file_holds_nothing(tmp_path):
    for name, kind in KINDS.items():
        (tmp_path / name).touch()
        write(tmp_path / name, kind)
        assert outputs.carries(tmp_path / name, kind)


def test_what_comes_meanwhile_stays(tmp_path):
    """A file that another process writes to the same path in the meantime stays."""
    path = tmp_path / "out.blend"
    with pytest.raises(Refused, match="already exists"), replaced(path, BLEND) as temporary:
        temporary.write_bytes(b"BLENDER")
        path.write_text("theirs")
    assert path.read_text() == "theirs" and os.listdir(tmp_path) == ["out.blend"]


def test_unmarked_content_is_not_written(tmp_path):
    with pytest.raises(ValueError, match="signature of its kind"):
        outputs.write_content(tmp_path / "page", outputs.REPORT_PAGE, "<!DOCTYPE html><title>")
    with pytest.raises(ValueError, match="signature of its kind"):
        outputs.write_content(tmp_path / "picture", outputs.PICTURE, png(PIXELS))
    with pytest.raises(ValueError, match="signature of its kind"):
        outputs.write_content(tmp_path / "text", outputs.PROBLEM_TEXT, "a diary")
    assert not os.listdir(tmp_path)


@posix
def test_unreadable_file(tmp_path, monkeypatch):
    path = tmp_path / "report.json"
    path.write_text("mine")

    def fail(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(outputs, "carries", fail)
    with pytest.raises(Refused, match="cannot be read: Permission denied"):
        write(path, RESULTS)


@pytest.fixture
def planned(tmp_path, monkeypatch):
    """Two inputs in a folder, and the files that a run on them has added."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.blend", "b.blend"):
        (tmp_path / name).write_bytes(b"BLENDER")
    return Outputs([tmp_path / "a.blend", tmp_path / "b.blend"])


def test_input_under_its_own_name(planned, tmp_path):
    planned.add(tmp_path / "x/../a.blend", BLEND, "output", tmp_path / "a.blend")
    with pytest.raises(Refused, match="would replace the input"):
        planned.add(tmp_path / "b.blend", BLEND, "output", tmp_path / "a.blend")
    with pytest.raises(Refused, match=r"the report .*a.blend would replace the output"):
        planned.add(tmp_path / "a.blend", RESULTS, "report")


@posix
@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_input_under_another_name(link, planned, tmp_path):
    """Not even the input of this output may be replaced, unless the user names it."""
    link(tmp_path / "a.blend", tmp_path / "out.blend")
    with pytest.raises(Refused, match=r"out.blend would replace the input .*a.blend"):
        planned.add(tmp_path / "out.blend", BLEND, "output", tmp_path / "a.blend")


def test_two_in_one_place(planned, tmp_path):
    planned.add(tmp_path / "new.json", outputs.REPORT, "report")
    for name in ("new.json", "NEW.json", "./x/../new.json"):
        with pytest.raises(Refused, match=r"the table .* would replace the report .*new.json"):
            planned.add(tmp_path / name, outputs.TABLE, "table")


def test_what_the_file_uses(planned, tmp_path):
    """Its libraries and pictures may be outputs of other files, but neither its own output nor a
    report."""
    planned.add(tmp_path / "a.blend", BLEND, "output", tmp_path / "a.blend")
    planned.add(tmp_path / "report.json", RESULTS, "report")
    planned.refuse_used([tmp_path / "a.blend"], tmp_path / "b.blend")
    with pytest.raises(Refused, match=r"a.blend, which the file uses"):
        planned.refuse_used([tmp_path / "a.blend"], tmp_path / "a.blend")
    with pytest.raises(Refused, match=r"report.json, which the file uses"):
        planned.refuse_used([tmp_path / "report.json"], tmp_path / "b.blend")


@posix
@pytest.mark.parametrize("name", KINDS)
def test_no_regular_file(name, tmp_path):
    """Nothing waits for a FIFO. Only the report of a run may be written to one."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "device").symlink_to("/dev/null")
    for each in ("fifo", "device"):
        plan = Outputs([])
        if KINDS[name] is RESULTS:
            plan.add(tmp_path / each, RESULTS, "report")
        else:
            with pytest.raises(Refused, match="is not a regular file"):
                plan.add(tmp_path / each, KINDS[name], "output")


def test_pages_of_a_comparison(tmp_path):
    """All of them are checked before one is written."""
    page = outputs.page_head(outputs.COMPARISON_PAGE)
    made = [("Anna", page, {}), ("Ben", page, {})]
    (tmp_path / "Ben.html").write_text("MY PAGE ABOUT BEN")
    with pytest.raises(Refused, match=r"Ben.html' already exists and is not a comparison"):
        write_comparisons(tmp_path, made)
    assert os.listdir(tmp_path) == ["Ben.html"]
    (tmp_path / "Ben.html").unlink()
    for _ in range(2):
        write_comparisons(tmp_path, made)
    names = ["Anna.html", "Ben.html", "index.html", "report.json"]
    assert sorted(os.listdir(tmp_path)) == names
    assert json.loads((tmp_path / "report.json").read_text())["generator"] == "araplbs compare"


# Files that may be opened to be written: those that are moved to their place, and temporary ones.
WRITERS = {
    "araplbs/disk/outputs.py": {"write_text", "write_bytes", "whole_file"},
    "araplbs/disk/files.py": {"copyfile", "open", "replace"},
    "araplbs/gltf/file/container.py": {"write_bytes"},  # to a temporary file
    "araplbs/usd/stage.py": {"copyfile"},  # as above
    "araplbs/replay.py": {"open", "replace"},  # problems and weights: test_replay.py
    "features/auto_weight/presets.py": {"write_text"},  # a user's preset, where Blender keeps them
}
WRITING = {
    "write_text",
    "write_bytes",
    "whole_file",
    "copyfile",
    "copy",
    "copy2",
    "move",
    "mkstemp",
}


def test_nothing_else_writes():
    """All calls by which Python writes a file, except replace() of strings and copy() of
    objects."""
    found = {}
    for path, name in python_files():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                names = _writing(node)
                if names:
                    found.setdefault(name, set()).update(names)
    assert found == WRITERS


def _writing(call):
    function = call.func
    if isinstance(function, ast.Name):
        if function.id == "open":
            modes = [a.value for a in call.args[1:2] if isinstance(a, ast.Constant)]
            return {"open"} if set("".join(modes)) & set("wax+") else set()
        return {function.id} & WRITING
    if not isinstance(function, ast.Attribute):
        return set()
    of_module = isinstance(function.value, ast.Name) and function.value.id in ("os", "shutil")
    if function.attr in ("copy", "replace", "move") and not of_module:
        return set()
    return {function.attr} & (WRITING | {"replace"})


def test_content_mark(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"content")
    mark = files.content_mark(path)
    assert mark["bytes"] == 7 and files.has_content(path, mark)
    os.utime(path, (0, 0))
    assert files.has_content(path, mark), "times are those of clocks"
    for other in (b"contenT", b"conten", b"contents", b""):
        path.write_bytes(other)
        assert not files.has_content(path, mark)


def leftover(folder, space, number, age=0.0):
    path = folder / f".araplbs-{space}-{number}-01234567.blend"
    path.write_text("x")
    os.utime(path, (time.time() - age,) * 2)
    return path


def test_leftovers(tmp_path):
    """Leftovers of an ended process are removed at once, and all others after a day, because their
    process may run elsewhere, or another process may have its number."""
    old = files.FORGOTTEN + 60
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        pass
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as works:
        left = [
            leftover(tmp_path, files.SPACE, gone.pid),
            leftover(tmp_path, "0123456789abcdef", gone.pid, old),
        ]
        kept = [
            leftover(tmp_path, "fedcba9876543210", gone.pid, files.FORGOTTEN - 60),
            leftover(tmp_path, files.SPACE, works.pid),
        ]
        files.remove_leftovers(tmp_path)
        assert not any(path.exists() for path in left)
        assert all(path.exists() for path in kept)
        leftover(tmp_path, files.SPACE, works.pid, old)
        files.remove_leftovers(tmp_path)
        assert [path.exists() for path in kept] == [True, False]
        works.communicate(b"\n")


def test_folders_of_killed_processes(tmp_path, monkeypatch):
    """The next process removes them, and no others."""
    monkeypatch.setattr(files.tempfile, "tempdir", str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        pass
    left = tmp_path / f"araplbs-{files.SPACE}-{gone.pid}-abcdefgh"
    kept = [tmp_path / name for name in ("araplbs-work", f"araplbs-0123456789abcdef-{gone.pid}-x")]
    for folder in (left, *kept):
        folder.mkdir()
        (folder / "1-weight.json").touch()
    with files.own_folder() as first, files.own_folder() as second:
        names = {Path(first).name, Path(second).name, *(folder.name for folder in kept)}
        assert set(os.listdir(tmp_path)) == names
    assert set(os.listdir(tmp_path)) == {folder.name for folder in kept}


@pytest.mark.skipif(sys.platform != "linux", reason="containers are those of Linux")
def test_containers_of_one_name(tmp_path):
    """Process numbers in one container give no information about another container, even if the
    host names are equal."""
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from pathlib import Path\n"
        "from araplbs.disk import files\n"
        f"files.remove_leftovers(Path({str(tmp_path)!r}))\n"
        "print(files.SPACE)"
    )
    apart = ["unshare", "--pid", "--fork"]
    if os.getuid():
        apart += ["--user", "--map-root-user"]
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        pass
    ours = leftover(tmp_path, files.SPACE, gone.pid)
    try:
        done = subprocess.run([*apart, sys.executable, "-c", code], capture_output=True, text=True)
    except OSError:
        pytest.skip("no unshare here")
    if done.returncode:
        pytest.skip(f"no process space of its own here: {done.stderr.strip()}")
    assert done.stdout.strip() != files.SPACE and ours.exists()
    files.remove_leftovers(tmp_path)
    assert not ours.exists()
