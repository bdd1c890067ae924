"""python -m araplbs.mcp: runs the server on standard input and output."""

import sys

from .server import main

sys.exit(main(sys.argv[1:]))
