"""The reports of a folder that contains other files, and plans that somebody has edited."""

import json
import os
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from araplbs.base.refusal import Refused
from araplbs.cli.batch import reports, tasks
from araplbs.disk import outputs
from araplbs.reports.pictures import png

AFTER = {"surface_strain": 0.1, "limb_drift": 0.2, "volume_change": -0.01}


def armature(strain=0.1, **more):
    return {
        "armature": "Rig",
        "vertices": 10,
        "deforming_bones": 3,
        "deformation": {"after": AFTER | {"surface_strain": strain}},
        "total_seconds": 1.5,
        "warnings": [],
    } | more


def entry(name, *armatures, **more):
    return {"input": f"/in/{name}", "output": f"/out/{name}", "armatures": list(armatures)} | more


def report(folder, name, *entries):
    path = Path(folder, f"{name}.json")
    outputs.write_json(path, outputs.REPORT, {"version": "1", "files": list(entries)})
    return path


NAMES = ["a.blend", "b.BLEND", "c.blend1", "d", "e.blend.old"]


def test_outputs_of_any_name(tmp_path):
    for k, name in enumerate(NAMES):
        report(tmp_path, name, entry(name, armature(k / 10)))
    assert reports.merge(tmp_path) == (len(NAMES), [])
    rows = json.loads((tmp_path / "table.json").read_text())["rows"]
    assert [Path(row["file"]).name for row in rows] == NAMES[::-1], "the most strain first"
    page = (tmp_path / "index.html").read_text()
    assert all(f"/in/{name}" in page for name in NAMES)


ODD = {
    "truncated": '{"generator": "araplbs report", "fil',
    "no list": '{"generator": "araplbs report", "files": 7}',
    "no files": '{"generator": "araplbs report"}',
    "number": '{"generator": "araplbs report", "files": [7]}',
    "no armatures": json.dumps(entry("x") | {"armatures": None}),
    "armature": json.dumps(entry("x", 7)),
    "strain": json.dumps(entry("x", armature("much"))),
    "NaN": json.dumps(entry("x", armature(float("nan")))),
    "huge": json.dumps(entry("x", armature(vertices=True))),
    "name": json.dumps(entry("x", armature(armature=7))),
    "deformation": json.dumps(entry("x", armature(deformation=[1]))),
    "picture": json.dumps(entry("x", armature(picture=7))),
    "error": json.dumps(entry("x", error=7)),
    "warnings": json.dumps(entry("x", armature(warnings=None))),
    "deep": '{"generator": "araplbs report", "files": ' + "[" * 100_000,
    "bytes": '{"generator": "araplbs report", "files": "\udcff"}',
}


def odd(what):
    text = ODD[what]
    if '"generator"' not in text:
        text = '{"generator": "araplbs report", "files": [' + text + "]}"
    return text.encode("utf-8", "surrogateescape")


@pytest.mark.parametrize("what", ODD)
def test_one_odd_report(what, tmp_path):
    """The report is named, and the others form the table and the page."""
    report(tmp_path, "a.blend", entry("a.blend", armature()))
    (tmp_path / "old.json").write_bytes(odd(what))
    count, (line,) = reports.merge(tmp_path)
    assert count == 1 and f"{tmp_path / 'old.json'} is not a complete report: " in line
    assert "/in/a.blend" in (tmp_path / "index.html").read_text()


def test_files_of_others(tmp_path):
    """These are not reports. Only a file with the name of a report is mentioned."""
    report(tmp_path, "a.blend", entry("a.blend", armature()))
    (tmp_path / "package.json").write_text('{"name": "mine"}')
    (tmp_path / "old.blend.json").write_text('{"fil')
    (tmp_path / "x.blend.json").mkdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "fifo.json")
    outputs.write_json(tmp_path / "all.json", outputs.RESULTS, {"files": [entry("z")]})
    count, bad = reports.merge(tmp_path)
    assert count == 1 and bad[0] == f"{tmp_path / 'old.blend.json'} is not a report"
    assert bad[1:] == [f"{tmp_path / 'x.blend.json'} is not a report"]


def test_no_report(tmp_path):
    with pytest.raises(Refused, match="there is no folder"):
        reports.merge(tmp_path / "nowhere")
    with pytest.raises(Refused, match=r"there is no report in the folder .*$"):
        reports.merge(tmp_path)
    (tmp_path / "a.blend.json").write_bytes(odd("truncated"))
    with pytest.raises(
        Refused, match=r"no report in the folder .*a.blend.json is not a complete report"
    ):
        reports.merge(tmp_path)


