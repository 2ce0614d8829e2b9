"""A base class for backends in tests."""

from __future__ import annotations

from typing import Any

__all__ = ["BackendDummy"]


class BackendDummy:
    """A backend for tests whose methods implement the functions with the same names.

    Make a subclass with the fields of a description, such as `name` and `primary_types`, and pass
    an instance in ``BackendSystem(backends=...)``. The module of a function does not matter: a
    method ``blur`` implements every dispatchable function called ``blur``. Methods are class
    methods or static methods; ``uses_context`` and ``should_run`` apply to all of them.

    Attributes
    ----------
    functions : object
        Finds the fields of a function by its identifier.

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
        """Return the fields of a function of the library, as in a description.

        Parameters
        ----------
        name : str
            The identifier of the function.
        default : object, optional
            The result if no method implements the function.

        Returns
        -------
        dict
            The fields.
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
"""Methods that implement no function."""


class _Functions:
    """The functions of a backend, which can be found but not listed."""

    def __init__(self, backend: type[BackendDummy]) -> None:
        self._backend = backend

    def get(self, name: str, default: Any = None) -> Any:
        """Return the fields of a function of the library, or `default`."""
        return self._backend.get_function(name, default)
