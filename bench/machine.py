"""Describes the machine and measures its performance: memory bandwidth and arithmetic.

NumPy does the work. Its BLAS must use one thread (OPENBLAS_NUM_THREADS=1, which bench.py sets), so
only the requested threads run."""

import os
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import araplbs
import numpy as np

LARGE = 1 << 25  # numbers in an array that no cache holds: 256 MiB
REPEATS = 8
BUSY = 1.5  # waiting programs to a processor, over a quarter of an hour


def processors():
    return len(os.sched_getaffinity(0))


def memory_available():
    """Bytes that are still available to programs."""
    text = Path("/proc/meminfo").read_text(encoding="ascii")
    return 1024 * int(re.search(r"MemAvailable:\s+(\d+)", text).group(1))


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


def best(function, repeats=REPEATS):
    """Seconds of the fastest of several calls."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def side_by_side(threads, task):
    """Seconds of task(thread) on all threads at once, the best of several runs."""
    with ThreadPoolExecutor(threads) as pool:
        return best(lambda: list(pool.map(task, range(threads))))


def add_bandwidth(threads):
    """Bytes per second of c = a + b: two arrays are read and one is written (STREAM's "add")."""
    a, b, c = (np.ones(LARGE) for _ in range(3))
    cut = np.linspace(0, LARGE, threads + 1).astype(int)

    def add(thread):
        part = slice(cut[thread], cut[thread + 1])
        np.add(a[part], b[part], out=c[part])

    return 3 * a.nbytes / side_by_side(threads, add)


def read_bandwidth(threads):
    """Bytes per second of a dot product of an array with itself, which only reads."""
    a = np.ones(LARGE)
    parts = np.array_split(a, threads)
    return a.nbytes / side_by_side(threads, lambda thread: parts[thread] @ parts[thread])


def read_seconds(size):
    """Seconds to read an array of `size` doubles repeatedly, from any cache in which it fits, on
    one thread."""
    a = np.ones(size)
    calls = max(1, 2_000_000 // size)
    return best(lambda: [a @ a for _ in range(calls)], 2 * REPEATS) / calls


def arithmetic(threads, real, size=1536):
    """Additions and multiplications per second in products of square matrices."""
    matrices = [np.ones((size, size), real) for _ in range(threads)]
    out = [np.empty_like(m) for m in matrices]

    def multiply(thread):
        np.matmul(matrices[thread], matrices[thread], out=out[thread])

    return threads * 2 * size**3 / side_by_side(threads, multiply)