@pytest.mark.parametrize("name", ["index.html", "table.json"])
def test_merge_replaces_nothing_foreign(name, tmp_path):
    report(tmp_path, "a.blend", entry("a.blend", armature()))
    (tmp_path / name).write_text("MINE")
    with pytest.raises(Refused, match=f"{name}' already exists"):
        reports.merge(tmp_path)
    assert (tmp_path / name).read_text() == "MINE"
    assert sorted(os.listdir(tmp_path)) == ["a.blend.json", name]


def test_names_that_are_no_utf8(tmp_path):
    """Such names are shown by their bytes, and links lead to the files."""
    name = "\udcff\udcfe.blend"  # how Python has the bytes FF FE of a POSIX name
    picture = reports.picture_name(name, 0)
    shown = armature(picture=picture)
    report(tmp_path, "any.blend", entry(name, shown, warnings=[f"{name} is odd"]))
    report(tmp_path, "failed.blend", entry(name, error=f"{name}: no"))
    assert reports.merge(tmp_path) == (2, [])
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert r"\udcff\udcfe.blend" in page and f"src='{quote(os.fsencode(picture))}'" in page


def test_pictures(tmp_path):
    """Pictures are found by their own names in the folder, whichever location a report states."""
    content = png(np.zeros((2, 2, 4), np.uint8), outputs.PICTURE.generator)
    made = [{}, {}]
    reports.write_pictures(tmp_path, "x/a.blend", made, [content, None])
    assert made == [{"picture": "a.blend.0.png"}, {}] and os.listdir(tmp_path) == ["a.blend.0.png"]
    report(tmp_path, "a.blend", entry("a.blend", armature(picture="../../secret.png")))
    reports.merge(tmp_path)
    assert "src='secret.png'" in (tmp_path / "index.html").read_text()


TASK = {
    **{"input": "/in/a.blend", "output": "/out/a.blend", "seconds": 1.5, "bytes": 300},
    **{"timeout": 3600, "arguments": ["weight", "/in/a.blend", "--output=/out/a.blend"]},
}
EDITED = {
    "no dictionary": [],
    "input": TASK | {"input": 7},
    "output": {name: value for name, value in TASK.items() if name != "output"},
    "infinite": TASK | {"bytes": float("inf")},
    "NaN": TASK | {"seconds": float("nan")},
    "negative": TASK | {"bytes": -1},
    "none": TASK | {"bytes": None},
    "true": TASK | {"seconds": True},
    "text": TASK | {"seconds": "1"},
    "timeout": TASK | {"timeout": float("inf")},
    "no arguments": TASK | {"arguments": []},
    "numbers": TASK | {"arguments": [7]},
    "words": TASK | {"arguments": "weight"},
    "task": TASK | {"arguments": ["task", "plan", "1"]},
    "serve": TASK | {"arguments": ["serve", "key"]},
    "merge": TASK | {"arguments": ["merge", "/"]},
    "option": TASK | {"arguments": ["--help"]},
}


@pytest.mark.parametrize("what", EDITED)
def test_edited_plan(what, tmp_path):
    plan = tmp_path / "plan.jsonl"
    plan.write_text(f"Blender 4.5\n{json.dumps(TASK)}\n")
    assert tasks.read_plan(plan) == [TASK]
    line = json.dumps(EDITED[what]).replace("[]", "{}") if what == "no dictionary" else None
    plan.write_text(f"{json.dumps(TASK)}\n{line or json.dumps(EDITED[what])}\n")
    with pytest.raises(Refused, match=r"line 2 of the plan .*plan.jsonl is not a task"):
        tasks.read_plan(plan)


def test_plans_that_are_no_json(tmp_path):
    plan = tmp_path / "plan.jsonl"
    for text in ("{" * 100_000, '{"a":' * 100_000, "{no", '{"bytes": 1e999}'):
        plan.write_text(text)
        with pytest.raises(Refused, match=r"line 1 of the plan .* is not a task"):
            tasks.read_plan(plan)
    plan.write_bytes(b"\xff{")
    with pytest.raises(Refused, match="cannot be read"):
        tasks.read_plan(plan)
