"""Other ways to dispatch, each as its own documentation has it.

A dispatcher is a class that makes functions. What it cannot do it does not offer; one whose
package is not installed is left out.
"""

from __future__ import annotations

from functools import partial, singledispatch
from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING, Any

from bench._library import TYPES, Array, Device, Library, device_two, one, three, two

if TYPE_CHECKING:
    from collections.abc import Callable


class Raw:
    """The bare function."""

    title = "the bare function"
    takes_keywords = True
    takes_types = True

    def __init__(self) -> None:
        self.one: Callable[..., Any] = one
        self.two: Callable[..., Any] = two
        self.three: Callable[..., Any] = three

    def values(self, cls: type) -> list[Any]:
        return [cls(), cls(), cls()]


class Bare(Raw):
    """The least that anything written in Python can do and still take any arguments."""

    title = "`def w(*a, **k): return f(*a, **k)`"

    def __init__(self) -> None:
        self.one, self.two, self.three = (_wrapped(each) for each in (one, two, three))


def _wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(*args: Any, **keywords: Any) -> Any:
        return function(*args, **keywords)

    return wrapper


class Partial(Raw):
    """The least that anything written in C can do that calls a Python function."""

    title = "`functools.partial(f)`, in C"

    def __init__(self) -> None:
        self.one, self.two, self.three = (partial(each) for each in (one, two, three))


class SpatchCore(Raw):
    """What is measured."""

    title = "spatch-core"

    def __init__(self) -> None:
        library = Library()
        self.one, self.two, self.three = library.one, library.two, library.three
        self.asking, self.alone = library.asking, library.alone
        self.other = self.two


class NumPy(Raw):
    """NumPy's dispatcher, in C; the types of the arguments have no ``__array_function__``."""

    title = "NumPy's `__array_function__`, in C"

    def __init__(self) -> None:
        try:
            overrides = import_module("numpy._core.overrides")
        except ModuleNotFoundError:
            overrides = import_module("numpy.core.overrides")  # NumPy 1
        dispatch = overrides.array_function_dispatch

        def dispatch_one(x: Any) -> Any:
            return (x,)

        def dispatch_two(x: Any, y: Any) -> Any:
            return (x, y)

        def dispatch_three(x: Any, y: Any, z: Any) -> Any:
            return (x, y, z)

        self.one = dispatch(dispatch_one, verify=False)(_copy(one))
        self.two = self.other = dispatch(dispatch_two, verify=False)(_copy(two))
        self.three = dispatch(dispatch_three, verify=False)(_copy(three))

    def values(self, cls: type) -> list[Any]:
        return [_Overriding() for _ in range(3)] if cls is Device else super().values(cls)


class NumPyArrays(NumPy):
    """The same; the arguments are NumPy's own arrays."""

    title = "the same, called with NumPy's own arrays"
    takes_types = False

    def __init__(self) -> None:
        super().__init__()
        del self.other

    def values(self, cls: type) -> list[Any]:
        numpy = import_module("numpy")
        return [numpy.zeros(3) for _ in range(3)]


class _Overriding:
    def __array_function__(self, function: Any, types: Any, args: Any, keywords: Any) -> Any:
        return device_two(*args, **keywords)


class UArray(Raw):
    """uarray's multimethods, in C++."""

    title = "uarray, in C++"

    def __init__(self) -> None:
        uarray = import_module("uarray")
        mark = uarray.Dispatchable

        def extract_one(x: Any) -> Any:
            return (mark(x, Array),)

        def extract_two(x: Any, y: Any) -> Any:
            return mark(x, Array), mark(y, Array)

        def extract_three(x: Any, y: Any, z: Any) -> Any:
            return mark(x, Array), mark(y, Array), mark(z, Array)

        def replace(args: Any, keywords: Any, values: Any) -> Any:
            return values, {}

        class Backend:
            __ua_domain__ = "bench.other"

            @staticmethod
            def __ua_function__(method: Any, args: Any, keywords: Any) -> Any:
                return device_two(*args, **keywords)

        def make(extract: Any, default: Any, domain: str = "bench") -> Any:
            return uarray.generate_multimethod(extract, replace, domain, default=default)

        self.one = make(extract_one, one)
        self.two = make(extract_two, two)
        self.three = make(extract_three, three)
        self.other = make(extract_two, two, "bench.other")
        uarray.set_global_backend(Backend)


class SingleDispatch(Raw):
    """The standard library's; it looks at the first argument alone."""

    title = "`functools.singledispatch`, first argument"

    def __init__(self) -> None:
        self.one, self.two, self.three = (singledispatch(_copy(each)) for each in (one, two, three))
        for cls in (Array, *TYPES):
            self.one.register(cls)(one)
            self.two.register(cls)(two)
            self.three.register(cls)(three)
        self.two.register(Device)(device_two)
        self.other = self.two


class Plum(Raw):
    """Multiple dispatch by annotations; keywords do not take part in it."""

    title = "plum"
    takes_keywords = False

    def __init__(self) -> None:
        dispatch = import_module("plum").Dispatcher()

        def register(function: Callable[..., Any], cls: type) -> Callable[..., Any]:
            method = _copy(function)
            method.__annotations__ = dict.fromkeys("xyz"[: function.__code__.co_argcount], cls)
            registered: Callable[..., Any] = dispatch(method)
            return registered

        for cls in (Array, *TYPES):
            self.one, self.two, self.three = (register(each, cls) for each in (one, two, three))
        self.two = self.other = register(two, Device)


class MultipleDispatch(Raw):
    """Multiple dispatch by a decorator; keywords do not take part in it."""

    title = "multipledispatch"
    takes_keywords = False

    def __init__(self) -> None:
        dispatch = import_module("multipledispatch").dispatch
        namespace: dict[str, Any] = {}

        def register(function: Callable[..., Any], cls: type) -> Callable[..., Any]:
            count = function.__code__.co_argcount
            registered: Callable[..., Any] = dispatch(*[cls] * count, namespace=namespace)(
                _copy(function)
            )
            return registered

        for cls in (Array, *TYPES):
            self.one, self.two, self.three = (register(each, cls) for each in (one, two, three))
        self.two = self.other = register(two, Device)


def _copy(function: Any) -> Any:
    """Return a function of its own, because dispatchers write on those that they are given."""
    return FunctionType(function.__code__, function.__globals__, function.__name__)


DISPATCHERS: dict[str, type[Raw]] = {
    "raw": Raw,
    "bare": Bare,
    "partial": Partial,
    "spatch": SpatchCore,
    "numpy": NumPy,
    "numpy arrays": NumPyArrays,
    "uarray": UArray,
    "singledispatch": SingleDispatch,
    "plum": Plum,
    "multipledispatch": MultipleDispatch,
}


def dispatchers() -> dict[str, Any]:
    """Return those whose packages are installed, by their short names."""
    found: dict[str, Any] = {}
    for name, cls in DISPATCHERS.items():
        try:
            found[name] = cls()
        except ModuleNotFoundError:
            continue
    return found
