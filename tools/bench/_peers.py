"""Other dispatchers, each used as in its own documentation."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from importlib import import_module
from types import FunctionType
from typing import Any, NamedTuple

from bench._library import (
    TYPES,
    Array,
    Device,
    device_two,
    make_fallbacks,
    make_library,
    one,
    three,
    two,
)

FUNCTIONS: tuple[Any, ...] = (one, two, three)


@dataclass
class Functions:
    """A dispatcher's functions of one, two and three arguments, and its features."""

    plain: Iterable[Any]
    extra: dict[str, Any]
    """More functions of two arguments, called with a backend's type; ``"alone"`` with the own."""
    own: Callable[[], Any] = Array
    foreign: Callable[[], Any] = Device
    takes_keywords: bool = True
    takes_types: bool = True


class Peer(NamedTuple):
    """A dispatcher; `make` raises ModuleNotFoundError if it is not installed."""

    title: str
    make: Callable[[], Functions]


PEERS: dict[str, Peer] = {}


def peer(title: str) -> Callable[[Callable[[], Functions]], Callable[[], Functions]]:
    def register(make: Callable[[], Functions]) -> Callable[[], Functions]:
        PEERS[make.__name__] = Peer(title, make)
        return make

    return register


@peer("the bare function")
def raw() -> Functions:
    return Functions(FUNCTIONS, {})


@peer("`def w(*a, **k): return f(*a, **k)`")
def bare() -> Functions:
    def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*args: Any, **keywords: Any) -> Any:
            return function(*args, **keywords)

        return wrapper

    return Functions(map(wrapped, FUNCTIONS), {})


@peer("`functools.partial(f)`, in C")
def partial() -> Functions:
    return Functions(map(functools.partial, FUNCTIONS), {})


@peer("spatch-core")
def spatch() -> Functions:
    _, found = make_library()
    extra = {name: found[name] for name in ("asking", "deferring", "alone")}
    plain = [found[name] for name in ("one", "two", "three")]
    return Functions(plain, {"other": found["two"], **extra, **make_fallbacks()})


@peer("NumPy's `__array_function__`, in C")
def numpy() -> Functions:
    """The types of the arguments have no ``__array_function__``."""
    try:
        overrides = import_module("numpy._core.overrides")
    except ModuleNotFoundError:
        overrides = import_module("numpy.core.overrides")  # NumPy 1
    dispatch = overrides.array_function_dispatch
    relevant = (lambda x: (x,), lambda x, y: (x, y), lambda x, y, z: (x, y, z))
    made = [
        dispatch(each, verify=False)(_copy(function))
        for each, function in zip(relevant, FUNCTIONS, strict=True)
    ]
    return Functions(made, {"other": made[1]}, foreign=_Overriding)


@peer("the same, called with NumPy's own arrays")
def numpy_arrays() -> Functions:
    zeros = functools.partial(import_module("numpy").zeros, 3)
    return replace(numpy(), extra={}, own=zeros, takes_types=False)


class _Overriding:
    def __array_function__(self, function: Any, types: Any, args: Any, keywords: Any) -> Any:
        return device_two(*args, **keywords)


@peer("uarray, in C++")
def uarray() -> Functions:
    module = import_module("uarray")
    mark = module.Dispatchable
    extractors = (
        lambda x: (mark(x, Array),),
        lambda x, y: (mark(x, Array), mark(y, Array)),
        lambda x, y, z: (mark(x, Array), mark(y, Array), mark(z, Array)),
    )

    class Backend:
        __ua_domain__ = "bench.other"

        @staticmethod
        def __ua_function__(method: Any, args: Any, keywords: Any) -> Any:
            return device_two(*args, **keywords)

    def make(extract: Any, default: Any, domain: str = "bench") -> Any:
        return module.generate_multimethod(
            extract, lambda args, keywords, values: (values, {}), domain, default=default
        )

    module.set_global_backend(Backend)
    other = make(extractors[1], two, "bench.other")
    return Functions(map(make, extractors, FUNCTIONS), {"other": other})


@peer("`functools.singledispatch`, first argument")
def singledispatch() -> Functions:
    generic = {each: functools.singledispatch(_copy(each)) for each in FUNCTIONS}

    def register(function: Any, cls: type) -> Any:
        generic[function].register(cls)(_copy(function))
        return generic[function]

    return _registering(register)


@peer("plum")
def plum() -> Functions:
    dispatch = import_module("plum").Dispatcher()

    def register(function: Any, cls: type) -> Any:
        method = _copy(function)
        method.__annotations__ = dict.fromkeys("xyz"[: function.__code__.co_argcount], cls)
        return dispatch(method)

    return _registering(register, takes_keywords=False)


@peer("multipledispatch")
def multipledispatch() -> Functions:
    dispatch = import_module("multipledispatch").dispatch
    namespace: dict[str, Any] = {}

    def register(function: Any, cls: type) -> Any:
        types = [cls] * function.__code__.co_argcount
        return dispatch(*types, namespace=namespace)(_copy(function))

    return _registering(register, takes_keywords=False)


def _registering(register: Callable[[Any, type], Any], *, takes_keywords: bool = True) -> Functions:
    for cls in (Array, *TYPES):
        for each in FUNCTIONS:
            register(each, cls)
    made = [register(each, Device) for each in FUNCTIONS]
    return Functions(made, {"other": made[1]}, takes_keywords=takes_keywords)


def _copy(function: Any) -> Any:
    """Return a new function, because dispatchers set attributes on the functions that they get."""
    return FunctionType(function.__code__, function.__globals__, function.__name__)
