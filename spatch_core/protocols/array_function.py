"""NumPy's protocols, ``__array_function__`` and ``__array_ufunc__``, served by backends."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .._function import Parameter
from .._patterns import is_dotted_name, loaded_object
from ..adopt import (
    AdoptedFunction,
    Adoption,
    FlaggedParameter,
    ForeignProtocol,
    adoption_of,
    check_bases,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..backend_system import BackendSystem

_CALL = "__call__"
"""The method of a ufunc that a plain call of it names."""
_METHODS = ("accumulate", "at", "outer", "reduce", "reduceat")
_HOMES = ("numpy", "numpy.strings", "scipy.special", "numpy._core.umath", "numpy.core.umath")
"""Modules that are searched for ufuncs, which do not know their own module."""
_WRITTEN = {
    "numpy:busday_count": ("out", 5),
    "numpy:busday_offset": ("out", 6),
    "numpy:concatenate": ("out", 2),
    "numpy:copyto": ("dst", 0),
    "numpy:dot": ("out", 2),
    "numpy:fill_diagonal": ("a", 0),
    "numpy:is_busday": ("out", 4),
    "numpy:place": ("arr", 0),
    "numpy:put": ("a", 0),
    "numpy:put_along_axis": ("arr", 0),
    "numpy:putmask": ("a", 0),
    "numpy.lib.recfunctions:assign_fields_by_name": ("dst", 0),
    "numpy.lib.recfunctions:recursive_fill_fields": ("output", 1),
}
"""Parameters that functions write into, and that their code does not show as ``out``."""


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
    return adoption_of(system).protocol_class("numpy", _make_class, NumPyNamespace)


def _make_class(lookup: Callable[..., Any], go_on: Callable[..., Any]) -> type[Any]:
    class NumPyFunctions:
        """Takes part in NumPy's functions: the backends of a library answer."""

        __slots__ = ()

        def __init_subclass__(cls, **options: Any) -> None:
            super().__init_subclass__(**options)
            check_bases(cls, NumPyFunctions, "numpy", "__array_function__")

        def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
            called = lookup(func, types)
            if called is not None:
                result = called(*args, **kwargs)
                if result is not NotImplemented:
                    return result
            return go_on(func, types, called, args, kwargs)

        def __array_ufunc__(self, ufunc: Any, method: str, /, *inputs: Any, **kwargs: Any) -> Any:
            if not kwargs and method == _CALL and len(inputs) == 2:
                one, other = inputs
                key: Any = ufunc
                types: tuple[type, ...] = type(one), type(other)  # of an operator: a loop is slow
            else:
                key, types = _call_of_ufunc(ufunc, method, inputs, kwargs)
            called = lookup(key, types)
            if called is not None:
                # Unpacking an empty dictionary takes time.
                result = called(*inputs, **kwargs) if kwargs else called(*inputs)
                if result is not NotImplemented:
                    return result
            return go_on(key, types, called, inputs, kwargs)

    return NumPyFunctions


def _call_of_ufunc(
    ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, tuple[type, ...]]:
    """Return the key of a ufunc or of one of its methods, and the types of a call.

    The types are those of the positional arguments except indices, of ``out=`` and of ``where=``.
    """
    key = ufunc
    if method != _CALL:
        key = ufunc, method
        if method in ("at", "reduceat"):
            inputs = (*inputs[:1], *inputs[2:])
    types = tuple(map(type, inputs))
    if kwargs:
        out = kwargs.get("out", ())
        types += tuple(map(type, out if isinstance(out, tuple) else (out,)))
        if "where" in kwargs:
            types += (type(kwargs["where"]),)
    return key, types


