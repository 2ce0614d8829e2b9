"""Random calls of the functions in `random_calls`, compared with SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from comparison import check
from random_calls import GENERATORS


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", GENERATORS)
def test_as_scipy(name: str, precision: bool) -> None:
    for seed in range(4):
        args, settings = GENERATORS[name](np.random.default_rng(seed))
        check(name, *args, **settings)
