"""The folders that tests read. `pythonpath` in pyproject.toml and tests/gui/run_in_gui.py put this
one and those of the modules that tests share on sys.path."""

from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
CSRC = ROOT / "csrc"
DEMO = ROOT / "demo"
FIXTURES = TESTS / "core/fixtures"  # numbers of the reference implementation
SHARED = ROOT.parent / "shared"  # beside the project: characters, and the judge of all weights
DATA = SHARED / "data"
RIGS = SHARED / "rigs"
