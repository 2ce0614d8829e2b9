"""The identities of NumPy's functions."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize("identity", ["numpy:ndarray", "numpy:men", "numpy:pi", "numpy.nothing:f"])
def test_no_function_of_numpy(duck_class: Any, identity: str) -> None:
    """T4: what is none cannot be looked up."""
    with pytest.raises(KeyError):
        duck_class.system.lookup(identity, (duck_class,))
