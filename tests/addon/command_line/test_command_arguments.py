"""For every wrong argument, blender -c araplbs exits with code 2 and a sentence on standard error,
before any file is opened or written. Also tests its help, patterns, --json -, --quiet and
--preset."""

import json
import os
import subprocess

import araplbs
import bpy
import pytest
from command import blender, folder_of, needs_executable, opened, run, save
from flaws import weighted
from scenes import add_tube, addon, assert_good, entries, package, tube_and_rig

pytestmark = pytest.mark.outside  # argparse, of Python 3.13 in Blender 5.2 and of 3.11 in others
IN = ["weight", "in.blend"]
WEIGHT = [*IN, "-o", "out.blend"]
WRONG = [
    (["paint"], "paint is not a command: must be weight, transfer"),
    (["weigh", "in.blend"], "weigh is not a command"),
    (["--frob"], "unrecognized arguments: --frob|required"),
    (["weight"], "required: IN.blend"),
    (IN, "--output is missing: specify a file or a folder, or use --in-place"),
    ([*IN, "-o"], "expected one argument"),
    ([*IN, "-o", ""], "--output is empty"),
    (["weight", "missing.blend", "-o", "out.blend"], "missing.blend: no such file"),
    (["weight", "no*.blend", "-o", "folder"], "no*.blend: no file matches this"),
    (["weight", "folder", "-o", "out.blend"], "folder: a folder, not a .blend file"),
    ([*IN, "-o", "README.txt"], "--output README.txt: is neither a .blend file nor a folder"),
    ([*IN, "-o", "out.glb"], "is neither a .blend file nor a folder"),
    ([*IN, "-o", "in.blend"], "would replace an input: use --in-place"),
    ([*IN, "-o", "folder/../in.blend"], "would replace an input: use --in-place"),
    ([*IN, "-o", "."], "would replace an input: use --in-place"),
    ([*IN, "--in-place", "-o", "out.blend"], "--in-place and --output cannot be used together"),
    (
        [*IN, "other.blend", "-o", "out.blend"],
        "--output out.blend is one file, but there are 2 inputs",
    ),
    ([*IN, "folder/in.blend", "-o", "new"], "two inputs would become new"),
    ([*IN, "other.blend", "-o", "notes.txt"], "is neither a .blend file nor a folder"),
    ([*WEIGHT, "--max-influences", "-1"], "--max-influences is -1: must be from 0 to 32767"),
    ([*WEIGHT, "--max-influences", "four"], "invalid int value: 'four'"),
    ([*WEIGHT, "--max-infl", "8"], "unrecognized arguments: --max-infl 8"),
    ([*WEIGHT, "--preset", "nintendo"], "there is no preset named nintendo: as-published, crisp"),
    ([*WEIGHT, "--jobs", "0"], "--jobs is 0: must be at least 1"),
    ([*WEIGHT, "--timeout", "-1"], "--timeout -1: must be 0 or more seconds"),
    ([*WEIGHT, "--resume"], "--resume needs --report FOLDER"),
    ([*WEIGHT, "--report", "notes.txt"], "--report notes.txt: not a folder"),
    ([*WEIGHT, "--json", "notes.txt"], "'notes.txt' already exists"),
    ([*WEIGHT, "--json", "data.json"], "'data.json' already exists"),
    ([*WEIGHT, "--json", "in.blend"], "would replace the input"),
    ([*WEIGHT, "--json", "out.blend"], "would replace the output"),
    ([*WEIGHT, "--only-new", "--start-from", "present"], "cannot be used together"),
    (["check"], "required: IN.blend"),
    (["check", "in.blend", "-o", "out.blend"], "unrecognized arguments"),
    (["check", "in.blend", "--fail-on", "sometimes"], "invalid choice: 'sometimes'"),
    (["compare", "in.blend"], "required: --output"),
    (["compare", "in.blend", "-o", "page", "--method", "frob"], "frob"),
    (["quantize", "in.blend", "-o", "out.blend", "--bits", "9"], "--bits|invalid choice"),
    (["transfer", "in.blend", "-o", "out.blend"], "required: --source"),
    (["repair", "in.blend", "-o", "out.blend", "--kind", "ugly"], "invalid choice: 'ugly'"),
    (["task", "plan.jsonl"], "required: NUMBER"),
    (["task", "plan.jsonl", "first"], "invalid int value: 'first'"),
    (["merge", "nowhere"], "there is no folder nowhere"),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    tube_and_rig()
    return save(folder / "in.blend").read_bytes()


@pytest.fixture
def place(made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    for name in ("in.blend", "other.blend", "folder/in.blend"):
        (tmp_path / name).write_bytes(made)
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "data.json").write_text('{"mine": 1}')
    return tmp_path


def content(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize(("arguments", "words"), WRONG, ids=lambda each: " ".join(each)[:60])
def test_exit_code_2(arguments, words, place, capfd):
    before = content(place)
    bpy.context.scene.name = "Untouched"
    assert run(*arguments) == 2
    said = capfd.readouterr()
    lines = [line for line in said.err.splitlines() if line.startswith("araplbs: ")]
    assert len(lines) == 1 and any(each in lines[0] for each in words.split("|")), said.err
    assert content(place) == before and bpy.context.scene.name == "Untouched"


def test_where_help_is(capfd):
    run("weight", "--frob")
    assert "(see blender -c araplbs weight --help)" in capfd.readouterr().err


def test_results_of_wrong_arguments():
    """The results contain the reason, so a farm receives it."""
    results = []
    assert addon("cli").run(["weight", "missing.blend", "-o", "out.blend"], results) == 2
    assert results == [{"error": "missing.blend: no such file"}]


@needs_executable
def test_exit_codes_of_the_executable(place):
    assert blender(*WEIGHT, "--swing", 500).returncode == 2
    assert blender().returncode == 0


def test_help(capfd):
    """The help appears if there are no arguments. Every command is in exactly one group and has an
    example. Commands for programs are not listed."""
    arguments = package("blender.arguments")
    assert run() == 0
    text = capfd.readouterr().out
    named = [name for _title, names in arguments.GROUPS for name in names]
    commands = [command.name for command in addon("cli").COMMANDS]
    assert sorted(named) == sorted([*commands, "merge"]) and len(set(named)) == len(named)
    for title, names in arguments.GROUPS:
        assert f"{title}:" in text and all(f"\n  {name} " in text for name in names)
    assert "examples:" in text and "exit codes:" in text
    assert "serve" not in text and "task" not in text
    for name in commands:
        assert run(name, "--help") == 0
        text = capfd.readouterr().out
        assert f"blender -c araplbs {name} " in text.partition("examples:")[2]
        assert "None" not in text and "SUPPRESS" not in text
        assert text.startswith(f"usage: blender -c araplbs {name} IN.blend")
        assert max(map(len, text.partition("options")[0].splitlines())) <= 100
        assert text.count("(default: on)") + text.count("(default: off)") < 30
    run("check", "--help")
    text = capfd.readouterr().out
    assert "The weights are optimized" not in text and "Report different weights" in text


def test_examples_of_the_help():
    """Each example consists of arguments that its command accepts."""
    arguments = package("blender.arguments")
    parser = arguments.make_parser(addon("cli").COMMANDS)
    for name, examples in arguments.EXAMPLES.items():
        for words in examples:
            assert parser.parse_args([name, *words.split()]).command == name


def test_names_of_the_panel(place):
    assert run(*WEIGHT, "--json", "a.json", "--firmness", 3, "--crispness", 0.01) == 0
    plain = ["--bone-spring-stiffness", 3, "--min-gain", 0.01]
    assert run(*IN, "-o", "b.blend", "--json", "b.json", *plain) == 0
    used = [report_in(place / name) for name in ("a.json", "b.json")]
    assert used[0]["options"] == used[1]["options"]
    assert (
        used[0]["options"]["bone_spring_stiffness"] == 3 and used[0]["options"]["min_gain"] == 0.01
    )


def report_in(path):
    return json.loads(path.read_text())["files"][0]["armatures"][0]


def test_preset(place, monkeypatch):
    """A preset is found by its name in any letter case, also if it is the user's own; options given
    explicitly take precedence."""
    folder = place / "presets"
    folder.mkdir()
    (folder / "My_Game.py").write_text("op.max_influences = 3\nop.swing = 0.5\nop.other = 1\n")
    usual = bpy.utils.preset_paths
    monkeypatch.setattr(bpy.utils, "preset_paths", lambda name: [*usual(name), str(folder)])
    for words, wanted in [
        (["--preset", "film"], {"max_influences": 0}),
        (["--preset", "Game 8", "--max-influences", "5"], {"max_influences": 5}),
        (["--preset", "as-published"], {"paper_constraints": True, "control_bones": "INCLUDE"}),
        (["--preset", "my-game"], {"max_influences": 3, "swing": pytest.approx(0.5)}),
    ]:
        assert run(*WEIGHT, "--json", "a.json", *words) == 0
        used = report_in(place / "a.json")["options"]
        assert {name: used[name] for name in wanted} == wanted


def test_patterns(place):
    """Windows shells do not expand patterns. A file that matches twice is processed once."""
    assert run("weight", "*.blend", "o*.blend", "-o", "out") == 0
    assert folder_of(place / "out") == ["in.blend", "other.blend"]
    (place / "[x].blend").write_bytes((place / "in.blend").read_bytes())
    assert run("weight", "[x].blend", "-o", "single.blend") == 0, "a name before a pattern"


def test_in_place(place):
    assert run(*IN, "other.blend", "--in-place") == 0
    for name in ("in.blend", "other.blend"):
        objects = opened(place / name)
        assert_good(objects["Tube"], objects["Rig"])
    assert folder_of(place) == ["data.json", "folder", "in.blend", "notes.txt", "other.blend"]


def test_in_place_by_jobs(place):
    words = ["--in-place", "--jobs", 2, "--report", "reports"]
    assert run(*IN, "other.blend", *words) == 0
    assert all(any(entries(opened(place / name)["Tube"])) for name in ("in.blend", "other.blend"))
    assert run(*IN, "other.blend", *words, "--resume") == 0


def test_json_to_standard_output(place, capfd):
    """Standard output contains only the JSON. Everything else, including Blender's own lines, is on
    standard error."""
    package("blender.standard_output")._flush()  # lines of Blender's start may wait in its buffer
    capfd.readouterr()
    assert run(*WEIGHT, "--json", "-") == 0
    said = capfd.readouterr()
    report = json.loads(said.out)
    assert report["generator"] == "araplbs results" and report["schema"] == 1
    assert report["command"] == "weight" and report["files"][0]["output"] == "out.blend"
    assert "192 vertices, 3 bones" in said.err and not (place / "-").exists()
    (place / "bad.blend").write_text("text")
    assert run("weight", "bad.blend", "-o", "out.blend", "--json", "-") == 1
    assert json.loads(capfd.readouterr().out)["files"][0]["error"] == "not a .blend file"
    assert run("check", "out.blend", "--json", "-", "--quiet", "--fail-on", "never") == 0
    said = capfd.readouterr()
    assert json.loads(said.out)["command"] == "check" and said.err == ""


def test_quiet(place, capfd):
    package("blender.standard_output")._flush()
    capfd.readouterr()
    assert run(*WEIGHT, "--quiet") == 0
    said = capfd.readouterr()
    assert said.out == "" and said.err == "" and (place / "out.blend").exists()
    assert run("weight", "notes.txt", "-o", "out2.blend", "-q") == 1
    assert "notes.txt: not a .blend file" in capfd.readouterr().err
    assert run(*IN, "-o", "out3.blend", "--plan", "-q") == 0
    assert '"seconds"' in capfd.readouterr().out, "--plan is asked for to be read"


@pytest.mark.skipif(
    os.name == "nt" or not os.path.exists("/dev/fd"),
    reason="neither Windows, though wine shows Linux's, nor a chroot without /proc has such paths",
)
def test_json_into_a_pipe_by_number(place):
    """The JSON can be written to a pipe, as with --json >(jq .) in a shell."""
    read, write = os.pipe()
    try:
        assert run(*WEIGHT, "--json", f"/dev/fd/{write}") == 0
        os.close(write)
        with open(read, closefd=False) as file:
            assert json.loads(file.read())["command"] == "weight"
    finally:
        os.close(read)


@needs_executable
def test_what_the_executable_prints(place):
    """The JSON comes last. The lines before it come from Blender's start, such as a warning about
    file systems in a chroot."""
    before = blender("--version").stdout.removesuffix(f"araplbs {araplbs.__version__}\n")
    done = blender(*WEIGHT, "--json", "-")
    lines = done.stdout.splitlines(keepends=True)
    at = lines.index("{\n")
    assert done.returncode == 0 and json.loads("".join(lines[at:]))["schema"] == 1
    assert at == len(before.splitlines())
    done = blender(*WEIGHT, "--quiet")
    assert done.returncode == 0 and len(done.stdout.splitlines()) == at


def test_only_new_where_nothing_is_new(tmp_path, capfd, monkeypatch):
    """A batch can be repeated: it succeeds, and the output exists."""
    monkeypatch.chdir(tmp_path)
    tube, _rig = weighted()
    before = entries(tube)
    source = save(tmp_path / "in.blend")
    words = ["--only-new", "--json", "report.json", "--report", "reports"]
    assert run("weight", source, "-o", "out.blend", *words) == 0
    none = "Every vertex of 'Tube' already has weights: there is nothing new to weight"
    assert none in capfd.readouterr().out
    assert entries(opened(tmp_path / "out.blend")["Tube"]) == before
    (report,) = json.loads((tmp_path / "report.json").read_text())["files"][0]["armatures"]
    assert report["nothing_new"] == none
    assert run("weight", source, "--in-place", "--only-new", "--jobs", 1) == 0


def test_nothing_new_next_to_something_new(tmp_path):
    tube_and_rig()
    save(tmp_path / "in.blend")
    objects = opened(tmp_path / "in.blend")
    add_tube("Other", shift=(5, 0, 0)).parent = objects["Rig"]
    save(tmp_path / "two.blend")
    assert run("weight", tmp_path / "two.blend", "-o", tmp_path / "out.blend", "--only-new") == 0
    assert all(all(entries(opened(tmp_path / "out.blend")[n])) for n in ("Tube", "Other"))


def test_version(capfd):
    assert run("--version") == 0
    assert capfd.readouterr().out == f"araplbs {araplbs.__version__}\n"


@needs_executable
def test_pipe_that_is_closed(place):
    """No traceback appears if the pipe is closed, as with `| head -1`. Blender's own lines may
    cause the signal."""
    process = subprocess.Popen(
        [bpy.app.binary_path, "-c", "araplbs", *WEIGHT, "--json", "-"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdout.close()
    errors = process.stderr.read()
    assert process.wait() in (0, -13) and "Traceback" not in errors, errors
