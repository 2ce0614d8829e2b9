"""What a decorated function is, and what the decorator of a library takes: rules F."""

from __future__ import annotations

import collections.abc
import copy
import functools
import inspect
import pickle
import sys
import types
import typing
from typing import Any

import pytest

from spatch_core import BackendSystem, UnknownBackendError, UnknownFunctionError
from tests.function.conftest import HERE, Foreign, Own, describe, make_system

# Functions of a module, as a library has them: found under their own names.
system = make_system(describe(functions=[f"{__name__}:blur", f"{__name__}:Image.blur"]))


@system.dispatchable("x")
def blur(x: Foreign | int, sigma: float = 1.0, *, mode: str = "reflect") -> str:
    """Blur.

    Parameters
    ----------
    x : array
        What to blur.
    """
    return "default"


class Image(Foreign):
    """A class with dispatchable methods."""

    @system.dispatchable("other")
    def blur(self, other: Any = None, sigma: float = 1.0) -> Any:
        """Blur with another one."""
        return "default", self, other, sigma


# ---------------------------------------------------------------------------------------
# A function like any other


def test_is_a_function_whose_original_is_the_default() -> None:
    """F1, F2: a `types.FunctionType`; its `__wrapped__` does not dispatch."""
    function: Any = blur
    assert type(function) is types.FunctionType
    assert {function: 1}[function] == 1
    assert copy.deepcopy([function])[0] is function
    assert blur(Foreign())[0] == "first"
    assert blur.__wrapped__(Foreign()) == "default"


def test_has_the_looks_of_the_original() -> None:
    """F1: same name, module, qualname, annotations, signature."""
    original = blur.__wrapped__
    assert blur.__name__ == "blur"
    assert blur.__qualname__ == "blur"
    assert blur.__module__ == __name__
    assert inspect.signature(blur) == inspect.signature(original)
    assert list(inspect.signature(blur).parameters) == ["x", "sigma", "mode"]
    assert blur.__annotations__ == original.__annotations__
    assert typing.get_type_hints(blur) == {
        "x": Foreign | int,
        "sigma": float,
        "mode": str,
        "return": str,
    }
    assert inspect.unwrap(blur) is original
    assert inspect.getsourcelines(blur) == inspect.getsourcelines(original)
    assert repr(blur).startswith("<function blur at ")


@pytest.mark.skipif(sys.version_info < (3, 12), reason="needs the syntax of Python 3.12")
def test_type_parameters_are_kept() -> None:
    """F1: functions that are generic in the new syntax."""
    scope: dict[str, Any] = {}
    # Not at the top of this file, which Python 3.10 must be able to read.
    code = compile("def f[T](x: T) -> T: return x", "generic", "exec", dont_inherit=True)
    exec(code, scope)  # noqa: S102  # our own text
    function: Any = make_system().dispatchable("x", module="lib", qualname="f")(scope["f"])
    assert function.__type_params__ == scope["f"].__type_params__ != ()
    assert typing.get_type_hints(function) == {
        "x": function.__type_params__[0],
        "return": function.__type_params__[0],
    }


# ---------------------------------------------------------------------------------------
# Methods


def test_works_as_a_method() -> None:
    """F1: it binds, and `self` is passed as given."""
    image, x = Image(), Foreign()
    assert image.blur(x) == ("first", (image, x), {})
    assert image.blur(other=x) == ("first", (image,), {"other": x})
    assert Image.blur(image, x, 2) == ("first", (image, x, 2), {})
    assert image.blur(3, sigma=4) == ("default", image, 3, 4)
    assert image.blur() == ("default", image, None, 1.0)
    assert (
        str(inspect.signature(image.blur)) == "(other: 'Any' = None, sigma: 'float' = 1.0) -> 'Any'"
    )
    assert image.blur.__doc__ is not None
    assert isinstance(image.blur, types.MethodType)
    assert image.blur.__func__ is Image.blur


# ---------------------------------------------------------------------------------------
# What can be dispatchable


class Adder:
    """A callable object."""

    def __init__(self) -> None:
        self.level = 3

    def __call__(self, x: Any, y: Any = 0) -> Any:
        return "default", y

    def method(self, y: Any, x: Any = None) -> Any:
        return "default", y


