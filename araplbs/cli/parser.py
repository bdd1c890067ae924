"""The parser of arguments that both commands use, araplbs and blender -c araplbs."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from .errors import WrongArguments


class Parser(argparse.ArgumentParser):
    """Without abbreviations: a new option would change what an old script means. Raises
    WrongArguments instead of ending the process."""

    def __init__(self, **settings: Any) -> None:
        settings.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(allow_abbrev=False, **settings)

    def error(self, message: str) -> NoReturn:
        raise WrongArguments(f"{message} (see {self.prog} --help)")
