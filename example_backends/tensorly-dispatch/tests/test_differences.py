"""What TensorLy's managers of backends get wrong, and these do not."""

from __future__ import annotations

from pathlib import Path

import differences
import pytest

from spatch_core.testing import run_python


@pytest.mark.parametrize("module", ["tensorly", "tensorly_dispatch"])
def test_tensorly_fails_and_this_does_not(module: str) -> None:
    """The same functions, with one more import."""
    program = f"import {module}, differences; print(*differences.failing())"
    here, variables = Path(differences.__file__).parent, {"TENSORLY_BACKEND": "numpy"}
    done = run_python(program, path=[here], environment=variables)
    names = [each.__name__ for each in differences.FUNCTIONS]
    assert done.stdout.split() == ([] if module == "tensorly_dispatch" else names)