DEFAULTS: list[Any] = [
    (len, {"x": 0}, ([1],), 1),
    (max, {"x": 0}, (1, 2), 2),
    (sorted, "iterable", ([2, 1],), [1, 2]),
    (Adder(), "x", (1, 2), ("default", 2)),
    (Adder().method, "x", (1, 2), ("default", 1)),
    (functools.partial(lambda y, x: ("default", y, x), 5), "x", (1,), ("default", 5, 1)),
    (functools.lru_cache(lambda x: ("default", x)), "x", (1,), ("default", 1)),
    (lambda x: "default", "x", (1,), "default"),
]


@pytest.mark.parametrize(
    ("default", "dispatch_args", "args", "expected"),
    DEFAULTS,
    ids=[type(case[0]).__name__ for case in DEFAULTS],
)
def test_default_may_be_any_callable(
    default: Any, dispatch_args: Any, args: Any, expected: Any
) -> None:
    """F2: builtins, objects, bound methods, partials and decorated functions."""
    system = make_system()
    function: Any = system.dispatchable(dispatch_args, module="lib", qualname="f")(default)
    assert isinstance(function, types.FunctionType)
    assert function.__name__ == "f"
    assert function(*args) == function(*args) == expected
    others = [Foreign() for _ in args]
    assert function(*others) == ("first", tuple(others), {})


def test_function_with_wrapped_is_seen_through() -> None:
    """The signature of a decorated function is that of the wrapped one, as for `inspect`."""

    def original(y: Any, x: Any = None) -> Any: ...

    @functools.wraps(original)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return "default"

    function: Any = make_system().dispatchable("x", module="lib", qualname="f")(wrapper)
    x = Foreign()
    assert function(1, x) == ("first", (1, x), {})
    assert function(x, 1) == "default"
    assert function.__wrapped__ is wrapper


@pytest.mark.parametrize(
    "default", [functools.partial(len), Adder()], ids=lambda value: type(value).__name__
)
@pytest.mark.parametrize("options", [{}, {"qualname": "f"}, {"module": "lib"}], ids=repr)
def test_what_has_no_name_needs_a_public_identity(default: Any, options: Any) -> None:
    """Without `__qualname__`, both module= and qualname= must be given."""
    with pytest.raises(TypeError, match=r"module=.*qualname="):
        make_system().dispatchable([], **options)(default)


# ---------------------------------------------------------------------------------------
# Dispatch arguments


@pytest.mark.parametrize(
    ("dispatch_args", "args", "kwargs", "runs"),
    [
        ("x", (1, Foreign()), {}, "default"),
        ("y", (1, Foreign()), {}, "first"),
        ("y", (1,), {"y": Foreign()}, "first"),
        (("x", "y"), (1, Foreign()), {}, "first"),
        (("x", "y"), (Own(), Foreign()), {}, "default"),
        (("x", "y"), (None, Foreign()), {}, "first"),
        (("x", "y"), (None, None), {}, "default"),
        ("key", (1,), {"key": Foreign()}, "first"),
        ("key", (Foreign(), Foreign()), {}, "default"),
        (None, (1, 2), {"more": Foreign()}, "first"),
        (None, (1, Foreign()), {}, "first"),
        (None, (1, Own()), {"key": Foreign()}, "default"),
        ([], (Foreign(), Foreign()), {"key": Foreign()}, "default"),
        ({"x": 0}, (Foreign(),), {}, "first"),
        ({"more": None}, (1,), {"more": Foreign()}, "first"),
        ({"far": 3}, (1, 2, 3, Foreign()), {}, "first"),
        ({"far": 3}, (1, 2, Foreign()), {}, "default"),
        (lambda x, y=None, *args, **kwargs: [y], (1, Foreign()), {}, "first"),
        (lambda x, y=None, *args, **kwargs: (z for z in (x, y)), (1, Foreign()), {}, "first"),
        (lambda *args, **kwargs: args[0], ([1, Foreign()],), {}, "first"),
        (lambda *args, **kwargs: [None], (Foreign(),), {}, "default"),
        (lambda *args, **kwargs: (), (Foreign(),), {}, "default"),
    ],
)
def test_what_is_dispatched_on(dispatch_args: Any, args: Any, kwargs: Any, runs: str) -> None:
    """F4: None, a name, names, {name: position} or a finder say which types count."""

    def f(x: Any, y: Any = None, *rest: Any, key: Any = None, **options: Any) -> Any:
        return "default", (x, y, *rest), {"key": key, **options}

    function: Any = make_system().dispatchable(dispatch_args, module="lib", qualname="f")(f)
    for _ in range(2):
        assert function(*args, **kwargs)[0] == runs
    assert function.explain(*args, **kwargs).selected == runs


