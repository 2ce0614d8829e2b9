"""The tolerances of a backend, as its tests state them."""

from __future__ import annotations

import runpy
from typing import TYPE_CHECKING

from scipy_dispatch.testing import Tolerance, allowed_for
from scipy_tests._routes import BACKENDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scipy_tests._routes import Array


class Tolerances:
    """The tolerances of a backend, read from its tests.

    Parameters
    ----------
    folder : str
        The folder of the backend below ``example_backends``.
    """

    def __init__(self, folder: str) -> None:
        file = BACKENDS / folder / "tests" / "tolerances.py"
        self._table = runpy.run_path(str(file))["TOLERANCES"]

    def of(self, name: str, arrays: Sequence[Array]) -> Tolerance:
        """Return the widest tolerance that applies to the data type of any of the arrays."""
        return allowed_for(self._table[name], arrays)
