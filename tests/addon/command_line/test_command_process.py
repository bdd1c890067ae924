"""The command line in a process of its own, under adverse conditions: signals at any moment, a full
disk, another process, truncated files, bad files among many. In every case, the old output stays
complete, no temporary file remains, and the exit code is correct."""

import json
import os
import shutil
import signal
import subprocess

import bpy
import numpy as np
import pytest
from command import OLDER, OLDER_REPORT, blender, folder_of, needs_executable, opened, save, start
from gate import Gate
from scenes import add_armature, add_mesh, add_tube, assert_good, bind, new_scene, tube_arrays

pytestmark = [
    needs_executable,
    pytest.mark.outside,
    pytest.mark.skipif(os.name == "nt", reason="signals and mounts are those of POSIX"),
]


def character(path, ballast=0, compress=False, **shape):
    """A file with a bound tube, and with additional vertices that make it larger."""
    new_scene()
    rig, tube = add_armature(), add_tube(**shape)
    bind(tube, rig)
    if ballast:
        points = np.random.default_rng(1).random((ballast, 3))
        mesh = bpy.data.meshes.new("Ballast")
        mesh.vertices.add(ballast)
        mesh.vertices.foreach_set("co", points.astype(np.float32).ravel())
        mesh.use_fake_user = True
    return save(path, compress)


def is_whole(content):
    """Whether an uncompressed .blend file is complete up to its end."""
    return content.startswith(b"BLENDER") and b"ENDB" in content[-64:]


@pytest.mark.parametrize(
    ("name", "moment"),
    [
        ("SIGTERM", "open"),
        ("SIGTERM", "solve"),
        ("SIGTERM", "save"),
        ("SIGINT", "solve"),
        ("SIGINT", "save"),
        ("SIGKILL", "solve"),
        ("SIGKILL", "save"),
    ],
)
def test_stopped(name, moment, tmp_path):
    path = character(tmp_path / "in.blend", rings=5, sides=4)
    out, report = tmp_path / "out.blend", tmp_path / "report.json"
    number = getattr(signal, name)
    out.write_text(OLDER)
    report.write_text(OLDER_REPORT)
    with Gate() as gate:
        process = start("weight", path, "-o", out, "--json", report, held=(gate, moment))
        gate.arrived(process)
        process.send_signal(number)
        _printed, errors = process.communicate()
    assert out.read_text() == OLDER and report.read_text() == OLDER_REPORT
    assert process.returncode == (-number if name == "SIGKILL" else 128 + number), errors
    assert name == "SIGKILL" or f"araplbs: stopped by {name}" in errors
    left = {each for each in os.listdir(tmp_path) if each.startswith(".araplbs-")}
    assert bool(left) == (name == "SIGKILL" and moment == "save")
    if left:
        assert blender("weight", path, "-o", out).returncode == 0
        assert folder_of(tmp_path) == ["in.blend", "out.blend", "report.json"]


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 1 MB, of a kind that root can mount."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if not shutil.which("mount") or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("compress", [False, True])
def test_full_disk(compress, tmp_path, small_disk):
    path = character(tmp_path / "in.blend", ballast=300_000, compress=compress)
    out, report = small_disk / "out.blend", small_disk / "report.json"
    out.write_text(OLDER)
    report.write_text(OLDER_REPORT)
    done = blender("weight", path, "-o", out, "--json", report)
    assert done.returncode == 1
    assert f"{out} could not be saved" in done.stderr and "free there: 1.0 MB" in done.stderr
    assert out.read_text() == OLDER and report.read_text() == OLDER_REPORT
    assert folder_of(small_disk) == ["out.blend", "report.json"]


