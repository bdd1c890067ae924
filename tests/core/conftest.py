"""What all core tests share: see also shapes.py, reference.py and shared_data.py."""

import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(20180813)
