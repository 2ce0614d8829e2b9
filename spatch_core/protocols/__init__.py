"""Serve NumPy's and PyTorch's own functions from the backends of a library.

A class that inherits from what these functions return needs no table of its own: NumPy and PyTorch
ask it what to call, and it asks the library's backends.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..backend_system import BackendSystem

__all__ = ["numpy_functions", "torch_functions"]


def numpy_functions(system: BackendSystem) -> type[Any]:
    """Return a class by which instances take part in NumPy's functions.

    It has ``__array_function__`` and ``__array_ufunc__``, and nothing else. Backends implement a
    function by the module and the name that it has in NumPy, such as ``"numpy:mean"`` or
    ``"numpy.linalg:norm"``, and a method of a ufunc by ``"numpy:add.reduce"``.

    Parameters
    ----------
    system : BackendSystem
        Whose backends answer.

    Returns
    -------
    type
        The same class for each call with this system.

    Examples
    --------
    >>> import numpy as np
    >>> from spatch_core import BackendSystem
    >>> system = BackendSystem(None, "LENGTHS")
    >>> class Lengths(numpy_functions(system)):
    ...     def __init__(self, metres):
    ...         self.metres = np.asarray(metres)
    >>> system.register({
    ...     "name": "lengths",
    ...     "primary_types": [f"~{Lengths.__module__}:Lengths"],
    ...     "functions": {"numpy:mean": {"function": lambda a: Lengths(a.metres.mean())}},
    ... })
    >>> np.mean(Lengths([1.0, 3.0])).metres
    array(2.)
    """
    from .array_function import make_class

    return make_class(system)


def torch_functions(system: BackendSystem) -> type[Any]:
    """Return a class by which instances take part in PyTorch's functions.

    It has ``__torch_function__``, and nothing else. Backends implement a function by the module
    and the name that it has in PyTorch, such as ``"torch:mean"`` or ``"torch.nn.functional:relu"``,
    a method of a tensor by ``"torch:Tensor.add"``, and a property by
    ``"torch:Tensor.shape.__get__"``.

    Parameters
    ----------
    system : BackendSystem
        Whose backends answer.

    Returns
    -------
    type
        The same class for each call with this system.
    """
    from .torch_function import make_class

    return make_class(system)