def test_arguments_of_one_position_are_told_apart_by_name() -> None:
    """F4: a library may rename a parameter and accept the old name too."""
    function: Any = make_system().dispatchable({"x": 0, "old_x": 0}, module="lib", qualname="f")(
        lambda *args, **kwargs: "default"
    )
    x = Foreign()
    assert function(x)[0] == function(x=x)[0] == function(old_x=x)[0] == "first"
    assert function(1) == function(x=1, old_x=2) == "default"
    assert function(x=1, old_x=x)[0] == "first"


def test_a_finder_is_called_like_the_function() -> None:
    """F4: positional as positional, keyword as keyword; its errors are the caller's."""
    seen: list[Any] = []

    def find(*args: Any, **kwargs: Any) -> Any:
        seen.append((args, kwargs))
        return kwargs["x"]

    function: Any = make_system().dispatchable(find, module="lib", qualname="f")(
        lambda *args, **kwargs: "default"
    )
    assert function(1, self=2, x=[3]) == "default"
    assert seen == [((1,), {"self": 2, "x": [3]})]
    with pytest.raises(KeyError, match="x"):
        function(1)


# ---------------------------------------------------------------------------------------
# backends, explain, invoke


def make_three() -> tuple[Any, Any]:
    system = make_system(
        describe("first"),
        describe("second", functions=[]),
        describe("third", requires_opt_in=True, higher_priority_than=["first"]),
    )
    return system, system.dispatchable("x", module="lib", qualname="f")(lambda x: "default")


def test_backends_that_implement_it() -> None:
    """F6: names by priority, inactive backends among them; a sequence that cannot be changed."""
    system, function = make_three()
    names: Any = function.backends
    assert names == ("default", "third", "first")
    assert names == ["default", "third", "first"]
    assert names != ("default",)
    assert (names[1], names[-1], len(names)) == ("third", "first", 3)
    assert "third" in names
    assert "second" not in names
    assert issubclass(type(names), collections.abc.Sequence)
    assert repr(names) == "('default', 'third', 'first')"
    other: Any = system.dispatchable("x", module="lib", qualname="g")(lambda x: x)
    assert other.backends == ("default",)


# ---------------------------------------------------------------------------------------
# What `inspect` tells


def full(x: int, n: Any = "n", *rest: Any, key: str = "key", **options: Any) -> str:
    return "default"


def positional(x: Any, y: Any = None, /) -> Any:
    return x, y


@pytest.mark.parametrize("functions", [(), ("lib:f",)], ids=["no backend", "a backend"])
@pytest.mark.parametrize("dispatch_args", ["x", None])
@pytest.mark.parametrize("default", [full, positional, lambda x: x], ids=["full", "positional", ""])
def test_it_tells_what_it_tells_of_the_default(
    default: Any, dispatch_args: Any, functions: Any
) -> None:
    """F1: before the first call, after it, and while calls are traced."""
    system = make_system(describe(functions=functions))
    function: Any = system.dispatchable(dispatch_args, module="lib", qualname="f")(default)

    def check() -> None:
        assert function.__defaults__ == default.__defaults__
        assert function.__kwdefaults__ == default.__kwdefaults__
        assert inspect.signature(function) == inspect.signature(default)
        assert inspect.getsource(function) == inspect.getsource(default)

    for _ in range(2):
        check()
        function(1)
    with system.backend_opts(trace=True):
        check()
        function(1)
        check()


def test_a_function_without_signature_has_none() -> None:
    """The error is that of the function itself."""
    function: Any = make_system().dispatchable({"x": 0}, module="lib", qualname="f")(max)
    for each in (max, function):
        with pytest.raises(ValueError, match="no signature found"):
            inspect.signature(each)


def test_public_identity() -> None:
    """F3: `module=` and `qualname=` give the public identity."""

    def _private(x: Any) -> Any:
        return "default"

    system = make_system(describe(functions=["lib.public:Class.f"]))
    function: Any = system.dispatchable("x", module="lib.public", qualname="Class.f")(_private)
    assert function.__module__ == "lib.public"
    assert function.__qualname__ == "Class.f"
    assert function.__name__ == "f"
    assert dict(system.functions) == {"lib.public:Class.f": function}
    assert function(Foreign())[0] == "first"


@pytest.mark.parametrize(
    "value", [3, None, "lib:f", pytest.param(property(len), id="property")], ids=repr
)
def test_only_what_can_be_called_can_be_dispatchable(value: Any) -> None:
    """The decorator raises an error that names the mistake."""
    with pytest.raises(TypeError, match="only a function can be dispatchable"):
        make_system().dispatchable("x")(value)


