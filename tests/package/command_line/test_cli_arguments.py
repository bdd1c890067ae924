"""For every wrong argument, the command araplbs exits with code 2 and a sentence on standard error,
before anything is read or written."""

import pytest
from gltf_files import plain


@pytest.fixture
def files(main, tmp_path):
    for name in ("in.glb", "other.glb"):
        plain().write(tmp_path / name)
    (tmp_path / "folder").mkdir()
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "data.json").write_text('{"mine": 1}')
    (tmp_path / "index.html").write_text("<p>mine</p>")
    return tmp_path


WEIGHT = ["weight", "in.glb", "-o", "out.glb"]
WRONG = [
    (["frob"], "frob is not a command"),
    (["--frob"], "unrecognized arguments|the command is missing"),
    (["weigh", "in.glb"], "weigh is not a command"),
    (["weight"], "required: FILE"),
    (["weight", "in.glb"], "--output is missing"),
    (["weight", "in.glb", "-o"], "expected one argument"),
    (["weight", "in.glb", "-o", ""], "--output is empty"),
    (["weight", "missing.glb", "-o", "out.glb"], "missing.glb: no such file"),
    (["weight", "*.vrm", "-o", "folder"], "*.vrm: no file matches this"),
    (["weight", "folder", "-o", "out.glb"], "folder: is a folder"),
    (["weight", "notes.txt", "-o", "out.glb"], "is not a .glb, .gltf, .vrm, .obj, .usd"),
    (["weight", "in.glb", "-o", "notes.txt"], "is neither a .glb"),
    (["weight", "in.glb", "-o", "out.fbx"], "is neither a .glb"),
    (["weight", "in.glb", "-o", "in.glb"], "would replace an input: use --in-place"),
    (["weight", "in.glb", "-o", "folder/../in.glb"], "would replace an input: use --in-place"),
    (["weight", "in.glb", "other.glb", "-o", "out.glb"], "is one file, but there are 2 inputs"),
    (["weight", "in.glb", "other.glb", "-o", "."], "would replace an input"),
    (["weight", "in.glb", "--in-place", "-o", "out.glb"], "cannot be used together"),
    (["weight", "in.glb", "folder/../in.glb", "-o", "folder"], "two inputs would become"),
    ([*WEIGHT, "--max-influences", "-1"], "--max-influences is -1: must be from 0 to 32767"),
    ([*WEIGHT, "--max-influences", "four"], "invalid int value: 'four'"),
    ([*WEIGHT, "--max-influences", "4.5"], "invalid int value: '4.5'"),
    ([*WEIGHT, "--max-influ", "8"], "unrecognized arguments"),
    ([*WEIGHT, "--swing", "500"], "--swing is 500 degrees: must be from 0 to 180 degrees"),
    ([*WEIGHT, "--twist", "nan"], "--twist is nan degrees: must be from 0 to 180 degrees"),
    ([*WEIGHT, "--firmness", "-1"], "--firmness is -1: must be from 0 to"),
    ([*WEIGHT, "--crispness", "2"], "--crispness is 2: must be from 0 to 1"),
    ([*WEIGHT, "--reach-poses", "1.5"], "--reach-poses is 1.5: must be from 0 to 1"),
    ([*WEIGHT, "--random-poses", "0"], "--random-poses is 0: must be from 1 to 10000"),
    ([*WEIGHT, "--seed", "-3"], "--seed is -3: must be from 0"),
    ([*WEIGHT, "--iterations", "0"], "--iterations is 0: must be from 1 to 10000"),
    ([*WEIGHT, "--animation-weight", "0"], "--animation-weight is 0: must be from 0.001"),
    ([*WEIGHT, "--initial-weights", "magic"], "invalid choice: 'magic'"),
    ([*WEIGHT, "--rigid-parts", "perhaps"], "invalid choice: 'perhaps'"),
    ([*WEIGHT, "--control-bones", "maybe"], "invalid choice: 'maybe'"),
    ([*WEIGHT, "--bone-directions", "up"], "invalid choice: 'up'"),
    ([*WEIGHT, "--my-animation", "markers"], "must be none or all for these files"),
    ([*WEIGHT, "--symmetric", "yes"], "unrecognized arguments: yes"),
    ([*WEIGHT, "--volume", "inside"], "unrecognized arguments"),
    ([*WEIGHT, "--threads", "-2"], "--threads is -2: must be 0 or more"),
    ([*WEIGHT, "--threads", "all"], "invalid int value: 'all'"),
    ([*WEIGHT, "--skeleton", "missing.glb"], "missing.glb: no such file"),
    ([*WEIGHT, "--skeleton", "notes.txt"], "notes.txt: is not a .glb"),
    ([*WEIGHT, "--json", "data.json"], "data.json already exists|'data.json' already exists"),
    ([*WEIGHT, "--json", "in.glb"], "would replace the input"),
    ([*WEIGHT, "--json", "out.glb"], "would replace the output"),
    ([*WEIGHT, "--report", "index.html"], "'index.html' already exists"),
    ([*WEIGHT, "--report", "notes.txt"], "--report notes.txt: not a folder"),
    ([*WEIGHT, "--resume"], "--resume needs --report FOLDER"),
    ([*WEIGHT, "--report", "page.html", "--resume"], "--resume needs --report FOLDER"),
    ([*WEIGHT, "--timeout", "-1"], "--timeout -1: must be 0 or more seconds"),
    ([*WEIGHT, "--timeout", "nan"], "--timeout nan: must be 0 or more seconds"),
    ([*WEIGHT, "--timeout", "inf"], "--timeout inf: must be 0 or more seconds"),
    (["repair", "in.glb", "-o", "out.glb", "--report", "a.html"], "must be a folder for this"),
    (
        ["weight", "in.glb", "-o", "other.glb", "--skeleton", "other.glb"],
        "would replace the skeleton",
    ),
    (["check"], "required: FILE"),
    (["check", "in.glb", "-o", "out.glb"], "unrecognized arguments"),
    (["check", "in.glb", "--fail-on", "sometimes"], "invalid choice: 'sometimes'"),
    (["check", "in.glb", "--firmness", "3"], "unrecognized arguments"),
    (["check", "in.glb", "--baseline", "missing.glb"], "missing.glb: no such file"),
    (["check", "in.glb", "--baseline", "other.glb", "--json", "other.glb"], "replace the baseline"),
]


def content(folder):
    return {
        path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


@pytest.mark.parametrize(("arguments", "words"), WRONG, ids=lambda each: " ".join(each)[:60])
def test_exit_code_2(main, files, capsys, arguments, words):
    before = content(files)
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith("araplbs: ") and said.err.count("\n") == 1
    assert any(each in said.err for each in words.split("|")), said.err
    assert content(files) == before


@pytest.mark.parametrize("arguments", [[], ["--help"], ["weight", "--help"], ["check", "-h"]])
def test_help(main, capsys, arguments):
    assert main(arguments) == 0
    said = capsys.readouterr()
    assert "examples:" in said.out and "exit codes" in said.out + "exit codes" and not said.err


def test_version(main, capsys):
    import araplbs

    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"araplbs {araplbs.__version__}\n"
