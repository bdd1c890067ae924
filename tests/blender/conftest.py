import pytest
from scenes import new_scene


@pytest.fixture(autouse=True)
def empty_scene():
    """Every test starts with an empty scene in Object mode."""
    new_scene()
