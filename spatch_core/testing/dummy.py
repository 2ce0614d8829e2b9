"""A backend that is a class of a test."""

from __future__ import annotations

from typing import Any

__all__ = ["BackendDummy"]


class BackendDummy:
    """A backend for tests, passed in code: its methods implement the functions of their names.

    Make a subclass with the fields of a description, such as `name` and `primary_types`, and pass
    an object of it as one of ``BackendSystem(backends=...)``. The module of a function does not
    matter: a method ``blur`` implements every dispatchable function called ``blur``. Methods are
    class methods or static methods; ``uses_context`` and ``should_run`` hold for all of them.

    Attributes
    ----------
    functions : object
        The requirements of the library for its functions.

    Examples
    --------
    >>> from spatch_core import BackendSystem
    >>> class Floats(BackendDummy):
    ...     name = "floats"
    ...     primary_types = ("builtins:float",)
    >>> system = BackendSystem(None, "MYLIB", ["builtins:int"], backends=[Floats()])
    >>> @system.dispatchable("x", module="mylib", qualname="dummy_func")
    ... def double(x):
    ...     return 2 * x
    >>> double(2), double(2.0)
    (4, ('floats', (2.0,), {}))
    """

    name: str

    def __init__(self) -> None:
        self.functions: Any = _Functions(type(self))

    @classmethod
    def get_function(cls, name: str, default: Any = None) -> Any:
        """Return how this backend implements a function of the library.

        Parameters
        ----------
        name : str
            Identifier of the function.
        default : object, optional
            Returned if no method has its name.

        Returns
        -------
        dict
            The fields of the function, as a description has them.
        """
        _, separator, qualname = name.partition(":")
        attribute = qualname.rpartition(".")[2]
        function = getattr(cls, attribute, None) if separator else None
        if attribute in _OTHERS or not callable(function):
            return default
        fields: dict[str, Any] = {"function": function}
        for field in ("uses_context", "should_run"):
            if hasattr(cls, field):
                fields[field] = getattr(cls, field)
        if function.__doc__ and attribute != "dummy_func":
            fields["additional_docs"] = function.__doc__
        return fields

    @classmethod
    def dummy_func(cls, *args: Any, **kwargs: Any) -> Any:  # numpydoc ignore=PR01,RT01
        """Return the backend's name and the arguments of the call."""
        return cls.name, args, kwargs


_OTHERS = ("get_function", "should_run")
"""Methods that implement nothing."""


class _Functions:
    """Finds the functions of a backend, which it cannot list."""

    def __init__(self, backend: type[BackendDummy]) -> None:
        self._backend = backend

    def get(self, name: str, default: Any = None) -> Any:
        """Return the fields of a function of the library, or `default`."""
        return self._backend.get_function(name, default)
