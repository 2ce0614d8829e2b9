"""TensorLy's own tests, as far as they are quick."""

from __future__ import annotations

import pytest
from tensorly_tests import run

from library_tests import differences

TESTS = {
    "numpy": [
        *("tensorly.tests", "tensorly.tenalg", "tensorly.contrib", "tensorly.metrics"),
        *("tensorly.random", "tensorly.solvers", "tensorly.utils"),
    ],
    "jax": ["tensorly.tests.test_core", "tensorly.tenalg.tests.test_tenalg_backend"],
}


@pytest.mark.xdist_group("tensorly")
@pytest.mark.parametrize("backend", TESTS)
def test_what_passes_with_tensorly_passes_here(backend: str) -> None:
    """With the same functions, whichever framework computes."""
    theirs = run("TensorLy's", TESTS[backend], backend)
    assert "failed" not in theirs.values()
    assert differences(theirs, run("these", TESTS[backend], backend)) == {}
    assert len(theirs) > 20
