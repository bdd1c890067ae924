"""The argument parser of both commands, araplbs and blender -c araplbs."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from .errors import WrongArguments


class Parser(argparse.ArgumentParser):
    """A parser that accepts no abbreviations, because a new option could change the meaning of an
    old script. Raises WrongArguments instead of ending the process."""

    def __init__(self, **settings: Any) -> None:
        settings.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(allow_abbrev=False, **settings)

    def error(self, message: str) -> NoReturn:
        raise WrongArguments(f"{message} (see {self.prog} --help)")
