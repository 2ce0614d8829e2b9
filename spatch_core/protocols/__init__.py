"""Protocols by which classes take part in functions: the library's own, NumPy's and PyTorch's.

With a library's own protocol, a class overrides the functions by a class method, without a
description. With those of NumPy and PyTorch, a class implements no function itself: the backends of
a library answer.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..backend_system import BackendSystem

__all__ = ["library_functions", "numpy_functions", "torch_functions"]


def library_functions(system: BackendSystem) -> type[Any]:
    """Return the base of a library's own class, which lets subclasses override its functions.

    It has the method of the library's protocol, and nothing else. For a subclass, the method calls
    the function as if there were no protocol, and turns objects of the library's class in the
    result into objects of the subclass, by ``result.as_subclass(cls)``, which the library's class
    defines. The library's class itself does not override: its calls cost no more than without a
    protocol.

    Parameters
    ----------
    system : BackendSystem
        Made with ``protocol=``.

    Returns
    -------
    type
        The same class for each call with this system.

    Raises
    ------
    TypeError
        If the system has no protocol.

    Examples
    --------
    >>> from spatch_core import BackendSystem
    >>> system = BackendSystem(None, "MYLIB", ["~mylib:Array"], protocol="__mylib_function__")
    >>> class Array(library_functions(system)):
    ...     @system.dispatchable("self")
    ...     def twice(self):
    ...         return Array()
    ...     def as_subclass(self, cls):
    ...         return cls()
    >>> class Image(Array):
    ...     pass
    >>> type(Image().twice()).__name__, type(Array().twice()).__name__
    ('Image', 'Array')
    """
    from .library import make_class

    return make_class(system)


def numpy_functions(system: BackendSystem) -> type[Any]:
    """Return a class by which instances take part in NumPy's functions.

    It has ``__array_function__`` and ``__array_ufunc__``, and nothing else. Backends implement a
    function by the module and the name that it has in NumPy, such as ``"numpy:mean"`` or
    ``"numpy.linalg:norm"``, and a method of a ufunc by ``"numpy:add.reduce"``.

    Parameters
    ----------
    system : BackendSystem
        The system whose backends answer.

    Returns
    -------
    type
        The same class for each call with this system. It goes before `numpy.ndarray` among bases.

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
        The system whose backends answer.

    Returns
    -------
    type
        The same class for each call with this system. It goes before `torch.Tensor` among bases.
    """
    from .torch_function import make_class

    return make_class(system)
