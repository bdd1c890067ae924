"""Measures, for every function, the longest time between two calls of progress, during which Esc
has no effect.

heard.py ZIP OUTPUT_FOLDER     (called by bench.py)"""

import sys
import time
from pathlib import Path

from in_blender import ROOT
from results import say, table, write_page

sys.path.append(str(ROOT / "tests/package"))
import gaps

NOTE = """\
The test runs large problems for each function (`tests/package/gaps.py`) on one thread and
measures processor seconds. *calls*: number of calls of the progress function. *longest*: the
longest time between two calls, during which Esc has no effect. *stage*: the stages that the two
calls report. Functions check for Esc every 0.05 s if possible. If Esc is pressed during a
solver step, the work stops at the next point from which the step can restart, or at the end of
the step."""


def main(_zip_path, output, *_asked):
    lines = []
    for name in (*gaps.PROBLEMS, *gaps.LARGE):
        begin = time.thread_time()
        found = gaps.measure(name)
        seconds = time.thread_time() - begin
        lines.append(
            (name, f"{seconds:.1f}", str(found.calls), f"{found.longest:.3f}", found.where)
        )
        say(*lines[-1])
    head = ("problem", "s", "calls", "longest s", "stage")
    write_page(
        Path(output), "heard", "Delay until Esc takes effect", NOTE, table(head, lines), rows=lines
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
