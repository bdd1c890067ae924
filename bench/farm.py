"""Simulates a studio's nightly run on one machine: characters per hour with one process and with
several, the start of Blender, memory over many files, and empty tasks of Dask's scheduler.

farm.py ZIP OUTPUT_FOLDER [CHARACTER...]     (called by bench.py)"""

import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from installed_blender import InstalledBlender, find_blender
from paths import DATA
from results import say, table, write_page

REPEATS = 2
WAYS = {
    "one process, 2 threads": ("--threads", "2"),
    "`--jobs 1`, 1 thread": ("--jobs", "1", "--threads", "1"),
    "`--jobs 2`, 1 thread each": ("--jobs", "2", "--threads", "2"),
}
FILES = 500
MOST_BYTES = 600_000  # of a file that the many are copies of
TASKS = 2000
NOTE = """\
The test weights all characters of the shared folder with default settings. Times are in seconds
from the start to the end of the command, as means of {repeats} rounds in which the methods
alternate. *Alone* means that each file gets a new Blender process."""
DASK = """
import sys, time
from distributed import Client
with Client(sys.argv[1]) as client:
    client.wait_for_workers(2, timeout=60)
    client.gather(client.map(abs, range(50), pure=False))
    start = time.perf_counter()
    client.gather(client.map(abs, range(int(sys.argv[2])), pure=False))
    print("RATE", int(sys.argv[2]) / (time.perf_counter() - start))
"""


def seconds_of(blender, files, *words):
    with tempfile.TemporaryDirectory() as out:
        start = time.perf_counter()
        done = blender.run("weight", *files, "-o", f"{out}/", *words)
        seconds = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(done.stderr)
    return seconds


def throughput(blender, files):
    """{way: mean seconds}, including a new Blender for each file."""
    runs = {way: [] for way in (*WAYS, "alone")}
    for _ in range(REPEATS):
        for way, words in WAYS.items():
            runs[way].append(seconds_of(blender, files, *words))
            say(f"{way}: {runs[way][-1]:.1f} s")
    runs["alone"].append(sum(seconds_of(blender, [file], "--threads", "2") for file in files))
    return {way: statistics.mean(seconds) for way, seconds in runs.items()}


def resident(pid):
    """Bytes of the largest process below this one, which is a shell for some versions of
    Blender."""
    most, waiting = 0, [pid]
    while waiting:
        pid = waiting.pop()
        with suppress(OSError):
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
            most = max([most, *(1024 * int(x.split()[1]) for x in lines if x.startswith("VmRSS:"))])
            waiting += Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return most


def memory(blender, files, count=FILES):
    """The memory of one process, in bytes, after each of `count` files. The given files are
    repeated."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        names = [Path(folder, f"{k:04}_{files[k % len(files)].name}") for k in range(count)]
        for k, name in enumerate(names):
            shutil.copy(files[k % len(files)], name)
        words = [blender.command, "-c", "araplbs", "weight", *names, "-o", f"{folder}/out/"]
        with subprocess.Popen(
            [*map(str, words), "--threads", "2"], stdout=subprocess.PIPE, text=True
        ) as process:
            for line in process.stdout:
                if line.startswith("  saved "):
                    found.append(resident(process.pid) or found[-1])
                    if len(found) % 50 == 0:
                        say(f"{len(found)} files: {found[-1] / 1e6:.0f} MB")
    if len(found) != count:
        raise SystemExit(f"{len(found)} of {count} files were saved")
    return found


def scheduler_rate():
    """Empty tasks per second of Dask's scheduler and two workers on this machine, or None without
    Dask."""
    with suppress(ImportError):
        import distributed  # noqa: F401

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        port = address.rpartition(":")[2]
        scheduler = ("dask_scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard")
        worker = ("dask_worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny")
        started = [
            subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{command}", *words],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )
            for command, *words in (scheduler, worker, worker)
        ]  # fmt: skip
        try:
            done = subprocess.run(
                [sys.executable, "-c", DASK, address, str(TASKS)],
                capture_output=True, text=True, timeout=300, check=False,
            )  # fmt: skip
        finally:
            for process in started:
                process.terminate()
            for process in started:
                process.wait()
        for line in done.stdout.splitlines():
            if line.startswith("RATE "):
                return float(line.split()[1])
        raise SystemExit(done.stderr)
    return None


def main(zip_path, output, *names):
    files = sorted(DATA.glob("*.blend"))
    files = [file for file in files if not names or file.stem in names]
    if not files:
        raise SystemExit(f"farm: no characters in {DATA}")
    with tempfile.TemporaryDirectory() as folder:
        blender = InstalledBlender(Path(folder), find_blender(), zip_path)
        seconds = throughput(blender, files)
        small = [file for file in files if file.stat().st_size <= MOST_BYTES]
        used = memory(blender, small, FILES if not names else 2 * len(small)) if small else []
    best = seconds["one process, 2 threads"]
    rows = [
        [way, f"{took:.1f}", f"{3600 * len(files) / took:,.0f}", f"{best / took:.2f}"]
        for way, took in seconds.items()
    ]
    blocks = [
        table(["way", "seconds", "characters an hour", "times one process"], rows),
        NOTE.format(repeats=REPEATS),
    ]
    if used:
        tenth = len(used) // 10
        blocks.append(
            f"One process weights {len(used)} files ({len(small)} small characters, repeated). "
            f"The process uses {used[0] / 1e6:.0f} MB of memory after the first file, "
            f"{used[tenth] / 1e6:.0f} MB after {tenth + 1}, {used[len(used) // 2] / 1e6:.0f} MB "
            f"after half, and {used[-1] / 1e6:.0f} MB after the last. The maximum is "
            f"{max(used) / 1e6:.0f} MB."
        )
    rate = scheduler_rate()
    if rate:
        mean = best / len(files)
        blocks.append(
            f"Dask's scheduler with two workers handles {rate:,.0f} empty tasks per second on "
            f"this machine. If each file takes {mean:.1f} s, the mean of this test, "
            f"{rate * mean:,.0f} processes would keep the scheduler fully busy."
        )
    write_page(output, "farm", "Many files", *blocks, rows={"seconds": seconds, "bytes": used})


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
