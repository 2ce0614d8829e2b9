"""NumPy's protocols, ``__array_function__`` and ``__array_ufunc__``, served by backends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._function import Parameter
from .._patterns import is_derived, loaded_object, mro_of
from ..adopt import (
    CALL,
    AdoptedFunction,
    AdoptedLookup,
    Adoption,
    ForeignProtocol,
    adoption_of,
    call_of_ufunc,
)
from .base_order import check_bases
from .numpy_names import (
    function_named,
    identity_of,
    identity_of_ufunc,
    mutated_by,
    numpy_module,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..backend_system import BackendSystem


def make_class(system: BackendSystem) -> type[Any]:
    """Return the class; see `numpy_functions`."""
    return adoption_of(system).protocol_class("numpy", _make_class, NumPyNamespace)


def _make_class(adopted: AdoptedLookup) -> type[Any]:
    lookup, go_on = adopted.lookup, adopted.go_on

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

        __array_ufunc__ = _make_operator_method(adopted)

    return NumPyFunctions


def _make_ufunc_method(adopted: AdoptedLookup) -> Callable[..., Any]:
    lookup, go_on = adopted.lookup_ufunc, adopted.go_on

    def array_ufunc(self: Any, ufunc: Any, method: str, /, *inputs: Any, **kwargs: Any) -> Any:
        called = lookup(ufunc, method, inputs, kwargs)
        if called is not None:
            # Operators pass no keywords, and unpacking an empty dictionary takes time.
            result = called(*inputs, **kwargs) if kwargs else called(*inputs)
            if result is not NotImplemented:
                return result
        key, types = call_of_ufunc(ufunc, method, inputs, kwargs)
        return go_on(key, types, called, inputs, kwargs)

    return array_ufunc


def _make_operator_method(adopted: AdoptedLookup) -> Callable[..., Any]:
    """Return the same method, which looks up operators itself.

    The frame of the look-up would take a tenth of their time.
    """
    tables, indices, call = adopted.tables, adopted.indices, CALL
    any_method, go_on = _make_ufunc_method(adopted), adopted.go_on

    def array_ufunc(self: Any, ufunc: Any, method: str, /, *inputs: Any, **kwargs: Any) -> Any:
        called = None
        if method == call:
            try:
                if len(inputs) == 1:
                    if not kwargs:
                        called = tables()[indices[ufunc]][type(inputs[0])]
                elif not kwargs:
                    one, other = inputs
                    called = tables()[indices[ufunc]][type(one), type(other)]
                elif len(kwargs) == 1:
                    out = kwargs["out"]
                    if type(out) is tuple:
                        one, other, third = inputs + out
                        called = tables()[indices[ufunc]][type(one), type(other), type(third)]
            except Exception:  # noqa: BLE001  # no entry, or a metaclass failed: see below
                pass
        if called is None:
            return any_method(self, ufunc, method, *inputs, **kwargs)
        result = called(*inputs, **kwargs) if kwargs else called(*inputs)
        if result is not NotImplemented:
            return result
        key, types = call_of_ufunc(ufunc, method, inputs, kwargs)
        return go_on(key, types, called, inputs, kwargs)

    return array_ufunc


class NumPyNamespace:
    """NumPy's functions, each adopted when it is first looked up.

    Keys are identities, and the objects that NumPy passes: a function, or a ufunc, in a tuple with
    the name of the method unless that is ``__call__``.

    Parameters
    ----------
    served : type
        The class that `make_class` returns.
    """

    def __init__(self, served: type) -> None:
        self._function = ArrayProtocol("__array_function__", served)
        self._ufunc = ArrayProtocol("__array_ufunc__", served)

    def find(self, key: Any, adoption: Adoption) -> tuple[Any, AdoptedFunction] | None:
        """Return the object that NumPy passes, and the function; None if there is none."""
        if isinstance(key, str):
            key = function_named(key, adoption)
        ufunc, method = key if isinstance(key, tuple) else (key, CALL)
        if isinstance(ufunc, numpy_module().ufunc):
            return self._find_ufunc(key, ufunc, method, adoption)
        identity = identity_of(key, adoption)
        if identity is None:
            return None
        # With `like=`, NumPy passes a private function, not the one that users call.
        module, _, name = identity.partition(":")
        # The public one is the default implementation; the key stays the one that NumPy passes.
        public: Any = loaded_object(module, name)
        function: Any = key if public is None or identity in adoption.functions else public
        return key, AdoptedFunction(identity, function, self._function, mutated_by(identity, key))

    def others_may_answer(self, key: Any, types: tuple[type, ...]) -> bool:
        """Whether a type that is not served may answer a call of a function without an identity."""
        ufunc = key[0] if isinstance(key, tuple) else key
        protocol = self._ufunc if isinstance(ufunc, numpy_module().ufunc) else self._function
        return protocol.others_may_answer(types)

    def _find_ufunc(
        self, key: Any, ufunc: Any, method: str, adoption: Adoption
    ) -> tuple[Any, AdoptedFunction] | None:
        identity = adoption.names.get(ufunc) or identity_of_ufunc(ufunc)
        if identity is None:
            return None
        mutated = [Parameter("out", None)]
        if method == "at":
            mutated.append(Parameter(None, 0))
        function = ufunc
        if method != CALL:
            identity, function = f"{identity}.{method}", getattr(ufunc, method)
        return key, AdoptedFunction(identity, function, self._ufunc, mutated)


class ArrayProtocol(ForeignProtocol):
    """One of NumPy's protocols.

    Parameters
    ----------
    attribute : str
        The method of the protocol.
    served : type
        The class to which the system gives it.
    """

    __slots__ = ("_attribute", "_served")

    def __init__(self, attribute: str, served: type) -> None:
        self._attribute = attribute
        self._served = served

    def is_overriding(self, cls: type) -> bool:
        """Whether a class has the protocol by another method than that of `numpy.ndarray`."""
        for base in mro_of(cls):
            # `self` stands for no attribute; None means that the class opts out.
            found = vars(base).get(self._attribute, self)
            if found is not self:
                return (
                    found is not None and found is not vars(numpy_module().ndarray)[self._attribute]
                )
        return False

    def is_served(self, cls: type) -> bool:
        """Whether a class has the protocol from the system."""
        return is_derived(cls, self._served)
