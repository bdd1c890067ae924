"""Describes the machine."""

import os
import re
from pathlib import Path

import araplbs

BUSY = 1.5  # waiting programs to a processor, over a quarter of an hour


def processors():
    return len(os.sched_getaffinity(0))


def is_busy():
    """Whether anything runs in addition to this benchmark, which uses one or two threads."""
    return os.getloadavg()[-1] > BUSY * processors()


def description():
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    found = re.search(r"model name\s*:\s*(.+)", text)
    size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return (
        f"{processors()} processors ({found.group(1) if found else 'unknown'}), "
        f"{size / 2**30:.0f} GiB RAM, SIMD {araplbs.simd}"
        + (", while other programs were running (times are approximate)" if is_busy() else "")
    )
