"""Every command of docs/manual/predicted.md runs, and the page's numbers equal those of the
benchmark page."""

import re
import shlex

import pytest
from gltf_files import bare, plain
from gltf_validity import faults
from paths import ROOT
from rig_files import write_rig

PAGE = (ROOT / "docs/manual/predicted.md").read_text("utf-8")
BENCH = (ROOT / "docs/bench/predicted.md").read_text("utf-8")


@pytest.fixture
def main(main, tmp_path):
    plain().write(tmp_path / "rigged.glb")
    write_rig(tmp_path / "mesh.obj", tmp_path / "rig.txt")
    bare().write(tmp_path / "original.glb")
    assert main(["weight", "mesh.obj", "-o", "predicted.glb", "--from", "rig.txt", "-q"]) == 0
    return main


def test_commands(main, capsys):
    lines = re.findall(r"`(araplbs [^`]+)`", PAGE.partition("## ")[0])
    lines += re.search(r"^```\n(.*?)^```$", PAGE, re.M | re.S)[1].splitlines()
    assert len(lines) == 7
    for line in lines:
        words = shlex.split(line)[1:]
        more = ["--method", "present", "--method", "ours"] if words[0] == "compare" else []
        assert main([*words, *more]) == 0, capsys.readouterr().err
    for name in ("out.glb", "fresh.glb", "started.glb", "crisp.glb"):
        assert faults(name) == [], name


def test_numbers():
    mean = next(line for line in BENCH.splitlines() if line.startswith("| mean of 20 "))
    cells = [cell.strip() for cell in mean.strip("|").split("|")][-3:]
    stretch, worst, drift = ([float(each) for each in cell.split("/")] for cell in cells)
    shown = [
        [float(value) for value in re.findall(r"([\d.]+)(?: %)? (?=\|)", line)][-3:]
        for line in PAGE.splitlines()
        if line.startswith(("| stretch", "| worst", "| distance"))
    ]
    assert shown == [[round(each) for each in stretch], worst, drift]
