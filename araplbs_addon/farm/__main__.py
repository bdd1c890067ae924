"""Runs araplbs.farm in a Python that has the extension's files but not the package:

python EXTENSION/farm run PLAN --scheduler ADDRESS
"""

import importlib.util
import sys
from pathlib import Path

if __name__ == "__main__":
    if not importlib.util.find_spec("araplbs"):  # the Python modules in the wheel are sufficient
        sys.path += map(str, Path(__file__).resolve().parents[1].glob("wheels/araplbs-*.whl"))
    from araplbs.farm.__main__ import main

    sys.exit(main(sys.argv[1:]))
