"""Arrays with physical units, whose functions are NumPy's.

The classes have no table of functions: what NumPy passes to them goes to the backends of the group
``duck_array.backends``. This package brings two, one for NumPy's arrays and one for JAX's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spatch_core import BackendSystem
from spatch_core.protocols import numpy_functions

from .units import Unit, UnitError

__all__ = ["JaxQuantity", "Quantity", "Unit", "UnitError", "backend_opts", "system"]

system = BackendSystem(
    "duck_array.backends",
    "DUCK_ARRAY",
    default_primary_types=["numpy:ndarray"],
    default_secondary_types=["~numpy:generic"],
)
backend_opts = system.backend_opts
_Served: Any = numpy_functions(system)
_Operators: Any = np.lib.mixins.NDArrayOperatorsMixin  # whose annotations call it abstract


class Quantity(_Served, _Operators):  # type: ignore[misc]
    """An array with a unit.

    Parameters
    ----------
    values : array-like
        The numbers.
    unit : Unit or str
        Such as ``"m s-2"``; ``""`` for pure numbers.
    """

    def __init__(self, values: Any, unit: Unit | str = "") -> None:
        self.values = self._array(values)
        self.unit = unit if isinstance(unit, Unit) else Unit.parse(unit)

    @staticmethod
    def _array(values: Any) -> Any:
        return np.asarray(values)

    shape = property(lambda self: self.values.shape)
    T = property(np.transpose)
    ndim = property(lambda self: self.values.ndim)
    size = property(lambda self: self.values.size)
    dtype = property(lambda self: self.values.dtype)

    # NumPy's functions bind as methods do.
    sum, mean, std, var = np.sum, np.mean, np.std, np.var
    min, max, reshape, ravel, squeeze = np.min, np.max, np.reshape, np.ravel, np.squeeze

    def astype(self, dtype: Any, **kwargs: Any) -> Any:
        return type(self)(self.values.astype(dtype, **kwargs), self.unit)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: Any) -> Any:
        return type(self)(self.values[index], self.unit)

    def __setitem__(self, index: Any, value: Any) -> None:
        self.values[index] = getattr(value, "values", value) if _agrees(self, value) else None

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if self.unit.powers:
            raise UnitError(f"an array of {self.unit} would lose its unit; take .values")
        return np.array(self.values, dtype)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.values!r}, {str(self.unit)!r})"


class JaxQuantity(Quantity):
    """The same on JAX's arrays."""

    @staticmethod
    def _array(values: Any) -> Any:
        import jax.numpy as jnp

        return jnp.asarray(values)


def _agrees(quantity: Quantity, value: Any) -> bool:
    """Whether a value has the unit of a quantity.

    Raises
    ------
    UnitError
        If it has another one.
    """
    unit = getattr(value, "unit", Unit())
    if unit != quantity.unit:
        raise UnitError(f"{unit} is not {quantity.unit}")
    return True
