"""The default number of threads: from the environment variables that farms and other libraries
use."""

import os
from collections.abc import Mapping

VARIABLES = ("ARAPLBS_THREADS", "OMP_NUM_THREADS")


def thread_count(threads: int = 0, environment: Mapping[str, str] | None = None) -> int:
    """`threads` itself, or for 0 the number in the first of VARIABLES, or 0: all processors. A list
    of numbers, one for each level of nesting, counts by its first."""
    if threads:
        return threads
    environment = os.environ if environment is None else environment
    for name in VARIABLES:
        first = environment.get(name, "").partition(",")[0].strip()
        if first.isdecimal() and int(first) > 0:
            return int(first)
    return 0