class NumPyNamespace:
    """NumPy's functions, each adopted when it is first looked up.

    Keys are identities, and the objects that NumPy passes: a function, or a ufunc, in a tuple with
    the name of the method unless that is ``__call__``. `served` is the class of the system.
    """

    def __init__(self, served: type) -> None:
        self._function = ForeignProtocol("__array_function__", served, _array)
        self._ufunc = ForeignProtocol("__array_ufunc__", served, _array)

    def find(self, key: Any, adoption: Adoption) -> tuple[Any, AdoptedFunction] | None:
        """Return the object that NumPy passes, and the function; None if there is none."""
        if isinstance(key, str):
            key = _function_named(key, adoption)
        ufunc, method = key if isinstance(key, tuple) else (key, _CALL)
        if isinstance(ufunc, _numpy_module().ufunc):
            return self._find_ufunc(key, ufunc, method, adoption)
        identity = _identity_of(key, adoption)
        if identity is None:
            return None
        # With `like=`, NumPy passes a private function, not the one that users call.
        module, _, name = identity.partition(":")
        # The public one is the default implementation; the key stays the one that NumPy passes.
        public: Any = loaded_object(module, name)
        function: Any = key if public is None or identity in adoption.functions else public
        return key, AdoptedFunction(identity, function, self._function, _mutated_by(identity, key))

    def others_may_answer(self, key: Any, types: tuple[type, ...]) -> bool:
        """Whether a type that is not served may answer a call of a function without an identity."""
        ufunc = key[0] if isinstance(key, tuple) else key
        protocol = self._ufunc if isinstance(ufunc, _numpy_module().ufunc) else self._function
        return protocol.others_may_answer(types)

    def _find_ufunc(
        self, key: Any, ufunc: Any, method: str, adoption: Adoption
    ) -> tuple[Any, AdoptedFunction] | None:
        identity = adoption.names.get(ufunc) or _identity_of_ufunc(ufunc)
        if identity is None:
            return None
        mutated = [Parameter("out", None)]
        if method == "at":
            mutated.append(Parameter(None, 0))
        function = ufunc
        if method != _CALL:
            identity, function = f"{identity}.{method}", getattr(ufunc, method)
        return key, AdoptedFunction(identity, function, self._ufunc, mutated)


# The identities of functions: from names to functions and back


def _numpy_module() -> Any:
    """Return NumPy, imported on first use."""
    import numpy as np

    return np


def _array() -> Any:
    return _numpy_module().ndarray


def _function_named(identity: str, adoption: Adoption) -> Any:
    """Return the object that NumPy passes for a function, by its identity; None if unknown."""
    if identity in adoption.functions:
        return adoption.functions[identity]
    module, _, qualname = identity.partition(":")
    if module.partition(".")[0] == "numpy":
        _import(module)
    start, _, method = qualname.rpartition(".")
    if start and method in _METHODS:
        ufunc = adoption.functions.get(f"{module}:{start}") or loaded_object(module, start)
        if isinstance(ufunc, _numpy_module().ufunc):
            return ufunc, method
    found = loaded_object(module, qualname)
    if found is None and module.startswith("numpy."):
        # In NumPy 1, `numpy.char` is an attribute alone.
        found = loaded_object("numpy", f"{module.removeprefix('numpy.')}.{qualname}")
    if found is None and module == "numpy.strings":
        # Functions that `numpy.char` calls, such as `_join`, may have no public name.
        found = loaded_object("numpy._core.strings", qualname)
    if isinstance(found, _numpy_module().ufunc):
        return found if _identity_of_ufunc(found) == identity else None
    is_overridable = hasattr(found, "_implementation") or module == "numpy"
    # Functions with `like=` lack the attribute; classes and modules are not functions.
    if not is_overridable or not callable(found) or isinstance(found, type):
        return None
    return found if _identity_of(found, adoption) == identity else None


def _import(module: str) -> None:
    from importlib import import_module

    try:
        import_module(module)
    except ImportError:
        return


def _identity_of(function: Any, adoption: Adoption) -> str | None:
    """Return the identity of a function; None without a valid module and name."""
    given = adoption.names.get(function)
    if given is not None:
        return given
    module, name = (getattr(function, each, None) for each in ("__module__", "__name__"))
    if type(module) is str and type(name) is str and is_dotted_name(f"{module}.{name}"):
        return f"{module}:{name}"
    return None


def _identity_of_ufunc(ufunc: Any) -> str | None:
    """Return the identity of a ufunc that NumPy or `scipy.special` names."""
    name = ufunc.__name__
    for module in _HOMES:
        if getattr(sys.modules.get(module), name, None) is ufunc:
            return f"{module}:{name}"
    return None


def _mutated_by(identity: str, function: Any) -> list[Parameter]:
    """Return the parameters whose arguments a function writes into."""
    if identity in _WRITTEN:
        return [Parameter(*_WRITTEN[identity])]
    if identity == "numpy:nan_to_num":
        return [FlaggedParameter("x", 0, Parameter("copy", 1), counts_if=False)]
    code = getattr(getattr(function, "_implementation", function), "__code__", None)
    names = () if code is None else code.co_varnames[: code.co_argcount]
    return [Parameter("out", names.index("out") if "out" in names else None)]
