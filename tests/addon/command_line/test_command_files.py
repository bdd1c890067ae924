"""Tests the files that the command line writes, and files that it must not write: one file under
several names, links, modes, files that are not regular, leftovers of killed processes."""

import json
import os
import signal
import stat
from concurrent.futures import ThreadPoolExecutor

import bpy
import pytest
from command import OLDER, OLDER_REPORT, folder_of, opened, run, save
from scenes import addon, assert_good, package, tube_and_rig

posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")


@pytest.fixture
def character(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tube_and_rig()
    return save(tmp_path / "in.blend")


def refused(before, *arguments):
    """Runs the command, which must refuse before it opens anything, and returns the error that it
    prints."""
    bpy.context.scene.name = "Untouched"
    assert run(*arguments) == 2
    assert bpy.context.scene.name == "Untouched", "a file was opened"
    for path, content in before.items():
        assert path.read_bytes() == content


@posix
@pytest.mark.parametrize("what", ["input", "output", "tets"])
def test_report_replaces_nothing(what, character, tmp_path, capfd):
    """Under another name; test_outputs.py tests all kinds of names."""
    out, tets = tmp_path / "out.blend", tmp_path / "tets.msh"
    out.write_text(OLDER)
    tets.write_text("tets")
    target = {"input": character, "output": out, "tets": tets}[what]
    report = tmp_path / "first"
    report.symlink_to(target)
    before = {path: path.read_bytes() for path in (character, out, tets)}
    refused(before, "weight", character, "-o", out, "--json", report, "--tet-file", tets)
    assert f"report {report} would replace the {what}" in capfd.readouterr().err


def test_what_the_file_uses_is_not_replaced(tmp_path, monkeypatch, capfd):
    """Neither a linked library nor a picture is replaced."""
    monkeypatch.chdir(tmp_path)
    bpy.data.meshes.new("Prop").use_fake_user = True
    library = save(tmp_path / "library.blend")
    tube_and_rig()
    picture = bpy.data.images.new("Skin", 4, 4)
    picture.filepath_raw = str(tmp_path / "skin.png")
    picture.file_format = "PNG"
    picture.save()
    picture.use_fake_user = True
    with bpy.data.libraries.load(str(library), link=True) as (_there, wanted):
        wanted.meshes = ["Prop"]
    bpy.data.meshes["Prop", str(library)].use_fake_user = True
    bpy.context.scene.collection.objects.link(
        bpy.data.objects.new("Prop", bpy.data.meshes["Prop", str(library)])
    )
    path = save(tmp_path / "in.blend")
    before = {p: p.read_bytes() for p in (library, tmp_path / "skin.png")}
    assert run("weight", path, "-o", "library.blend") == 1
    assert "library.blend would replace" in capfd.readouterr().err
    assert run("weight", path, "-o", "out.blend", "--json", "skin.png") == 2
    assert "'skin.png' already exists" in capfd.readouterr().err
    assert {p: p.read_bytes() for p in before} == before
    assert folder_of(tmp_path) == ["in.blend", "library.blend", "skin.png"]


@posix
def test_mode_of_what_exists_is_kept(character, tmp_path):
    mode = 0o640
    out, report = tmp_path / "out.blend", tmp_path / "report.json"
    for path, content in ((out, OLDER), (report, OLDER_REPORT)):
        path.write_text(content)
        path.chmod(mode)
    if os.getuid() == 0:
        os.chown(out, 12, 34)
    assert run("weight", character, "-o", out, "--json", report) == 0
    assert [stat.S_IMODE(path.stat().st_mode) for path in (out, report)] == [mode] * 2
    if os.getuid() == 0:
        assert (out.stat().st_uid, out.stat().st_gid) == (12, 34)
    mask = os.umask(0o022)
    os.umask(mask)
    assert mask != 0o077, "what the process makes later has its usual mode again"


@posix
def test_new_files_have_the_usual_mode(character, tmp_path):
    mask = os.umask(0o027)
    try:
        assert run("weight", character, "-o", "out.blend", "--json", "report.json") == 0
    finally:
        os.umask(mask)
    for name in ("out.blend", "report.json"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o640


@posix
def test_nobody_else_reads_it_while_it_is_saved(character, tmp_path, monkeypatch):
    out, seen = tmp_path / "out.blend", []
    out.write_text(OLDER)
    out.chmod(0o600)
    files = package("disk.files")
    replace = os.replace

    def look(source, target):
        seen.append(stat.S_IMODE(os.stat(source).st_mode))
        replace(source, target)

    monkeypatch.setattr(files, "_keep_permissions", lambda *_: None)
    monkeypatch.setattr(files.os, "replace", look)
    assert run("weight", character, "-o", out) == 0
    assert seen == [0o600]


@posix
@pytest.mark.parametrize("exists", [True, False])
def test_link_stays(exists, tmp_path, monkeypatch):
    """The target of the link is replaced; relative paths refer to the location of the link, as in
    Blender."""
    monkeypatch.chdir(tmp_path)
    tube_and_rig()
    picture = bpy.data.images.new("Skin", 4, 4)
    picture.filepath_raw = str(tmp_path / "skin.png")
    picture.file_format = "PNG"
    picture.save()
    picture.use_fake_user = True
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "in.blend"))
    picture.filepath = "//skin.png"
    path = save(tmp_path / "in.blend")
    store, links = tmp_path / "store" / "deeper", tmp_path / "links"
    store.mkdir(parents=True)
    links.mkdir()
    link, real = links / "out.blend", store / "real.blend"
    link.symlink_to(real)
    if exists:
        real.write_text(OLDER)
    assert run("weight", path, "-o", link) == 0
    assert link.is_symlink() and not real.is_symlink()
    assert folder_of(links) == ["out.blend"] and folder_of(store) == ["real.blend"]
    objects = opened(link)
    assert_good(objects["Tube"], objects["Rig"])
    assert bpy.data.images["Skin"].filepath == "//../skin.png"


