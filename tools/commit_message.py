"""Checks a commit message: the subject must have at most 72 characters and no period at the end,
and an empty line must follow the subject.

usage: commit_message.py FILE     as git's hook commit-msg calls it; .pre-commit-config.yaml
"""

import re
import sys
from pathlib import Path

MOST = 72
VERBS = {"Bring", "Embed", "Feed", "Need", "Ping", "Seed", "Shed", "Speed", "String", "Wed"}
OF_GIT = re.compile(r"(Merge|Revert|fixup!|squash!|amend!) ")  # subjects that git writes itself


def faults(message):
    """Return sentences about the faults of a message. The comments that git adds in the editor are
    ignored."""
    lines = [line for line in message.splitlines() if not line.startswith("#")]
    subject = lines[0] if lines else ""
    if OF_GIT.match(subject):
        return
    if not subject.strip():
        yield "there is no subject"
    if len(subject) > MOST:
        yield f"the subject has {len(subject)} characters: at most {MOST}"
    if subject.endswith("."):
        yield "the subject ends with a period"
    first = subject.split()[0] if subject.strip() else ""
    if first.endswith(("ed", "ing")) and first not in VERBS:
        yield f"the subject begins with {first!r}: write it in the imperative"
    if len(lines) > 1 and lines[1].strip():
        yield "the second line is not empty"


if __name__ == "__main__":
    found = list(faults(Path(sys.argv[1]).read_text("utf-8")))
    for fault in found:
        print(f"commit message: {fault}", file=sys.stderr)
    sys.exit(bool(found))
