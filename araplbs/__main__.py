"""python -m araplbs: the command, if it is not on the path."""

import sys

from .cli.main import main

sys.exit(main())
