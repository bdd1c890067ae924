"""Memory does not grow with the number of poses, with bones that move nothing, nor from one solver
to the next."""

import os
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc"),
    pytest.mark.skipif(
        "asan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer keeps freed memory"
    ),
]

SCRIPT = """
import sys
import numpy as np, araplbs
def resident():
    for line in open("/proc/self/status"):
        if line.startswith(sys.argv[1]):
            return int(line.split()[1])
side, along = 40, 200
angle = np.tile(np.arange(side) * 2 * np.pi / side, along)
z = np.repeat(np.linspace(0, 2, along), side)
vertices = np.column_stack([0.2 * np.cos(angle), 0.2 * np.sin(angle), z])
i = np.arange(side * (along - 1)); k = i // side * side + (i + 1) % side
triangles = np.stack([[i, k, k + side], [i, k + side, i + side]]).transpose(0, 2, 1).reshape(-1, 3)
joints = np.column_stack([np.zeros(9), np.zeros(9), np.linspace(0, 2, 9)])
def solve(poses):
    solver = araplbs.Solver(
        vertices, triangles, joints[:-1], joints[1:], np.arange(8) - 1, pose_count=poses,
        iterations=2, max_influences=0, threads=1)
    solver.solve()
    return solver.energy
"""


def run(code, field):
    # Large blocks go back to the system when they are freed: glibc otherwise comes to keep up to
    # 64 MB at the end of its heap, or not, as small blocks happen to lie.
    try:
        result = subprocess.run(
            [sys.executable, "-c", SCRIPT + code, field],
            capture_output=True, text=True, check=True,
            env={**os.environ, "MALLOC_MMAP_THRESHOLD_": "131072"},
        )  # fmt: skip
    except OSError as error:  # this Python runs under an emulator
        pytest.skip(f"{sys.executable} cannot be started: {error}")
    return [int(n) for n in result.stdout.split()]


def test_many_poses_take_no_more_memory_than_few():
    """One rotation per vertex and pose alone would take 8000 x 380 x 72 bytes, 219 MB."""
    (few,), (many,) = (run(f"solve({poses}); print(resident())", "VmHWM") for poses in (20, 400))
    assert many - few < 4000, f"{few} kB with 20 poses, {many} kB with 400"


def test_bones_without_weights_take_little_memory():
    """The displacements of all components would take 2000 x 2000 x 48 bytes, 192 MB."""
    code = """
    bones = 4 if few else 2000
    heads = np.arange(3 * bones).reshape(-1, 3) / (3 * bones)
    weights = np.zeros((400, bones)); weights[:, :4] = 0.25
    araplbs.Solver(
        vertices[:400], triangles[:350], heads, heads + 0.1, np.full(bones, -1), iterations=1,
        pose_count=4, weights=weights, start_from_weights=True, max_influences=0, threads=1)
    print(resident())
"""
    (few,), (many,) = (run(f"few = {few}\nif True:{code}", "VmHWM") for few in (True, False))
    assert many - few < 100_000, f"{few} kB with 4 bones, {many} kB with 2000"


def test_solvers_leave_nothing_behind():
    """Each takes tens of megabytes; after the first few, the process no longer grows."""
    code = """
for _ in range(8): solve(20)
print(resident())
for _ in range(8): solve(20)
print(resident())
"""
    before, after = run(code, "VmRSS")
    assert after - before < 6000, f"{before} kB, then {after} kB"