def test_full_disk_for_the_report(tmp_path, small_disk):
    path = character(tmp_path / "in.blend", rings=5, sides=4)
    out, report = tmp_path / "out.blend", small_disk / "report.json"
    report.write_text(OLDER_REPORT)
    with pytest.raises(OSError), open(small_disk / "filler", "wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    done = blender("weight", path, "-o", out, "--json", report)
    assert done.returncode == 1 and "No space left on device" in done.stderr
    assert report.read_text() == OLDER_REPORT and is_whole(out.read_bytes())
    assert folder_of(small_disk) == ["filler", "report.json"]


def test_limit_of_a_file(tmp_path):
    """Files may not exceed this size, as under a quota."""
    import resource

    path, out = character(tmp_path / "in.blend", ballast=300_000), tmp_path / "out.blend"
    out.write_text(OLDER)

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

    done = blender("weight", path, "-o", out, preexec_fn=limit)
    assert done.returncode == 1 and f"{out} could not be saved" in done.stderr
    assert out.read_text() == OLDER and folder_of(tmp_path) == ["in.blend", "out.blend"]


def test_two_processes_on_one_output(tmp_path):
    """The processes write their files one after the other, and nobody ever sees an incomplete
    file."""
    paths = [
        character(tmp_path / name, ballast=400_000, rings=rings)
        for name, rings in (("a.blend", 15), ("b.blend", 19))
    ]
    out = tmp_path / "out.blend"
    out.write_bytes(paths[0].read_bytes())
    seen = set()

    def look():
        with open(out, "rb") as file:
            seen.add(os.fstat(file.fileno()).st_ino)
            assert is_whole(file.read())

    look()
    both = [start("weight", path, "-o", out) for path in paths]
    while any(process.poll() is None for process in both):
        look()
    look()
    for process in both:
        _printed, errors = process.communicate()
        assert process.returncode == 0, errors
    assert len(seen) > 1
    objects = opened(out)
    assert len(objects["Tube"].data.vertices) in (15 * 10 + 2, 19 * 10 + 2)
    assert_good(objects["Tube"], objects["Rig"])
    assert folder_of(tmp_path) == ["a.blend", "b.blend", "out.blend"]


def test_truncated_files(tmp_path):
    """Files truncated at any position are refused, and the files after them are processed."""
    out, paths = tmp_path / "out", []
    out.mkdir()
    for compress in (False, True):
        whole = character(tmp_path / "whole.blend", compress=compress).read_bytes()
        for share in (0.001, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9):
            paths.append(tmp_path / f"{'packed' if compress else 'plain'}{share}.blend")
            paths[-1].write_bytes(whole[: int(share * len(whole))])
            (out / paths[-1].name).write_text(OLDER)
    done = blender("weight", *paths, tmp_path / "whole.blend", "-o", out)
    assert done.returncode == 1
    lines = [line for line in done.stderr.splitlines() if line.startswith("araplbs: ")]
    assert [str(path) in line for path, line in zip(paths, lines, strict=True)] == [True] * 14
    assert all((out / path.name).read_text() == OLDER for path in paths)
    objects = opened(out / "whole.blend")
    assert_good(objects["Tube"], objects["Rig"])


def bad_file(kind, path, good):
    if kind == "text":
        path.write_text("no Blender file")
    elif kind == "empty":
        path.write_bytes(b"")
    elif kind == "truncated":
        path.write_bytes(good[: len(good) // 2])
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "no armature":
        new_scene()
        add_tube(rings=3, sides=3)
        save(path)
    elif kind == "flat":
        new_scene()
        rig = add_armature()
        tube = add_tube(rings=3, sides=3)
        bind(tube, rig)
        tube.scale.x = 0
        save(path)
    elif kind == "no vertices":
        new_scene()
        rig = add_armature()
        bind(add_mesh("Empty", [], []), rig)
        save(path)
    # otherwise, there is no such file


KINDS = ["text", "empty", "truncated", "fifo", "folder", "no armature", "flat", "no vertices"]


def test_a_hundred_files(tmp_path):
    """Of the hundred files, 20 are bad. Each of these is named and keeps its old output, and the
    other 80 are processed."""
    vertices, _faces = tube_arrays(rings=4, sides=4)
    good = character(tmp_path / "good.blend", rings=4, sides=4).read_bytes()
    folder, out, report = tmp_path / "in", tmp_path / "out", tmp_path / "report.json"
    folder.mkdir()
    out.mkdir()
    paths, bad = [], set()
    for i in range(100):
        paths.append(folder / f"{i:03}.blend")
        (out / paths[-1].name).write_text(OLDER)
        if i % 5 == 2:
            bad.add(i)
            bad_file([*KINDS, "missing", "missing"][i // 5 % 10], paths[-1], good)
        else:
            paths[-1].write_bytes(good)
    done = blender("weight", *paths, "-o", out, "--json", report)
    assert done.returncode == 1
    lines = [line for line in done.stderr.splitlines() if line.startswith("araplbs: ")]
    assert len(lines) == len(bad) == 20
    assert all(f"{paths[i]}: " in line for i, line in zip(sorted(bad), lines, strict=True))
    entries = json.loads(report.read_text())["files"]
    assert {i for i, entry in enumerate(entries) if "error" in entry} == bad
    assert len(entries) == 100 and folder_of(out) == [path.name for path in paths]
    for i, path in enumerate(paths):
        content = (out / path.name).read_bytes()
        assert content == OLDER.encode() if i in bad else is_whole(content), path
        if i not in bad:
            assert entries[i]["armatures"][0]["vertices"] == len(vertices)
    for i in (0, 53, 99):
        objects = opened(out / paths[i].name)
        assert_good(objects["Tube"], objects["Rig"])
