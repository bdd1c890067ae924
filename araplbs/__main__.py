"""python -m araplbs: the command, where it is not on the path."""

import sys

from .cli.main import main

sys.exit(main())
