"""The identities of NumPy's functions."""

from __future__ import annotations

from typing import Any

import pytest

np = pytest.importorskip("numpy")


@pytest.mark.parametrize("identity", ["numpy:ndarray", "numpy:men", "numpy:pi", "numpy.nothing:f"])
def test_no_function_of_numpy(duck_class: Any, identity: str) -> None:
    """T4: what is none cannot be looked up."""
    with pytest.raises(KeyError):
        duck_class.system.lookup(identity, (duck_class,))


def test_every_function_of_numpy_can_be_looked_up(duck_class: Any) -> None:
    """T4: by its identity, and by what NumPy passes."""
    testing = pytest.importorskip("numpy.testing.overrides")
    assert np.char.join  # NumPy imports this module when it is used
    lookup, adoption = duck_class.system.lookup, duck_class.system._dispatcher.adoptions[0]
    names = set()
    for function in testing.get_overridable_numpy_array_functions():
        identity = f"{function.__module__}:{function.__qualname__}"
        assert lookup(identity, (duck_class,)) is not None, identity
        assert adoption.find(function) is adoption.find(identity), identity
        names.add(identity)
    ufuncs = [each for each in vars(np).values() if isinstance(each, np.ufunc)]
    for ufunc in ufuncs:
        assert adoption.find(ufunc).identifier == f"numpy:{ufunc.__name__}"
    assert len(names) > 280
    assert len(ufuncs) > 80
