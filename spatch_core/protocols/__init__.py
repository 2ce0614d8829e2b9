"""Protocols by which classes take part in functions: the library's own.

A class overrides the functions of a library by a class method, without a description.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..backend_system import BackendSystem

__all__ = ["library_functions"]


def library_functions(system: BackendSystem) -> type[Any]:
    """Return the base of a library's own class, which lets subclasses override its functions.

    It has the method of the library's protocol, and nothing else: for a subclass, the call goes on
    as without the protocol, and what it returns of the library's class becomes one of the
    subclass, by ``result.as_subclass(cls)``, which the library's class defines. The library's class
    itself overrides nothing: calls with it cost what they cost without a protocol.

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