@pytest.mark.parametrize(
    "kind",
    [
        property,
        staticmethod,
        classmethod,
        functools.cached_property,
        functools.singledispatchmethod,
    ],
)
def test_decorators_of_methods_stand_above(kind: Any) -> None:
    """The error says what to write; a static method would be called with its instance."""

    def method(x: Any) -> None: ...

    with pytest.raises(TypeError, match=rf"write @{kind.__name__} above @dispatchable\(") as caught:
        make_system().dispatchable("x")(kind(method))
    assert f"not a {kind.__name__}:" in str(caught.value)


def test_functions_map_identifiers_to_dispatchables() -> None:
    """F6: identifier -> dispatchable, without discovering anything."""
    system = BackendSystem(None, "MYLIB", backends=[{}])  # which would warn
    f: Any = system.dispatchable("x", module="lib", qualname="f")(lambda x: x)
    assert dict(system.functions) == {"lib:f": f}
    with pytest.raises(TypeError):
        system.functions["lib:g"] = f  # type: ignore[index]


def test_an_invocation_can_be_printed_and_pickled() -> None:
    """`invoke(…)` can be stored, printed and pickled."""
    invocation = blur.invoke(backend="first", type=Foreign)
    assert "test_dispatchable:blur" in repr(invocation)
    assert "backend='first'" in repr(invocation)
    assert "Foreign" in repr(invocation)
    again = pickle.loads(pickle.dumps(invocation))
    assert again(3) == ("first", (3,), {})
    forced = pickle.loads(pickle.dumps(blur.invoke(backend="first", force=True)))
    assert repr(forced).endswith("blur invoked with backend='first', force=True>")
    assert forced(3) == ("first", (3,), {})
    assert repr(blur.invoke(backend="x")).endswith("blur invoked with backend='x'>")
    with pytest.raises(UnknownBackendError):
        blur.invoke(backend="frist")(3)


# ---------------------------------------------------------------------------------------
# `explain_types`


def library_with_f() -> BackendSystem:
    system = BackendSystem(None, "ASKEDLIB", ["builtins:float"])
    system.dispatchable("x", module="lib", qualname="blur")(lambda x: "default")
    return system


def test_a_function_that_the_library_does_not_have_is_refused_with_the_nearest() -> None:
    """F7: `explain_types` takes the identifier of a function of the library."""
    system = library_with_f()
    with pytest.raises(KeyError, match=r"did you mean 'lib:blur'\?") as caught:
        system.explain_types("lib:Blr", [float])
    assert isinstance(caught.value, UnknownFunctionError)
    assert caught.value.nearest == ("lib:blur",)
    with pytest.raises(UnknownFunctionError, match=r"system\.functions has them"):
        system.explain_types("qqqqq", [float])


@pytest.mark.parametrize(
    "types", [["numpy:ndarray"], "numpy:ndarray", float, 3, [float, 1.0]], ids=repr
)
def test_types_that_are_not_several_classes_are_refused(types: Any) -> None:
    """F7: strings are not looked up, and objects not taken for their classes."""
    with pytest.raises(TypeError, match=r"takes the classes of the dispatch arguments in a list"):
        library_with_f().explain_types("lib:blur", types)


def test_classes_may_come_from_any_iterable() -> None:
    """F7: a generator, too."""
    explanation = library_with_f().explain_types("lib:blur", (cls for cls in (float, float)))
    assert explanation.types == (float,)
    assert explanation.selected == "default"


def test_backends_map_names_to_descriptions() -> None:
    """F6: name -> description, by priority, the library under "default"."""
    system = BackendSystem(
        None,
        "MYLIB",
        [f"{HERE}:Own"],
        [describe("first"), describe("second", higher_priority_than=["first"])],
    )
    backends = system.backends
    assert list(backends) == ["default", "second", "first"]
    assert backends["second"].name == "second"
    assert [str(each) for each in backends["default"].primary_types] == [f"{HERE}:Own"]
    assert backends["first"].functions["lib:f"].function == f"{HERE}:record"
    assert len(backends) == 3
    assert "second" in backends
    assert backends.get("third") is None
    assert dict(backends) == backends == system.backends
    with pytest.raises(TypeError):
        backends["third"] = None  # type: ignore[index]
    with pytest.raises(KeyError):
        backends["third"]