@posix
def test_linked_input(tmp_path, monkeypatch):
    """Relative paths refer to the location of the link, and a link that is the output stays a
    link."""
    monkeypatch.chdir(tmp_path)
    tube_and_rig()
    store, work = tmp_path / "store" / "deeper", tmp_path / "work"
    store.mkdir(parents=True)
    work.mkdir()
    picture = bpy.data.images.new("Skin", 4, 4)
    picture.filepath_raw = str(work / "skin.png")
    picture.file_format = "PNG"
    picture.save()
    picture.use_fake_user = True
    bpy.ops.wm.save_as_mainfile(filepath=str(work / "in.blend"))
    picture.filepath = "//skin.png"
    save(work / "in.blend").rename(store / "0123")
    (work / "in.blend").symlink_to(store / "0123")
    assert run("weight", work / "in.blend", "--in-place") == 0
    assert (work / "in.blend").is_symlink() and folder_of(store) == ["0123"]
    objects = opened(work / "in.blend")
    assert_good(objects["Tube"], objects["Rig"])
    assert bpy.data.images["Skin"].filepath == "//skin.png"


@posix
def test_dots_after_a_linked_folder(character, tmp_path):
    """link/../x is next to the folder to which the link leads."""
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / "link").symlink_to(deep, target_is_directory=True)
    character.rename(tmp_path / "a" / "in.blend")
    (tmp_path / "in.blend").write_text("another")
    assert run("weight", "link/../in.blend", "-o", "link/../out.blend") == 0
    assert folder_of(tmp_path / "a") == ["b", "in.blend", "out.blend"]
    assert (tmp_path / "in.blend").read_text() == "another"


@posix
def test_no_regular_file(character, tmp_path, capfd):
    """A FIFO would block, and a device would be replaced."""
    fifo, folder = tmp_path / "fifo.blend", tmp_path / "folder.blend"
    os.mkfifo(fifo)
    folder.mkdir()
    device = tmp_path / "null.blend"
    device.symlink_to("/dev/null")
    for path, code, message in (
        (fifo, 1, "not a regular file"),
        (device, 1, "not a regular file"),
        (folder, 2, "a folder, not a .blend file"),
    ):
        assert run("weight", path, "-o", "out.blend") == code
        assert f"{path}: {message}" in capfd.readouterr().err
    for path in (fifo, device):
        assert run("weight", character, "-o", path) == 2
        assert "is not a regular file" in capfd.readouterr().err
    inside = tmp_path / "out" / "in.blend"
    inside.mkdir(parents=True)
    assert run("weight", character, "-o", inside.parent) == 2
    assert "is a folder" in capfd.readouterr().err
    loop = tmp_path / "loop.blend"
    loop.symlink_to("loop.blend")
    nowhere = tmp_path / "nowhere.blend"
    nowhere.symlink_to("missing/out.blend")
    for link in (loop, nowhere):
        assert run("weight", character, "-o", link) == 2
        assert "is a broken link" in capfd.readouterr().err
    assert run("weight", character, "-o", character / "below" / "out.blend") == 2
    assert "is not a folder" in capfd.readouterr().err
    refused({}, "weight", character, "-o", "out.blend", "--json", folder)
    assert "is a folder" in capfd.readouterr().err
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode) and fifo.is_fifo()
    assert not (tmp_path / "out.blend").exists()


