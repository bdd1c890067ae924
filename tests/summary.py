"""Prints the table at the end of the tests, with one line for each run.

usage: summary.py ROWS.tsv     with lines  name  version  seconds  exit code  results.xml
                               or          name  -  -  skip|fail  reason
results.xml may also be a folder with such results and the logs of their runs. If a run only
collects its tests, they count as passed.
Next to RESULTS.xml are NAME.before and NAME.times, the output of bash's `times` at the beginning
and at the end: on a crowded machine, processor seconds say more than wall-clock seconds. The exit
code is 1 if a run failed or if there was none. Failures come last, one line per test, because the
end of a long log is the part that everybody sees."""

import re
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

TOLD = 6  # failures of one run
COLLECTED = re.compile(r"(\d+) tests collected in")


def cases_of(results):
    files = sorted(results.glob("*.xml")) if results.is_dir() else [results]
    return [case for file in files for case in ElementTree.parse(file).iter("testcase")]


def collected(results):
    """The number of tests that pytest has only collected, according to the logs."""
    logs = results.glob("*.log") if results.is_dir() else [results.with_suffix(".log")]
    lines = (line for log in logs for line in log.read_text(errors="replace").splitlines())
    return sum(int(found[1]) for line in lines if (found := COLLECTED.match(line)))


def failures(results):
    """A line for each failed test, with the first line of its message."""
    for case in cases_of(results):
        for found in case:
            if found.tag in ("failure", "error"):
                message = (found.get("message") or found.text or "").strip().partition("\n")[0]
                yield f"{case.get('name')}: {message}"[:150]


def places(log):
    """The tests in which a run was stopped or crashed, or else the end of its log."""
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    found = [line for line in lines if line.lstrip().startswith('File "') and "test_" in line]
    return [line.strip()[:150] for line in found[:2] or lines[-3:]]


def counts(results):
    cases = cases_of(results)
    kinds = Counter(
        next((c.tag for c in case if c.tag in ("failure", "error", "skipped")), "passed")
        for case in cases
    )
    reasons = Counter(s.get("message", "") for case in cases for s in case.iter("skipped"))
    passed = kinds["passed"] + collected(results)
    return passed, kinds["failure"] + kinds["error"], kinds["skipped"], reasons


def processor(results):
    """Processor seconds of a run and all its processes."""
    before, after = (Path(results).with_suffix(end) for end in (".before", ".times"))
    if not after.exists():
        return "-"
    return str(round(seconds(after) - (seconds(before) if before.exists() else 0)))


def seconds(times):
    found = re.findall(r"(\d+)m([\d.]+)s", times.read_text())
    return sum(60 * int(minutes) + float(part) for minutes, part in found)


def row(name, version, seconds, code, what):
    """The cells of one line, whether the run succeeded, and the reasons for skipped tests."""
    if code in ("skip", "fail"):
        return [name, "-", "-", "-", "-", "-", "-", f"{code}: {what}"], code == "skip", {}
    if not Path(what).exists():
        note = f"no results, exit code {code}"
        return [name, version, "-", "-", "-", seconds, processor(what), note], False, {}
    passed, failed, skipped, reasons = counts(Path(what))
    good = code == "0" and failed == 0 and passed > 0
    note = "" if good or failed else f"exit code {code}"
    first = Path(what).with_suffix(".first.log")
    if first.exists():
        note = f"{note} crashed, repeated: {first.name}".strip()
    cells = [name, version, str(passed), str(failed), str(skipped), seconds, processor(what), note]
    return cells, good, reasons


def main():
    rows = [line.split("\t") for line in Path(sys.argv[1]).read_text().splitlines()]
    table = [["run", "Blender", "passed", "failed", "skipped", "seconds", "processor", ""]]
    good, reasons = bool(rows), Counter()
    for cells, fine, skipped in (row(*r) for r in rows):
        table.append(cells)
        good &= fine
        reasons.update(skipped)
    for reason, times in sorted(reasons.items()):
        print(f"  skipped {times} x {reason}")
    widths = [max(len(cells[i]) for cells in table) for i in range(7)]
    for cells in table:
        left = [cells[i].ljust(widths[i]) for i in range(2)]
        right = [cells[i].rjust(widths[i]) for i in range(2, 7)]
        print("  ".join([*left, *right, cells[7]]).rstrip())
    for name, _, _, code, what in rows:
        results = Path(what)
        if results.with_suffix(".first.log").exists():
            print(f"{name}, first:", *places(results.with_suffix(".first.log")), sep="\n  ")
        if code not in ("0", "skip", "fail") and not results.exists():
            print(f"{name}:", *places(results.with_suffix(".log")), sep="\n  ")
        elif results.exists():
            lines = list(failures(results))
            for line in lines[:TOLD]:
                print(f"{name}: {line}")
            if len(lines) > TOLD:
                print(f"{name}: and {len(lines) - TOLD} more")
    print("all good" if good else "FAILED")
    return 0 if good else 1


sys.exit(main())
