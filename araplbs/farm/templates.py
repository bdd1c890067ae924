"""Contains templates for other render managers, namely a job template (Open Job Description), a job
type (Flamenco) and a script (Slurm). The job template and the Slurm script run the tasks of a plan
by number. Flamenco creates its own tasks from options, whose template is generated from the table
of all options."""

from __future__ import annotations

import json
import math
from dataclasses import fields
from typing import Any

from ..model.options import Options

OPENJD = """\
specificationVersion: jobtemplate-2023-09
name: "ARAP weights"
parameterDefinitions:
  - name: Plan
    type: PATH
    objectType: FILE
    dataFlow: IN
    description: The output of `blender -c araplbs weight ... --plan`.
  - name: Tasks
    type: INT
    minValue: 1
    description: Number of tasks in the plan.
  - name: Reports
    type: PATH
    objectType: DIRECTORY
    dataFlow: INOUT
    description: The folder of reports given to the plan (--report).
  - name: Blender
    type: STRING
    default: blender
steps:
  - name: Weight
    parameterSpace:
      taskParameterDefinitions:
        - name: Number
          type: INT
          range: "1-{{Param.Tasks}}"
    hostRequirements:
      amounts:
        - name: amount.worker.vcpu
          min: 1
        - name: amount.worker.memory
          min: 2048
    script:
      actions:
        onRun:
          command: "{{Param.Blender}}"
          args: ["-c", "araplbs", "task", "{{Param.Plan}}", "{{Task.Param.Number}}"]
          cancelation:
            mode: NOTIFY_THEN_TERMINATE
            notifyPeriodInSeconds: 30
  - name: Merge
    dependencies:
      - dependsOn: Weight
    script:
      actions:
        onRun:
          command: "{{Param.Blender}}"
          args: ["-c", "araplbs", "merge", "{{Param.Reports}}"]
"""

SLURM = """\
#!/bin/bash
# sbatch --array=1-$(grep -c '^{' plan.jsonl) araplbs.slurm plan.jsonl
#SBATCH --job-name=araplbs
#SBATCH --cpus-per-task=1
#SBATCH --mem=2G
#SBATCH --requeue
# Slurm asks with SIGTERM and kills after KillWait (30 s): no file is left half.
exec "${BLENDER:-blender}" -c araplbs task "$1" "$SLURM_ARRAY_TASK_ID"
"""

FLAMENCO = """\
// ARAP weights for many files: a job type of Flamenco, made from the options of the extension.
const OPTIONS = %(options)s;

const JOB_TYPE = {
    label: "ARAP Weights",
    description: "Skinning weights that make the posed meshes as rigid as possible",
    settings: [
        { key: "files", type: "string", required: true,
          description: "The .blend files, separated by semicolons" },
        { key: "output", type: "string", subtype: "dir_path", required: true,
          description: "The folder for files with the same names" },
        { key: "reports", type: "string", subtype: "dir_path", required: true,
          description: "The folder for reports, the table and the page" },
        { key: "threads", type: "int32", default: 0, description: "Threads of each task; 0: all" },
    ].concat(OPTIONS.map(option => option.setting)),
};

function optionArguments(settings) {
    const found = [];
    for (const option of OPTIONS) {
        const value = settings[option.setting.key];
        if (value === undefined || value === option.setting.default) {
            continue;
        }
        if (option.setting.type === "bool") {
            found.push((value ? "--" : "--no-") + option.flag);
        } else {
            found.push("--" + option.flag + "=" + value);
        }
    }
    return found;
}

function compileJob(job) {
    const settings = job.settings;
    const files = settings.files.split(";").map(file => file.trim()).filter(file => file);
    if (!files.length) {
        throw "files: there is no file in this list";
    }
    const names = files.map(file => file.split(/[\\\\/]/).pop());
    const twice = names.filter((name, i) => names.indexOf(name) !== i);
    if (twice.length) {
        throw "several files are named " + twice[0] + ": give them other jobs";
    }
    const merge = author.Task("merge the reports", "blender");
    merge.addCommand(blender(["merge", settings.reports]));
    files.forEach((file, i) => {
        const task = author.Task("weight " + names[i], "blender");
        const words = ["weight", file, "--output=" + settings.output + "/" + names[i],
            "--report=" + settings.reports, "--no-merge", "--resume"];
        if (settings.threads) {
            words.push("--threads=" + settings.threads);
        }
        task.addCommand(blender(words.concat(optionArguments(settings))));
        job.addTask(task);
        merge.addDependency(task);
    });
    job.addTask(merge);
}

function blender(words) {
    return author.Command("exec", { exe: "{blender}", args: ["-c", "araplbs"].concat(words) });
}
"""

TEMPLATES = {"openjd": OPENJD, "slurm": SLURM, "flamenco": FLAMENCO}


def _flamenco_options() -> list[dict[str, Any]]:
    found = []
    for option in fields(Options):
        about: Any = option.metadata
        default: Any = option.default
        setting: dict[str, Any] = {
            "key": option.name,
            "visible": "submission",
            "description": about["description"],
        }
        if isinstance(default, bool):
            setting |= {"type": "bool", "default": default}
        elif "choices" in about:
            names = [name.lower() for name, _label, _tip in about["choices"]]
            setting |= {"type": "string", "default": default.lower(), "choices": names}
        elif isinstance(default, str):
            setting |= {"type": "string", "subtype": "file_path", "default": default}
        else:
            turn = math.degrees if about.get("angle") else lambda value: value
            limits = {"min": turn(about["min"]), "max": turn(about["max"])}
            if isinstance(default, float):
                setting |= {"type": "float", "default": round(turn(default), 6)}
            else:
                setting |= {"type": "int32", "default": default}
            setting["propargs"] = limits
        found.append({"flag": option.name.replace("_", "-"), "setting": setting})
    return found


def make(name: str) -> str:
    text = TEMPLATES[name]
    if name == "flamenco":
        return text % {"options": json.dumps(_flamenco_options(), indent=4)}
    return text
