"""python -m araplbs: runs the command `araplbs` even if it is not on the PATH."""

import sys

from .cli.main import main

if __name__ == "__main__":
    sys.exit(main())