@posix
def test_report_into_a_pipe(character, tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with ThreadPoolExecutor(1) as pool:
        text = pool.submit(fifo.read_text)
        assert run("weight", character, "-o", "out.blend", "--json", fifo) == 0
        assert json.loads(text.result())["files"][0]["output"] == "out.blend"
    assert folder_of(tmp_path) == ["fifo", "in.blend", "out.blend"]


def test_write_protected(character, tmp_path, capfd):
    for arguments in (("-o", "old.blend"), ("-o", "out.blend", "--json", "old.blend")):
        old = tmp_path / "old.blend"
        old.write_text(OLDER)
        old.chmod(0o444)
        assert run("weight", character, *arguments) == 2
        assert "'old.blend' is write-protected" in capfd.readouterr().err
        assert old.read_text() == OLDER
        old.chmod(0o644)
    assert folder_of(tmp_path) == ["in.blend", "old.blend"]


def test_a_fault_of_ours_in_one_file(character, tmp_path, monkeypatch, capfd):
    """Whatever exception is raised, the other files are processed."""
    other = tmp_path / "other.blend"
    other.write_bytes(character.read_bytes())
    cli = addon("cli")
    save_file = cli._save

    def fail(target, *arguments):
        if target.name == "in.blend":
            raise KeyError("a fault")
        save_file(target, *arguments)

    monkeypatch.setattr(cli, "_save", fail)
    assert run("weight", character, other, "-o", tmp_path / "out") == 1
    assert folder_of(tmp_path / "out") == ["other.blend"]
    assert "a fault" in capfd.readouterr().err


@posix
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_signal_while_solving(name, character, tmp_path, monkeypatch, capfd):
    """The exit code names the signal, nothing is written, and the signal handlers are restored."""
    number = getattr(signal, name)
    lines, calls = package("blender.files").Lines, []
    report = lines.__call__

    def stop(self, *arguments):
        calls.append(arguments)
        if len(calls) == 2:
            os.kill(os.getpid(), number)
        return report(self, *arguments)

    monkeypatch.setattr(lines, "__call__", stop)
    former = signal.signal(number, signal.SIG_DFL)
    try:
        assert run("weight", character, "-o", "out.blend", "--json", "report.json") == 128 + number
        assert signal.getsignal(number) is signal.SIG_DFL
        assert len(calls) == 2 and f"stopped by {name}" in capfd.readouterr().err
        assert folder_of(tmp_path) == ["in.blend"]
        # As under nohup: ignored signals stay ignored.
        calls.clear()
        signal.signal(number, signal.SIG_IGN)
        assert run("weight", character, "-o", "out.blend") == 0 and len(calls) > 2
    finally:
        signal.signal(number, former or signal.SIG_DFL)


@posix
@pytest.mark.parametrize("when", ["load_post", "depsgraph_update_post", "save_pre", "save_post"])
def test_swallowed_signal(when, character, tmp_path):
    """Blender continues after any exception in a handler. The command does not."""
    former = signal.getsignal(signal.SIGTERM)

    @bpy.app.handlers.persistent
    def handler(*_):
        os.kill(os.getpid(), signal.SIGTERM)
        for _wait in range(1000):
            pass

    handlers = getattr(bpy.app.handlers, when)
    handlers.append(handler)
    try:
        assert run("weight", character, "-o", "out.blend") == 128 + signal.SIGTERM
    finally:
        handlers.remove(handler)
    assert folder_of(tmp_path) == ["in.blend"]
    assert signal.getsignal(signal.SIGTERM) == former
