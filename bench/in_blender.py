"""Runs a script of this folder in a headless Blender with separate user settings."""

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build/bench"  # output of a run; not in git


def run_in_blender(script, *arguments, limit):
    """Returns None, or one line that states what went wrong. limit: seconds."""
    user = BUILD / "user"
    shutil.rmtree(user, ignore_errors=True)
    BUILD.mkdir(parents=True, exist_ok=True)
    log = BUILD / "log.txt"
    command = [ROOT / "tools/run_blender.sh", ROOT / "bench" / script, *arguments]
    with log.open("w") as output:
        try:
            code = subprocess.run(
                [str(word) for word in command],
                env={**os.environ, "BLENDER_USER_RESOURCES": str(user)},
                stdout=output, stderr=subprocess.STDOUT, timeout=limit, check=False,
            ).returncode  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"longer than {limit} s"
    if not code:
        return None
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1] if lines else f"exit code {code}"
