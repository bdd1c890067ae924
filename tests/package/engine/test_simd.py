"""The kernels in use are the widest that the processor supports. A build that does not look for
wider kernels would give the same weights and only take longer, so nobody would notice."""

import ctypes
import platform
import subprocess
import sys
from pathlib import Path

import araplbs
import pytest

AVX512 = {"avx512f", "avx512dq", "avx512vl"}


def processor_flags():
    """The answer of the system, in Linux's words."""
    if sys.platform.startswith("linux"):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return set(next(line for line in lines if line.startswith("flags")).split(":")[1].split())
    if sys.platform == "win32":
        has = ctypes.windll.kernel32.IsProcessorFeaturePresent
        return {"avx2", "fma"} if has(40) else set()  # PF_AVX2_INSTRUCTIONS_AVAILABLE
    said = subprocess.run(
        ["sysctl", "-n", "hw.optional.avx2_0"], capture_output=True, text=True, check=False
    )
    return {"avx2", "fma"} if said.stdout.strip() == "1" else set()


def is_x86():
    return platform.machine().lower() in ("x86_64", "amd64")


@pytest.mark.skipif(not is_x86(), reason="instruction sets of x86-64")
def test_wide_instructions_are_used_where_there_are_any():
    flags = processor_flags()
    if {"avx2", "fma"} <= flags:
        assert araplbs.simd in ("avx2", "avx512")
    if sys.platform.startswith("linux"):
        wide = "avx512" if flags >= AVX512 else "avx2" if flags >= {"avx2", "fma"} else "portable"
        assert araplbs.simd == wide


@pytest.mark.skipif(is_x86(), reason="processors other than x86-64")
def test_other_processors_take_the_portable_kernels():
    assert araplbs.simd == "portable"
