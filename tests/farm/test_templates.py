"""Formats of other farm engines: openjd runs the job template, a JavaScript engine runs the job
type against Flamenco's documented interface, and bash runs the script as Slurm would."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import farm
from patience import HANGS

# Names that the manager gives to a script, by its documentation: author.Task and author.Command.
FLAMENCO = """
const author = {
    Task: (name, type) => ({ name, type, commands: [], dependencies: [],
        addCommand(command) { this.commands.push(command); },
        addDependency(task) { this.dependencies.push(task); } }),
    Command: (name, parameters) => ({ name, parameters }),
};
function compiled(settings) {
    const all = {};
    for (const each of JOB_TYPE.settings) {
        if ("default" in each) { all[each.key] = each.default; }
    }
    const job = { settings: Object.assign(all, settings), tasks: [],
        addTask(task) { this.tasks.push(task); } };
    compileJob(job);
    return JSON.stringify(job.tasks);
}
"""


def template(name):
    done = subprocess.run(farm("template", name), capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture
def few(blender, characters, tmp_path):
    """A plan of two tasks."""
    out, reports, plan = tmp_path / "out", tmp_path / "reports", tmp_path / "plan.jsonl"
    words = ["-o", f"{out}/", "--report", reports, "--threads", 1, "--plan"]
    done = blender.run("weight", *characters[:2], *words)
    assert done.returncode == 0, done.stderr
    plan.write_text(done.stdout)
    return plan, out, reports


@pytest.mark.slow
def test_openjd(few, blender, characters, reference, tmp_path):
    pytest.importorskip("openjd.cli")
    plan, out, reports = few
    path = tmp_path / "araplbs.yaml"
    path.write_text(template("openjd"))
    tool = Path(sys.executable).with_name("openjd")
    subprocess.run([tool, "check", path], check=True, capture_output=True)
    words = [f"Plan={plan}", "Tasks=2", f"Reports={reports}", f"Blender={blender.command}"]
    done = subprocess.run(
        [tool, "run", path, "--step", "Merge", "--run-dependencies"]
        + [each for word in words for each in ("-p", word)],
        capture_output=True,
        text=True,
        timeout=HANGS,
    )
    assert done.returncode == 0 and "Chunks run: 3" in done.stdout, done.stdout
    names = [path.name for path in characters[:2]]
    assert blender.weights(sorted(out.glob("*"))) == {name: reference[name] for name in names}
    assert {"index.html", "table.json"} <= set(os.listdir(reports))


@pytest.mark.slow
def test_slurm(few, blender, characters, reference, tmp_path):
    """The script runs as an array of two tasks, without Slurm itself."""
    plan, out, _reports = few
    script = tmp_path / "araplbs.slurm"
    script.write_text(template("slurm"))
    for number in ("1", "2"):
        environment = os.environ | {
            "SLURM_ARRAY_TASK_ID": number,
            "BLENDER": str(blender.command),
        }
        subprocess.run(["bash", script, plan], check=True, env=environment, capture_output=True)
    names = [path.name for path in characters[:2]]
    assert blender.weights(sorted(out.glob("*"))) == {name: reference[name] for name in names}


@pytest.fixture
def flamenco():
    quickjs = pytest.importorskip("quickjs")
    context = quickjs.Context()
    context.eval(template("flamenco") + FLAMENCO)
    return context


def test_flamenco_settings(flamenco):
    settings = json.loads(flamenco.eval("JSON.stringify(JOB_TYPE.settings)"))
    found = {setting["key"]: setting for setting in settings}
    assert found["max_influences"]["type"] == "int32" and found["max_influences"]["default"] == 4
    assert found["swing"]["default"] == 60 and found["swing"]["propargs"]["max"] == 180
    assert found["initial"]["choices"] == ["heat", "nearest", "boneglow", "bbw", "biharmonic"]
    assert found["symmetric"]["type"] == "bool"
    types = {"string", "int32", "float", "bool"}
    assert all(setting["type"] in types and setting["description"] for setting in settings)


def test_flamenco_tasks(flamenco):
    settings = {
        "files": "/a/x.blend; C:\\b\\y.blend;",
        "output": "/out",
        "reports": "/rep",
        "threads": 2,
        "max_influences": 8,
        "symmetric": False,
    }
    tasks = json.loads(flamenco.eval(f"compiled({json.dumps(settings)})"))
    assert [task["name"] for task in tasks] == [
        "weight x.blend",
        "weight y.blend",
        "merge the reports",
    ]
    assert all(task["type"] == "blender" for task in tasks)
    assert len(tasks[2]["dependencies"]) == 2 and not tasks[0]["dependencies"]
    (command,) = tasks[1]["commands"]
    assert command["name"] == "exec" and command["parameters"]["exe"] == "{blender}"
    assert command["parameters"]["args"] == [
        *("-c", "araplbs", "weight", "C:\\b\\y.blend", "--output=/out/y.blend"),
        *("--report=/rep", "--no-merge", "--resume", "--threads=2"),
        *("--max-influences=8", "--no-symmetric"),
    ]


@pytest.mark.parametrize(
    ("files", "sentence"),
    [(" ; ", "there is no file"), ("/a/x.blend;/b/x.blend", "several files are named x.blend")],
)
def test_flamenco_refuses(files, sentence, flamenco):
    settings = {"files": files, "output": "/out", "reports": "/rep"}
    code = f"try {{ compiled({json.dumps(settings)}); '' }} catch (error) {{ String(error) }}"
    assert sentence in flamenco.eval(code)


@pytest.mark.slow
def test_flamenco_command(flamenco, blender, characters, reference, tmp_path):
    """The commands of the job type exist in our command line."""
    settings = {
        "files": str(characters[0]),
        "output": str(tmp_path / "out"),
        "reports": str(tmp_path / "rep"),
        "threads": 1,
    }
    (tmp_path / "out").mkdir()
    for task in json.loads(flamenco.eval(f"compiled({json.dumps(settings)})")):
        words = task["commands"][0]["parameters"]["args"]
        subprocess.run([blender.command, *words], check=True, capture_output=True)
    name = characters[0].name
    assert blender.weights([tmp_path / "out" / name]) == {name: reference[name]}
    assert (tmp_path / "rep/index.html").exists()
