"""Writes tables and pages in Markdown."""

import json
import sys

import machine
from in_blender import BUILD, ROOT

sys.path.append(str(ROOT / "tools"))
import bench_pages


def table(head, rows):
    """A table with aligned columns: the first column to the left, all others to the right."""
    cells = [[str(cell) for cell in row] for row in (head, *rows)]
    widths = [max(len(row[c]) for row in cells) for c in range(len(head))]
    first, *others = widths
    rule = [":" + "-" * max(first - 1, 1), *("-" * max(w - 1, 1) + ":" for w in others)]
    lines = [
        [row[0].ljust(first), *(cell.rjust(w) for cell, w in zip(row[1:], others, strict=True))]
        for row in cells
    ]
    lines.insert(1, rule)
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def write_page(output, part, title, *blocks, pictures=(), rows=None):
    """Writes output/PART.md from blocks of Markdown; `rows`, the raw numbers, go to build/bench."""
    output.mkdir(parents=True, exist_ok=True)
    BUILD.mkdir(parents=True, exist_ok=True)
    text = "\n\n".join(
        [
            f"# {title}",
            f"Written by `make bench PART={part}` on {machine.description()}; "
            f"{bench_pages.stamp()}.",
            *blocks,
            *(f"![{title}]({name})" for name in pictures),
        ]
    )
    (output / f"{part}.md").write_text(text + "\n")
    if rows is not None:
        (BUILD / f"{part}.json").write_text(json.dumps(rows, indent=1))
    print(f"\n{text}\n", flush=True)


def say(*words):
    print(*words, flush=True)
