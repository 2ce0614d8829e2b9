"""Dispatch arguments: the values by whose types a call is decided, and mistakes in naming them."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest

from spatch_core import BackendSystem


def finding(finder: Any) -> Any:
    """A dispatchable of this finder, and a backend for strings."""
    system = BackendSystem(
        None,
        "FINDERS",
        ["builtins:int"],
        backends=[{"name": "a", "primary_types": ["builtins:str"]}],
    )

    def join(x: Any, y: Any = None) -> str:
        return "default"

    return system.dispatchable(finder, module="lib", qualname="join")(join)


@pytest.mark.parametrize(
    ("finder", "text"),
    [
        (lambda x, y=None: None, "but 'NoneType' object is not iterable"),
        (lambda x, y=None: 3, "several objects in a tuple or list, but 'int' object is not"),
        (lambda x: (x,), "must take the arguments of every call, as the function does, and return"),
        (lambda x, z=None: (x,), "unexpected keyword argument 'y'"),
    ],
    ids=["none", "one", "too-few", "other-name"],
)
def test_a_finder_that_does_not_fit_is_named_with_its_function(finder: Any, text: str) -> None:
    """F4: the error names the wrong result, or the arguments that it does not accept."""
    join = finding(finder)
    for call in (join, join.explain, join.invoke(type=int)):
        with pytest.raises(TypeError) as caught:
            call(1, y=2)
        assert "lib:join: the callable that finds its dispatch arguments " in str(caught.value)
        assert text in str(caught.value)
        assert isinstance(caught.value.__cause__, TypeError)


def test_a_wrong_call_is_told_from_a_wrong_finder() -> None:
    """The error of the function itself is raised, also by `explain`."""
    join = finding(lambda x, y=None: (x, y))
    for call in (join, join.explain):
        with pytest.raises(TypeError, match=r"^join\(\) missing a required argument: 'x'$"):
            call()
        with pytest.raises(TypeError, match=r"^join\(\) got an unexpected keyword argument 'z'$"):
            call(1, z=2)


def test_an_error_in_a_finder_is_its_own() -> None:
    """Also a `TypeError`, and an error of a generator."""

    def broken(x: Any) -> Any:
        return x + ""

    def lazy(x: Any) -> Any:
        yield x + ""

    for finder in (broken, lazy):
        with pytest.raises(TypeError, match=r"^unsupported operand") as caught:
            finding(finder)(1)
        assert "finds its dispatch" not in str(caught.value)


class Mine:
    """The type of the backend."""


def answer(*args: Any, **kwargs: Any) -> str:
    return "backend"


class Backend:
    """Implements every function for its type."""

    name = "mine"
    primary_types = (f"{__name__}:Mine",)
    functions = {"*": {"function": answer, "uses_context": True}}  # noqa: RUF012  # a description


def plain(x: Any, y: Any = 1, *rest: Any, key: Any = 2, **options: Any) -> str:
    return "default"


def many_locals(x: Any, *, y: Any = 1) -> Any:
    z = ["default"]
    return z[0]


def oddly_signed() -> None: ...


oddly_signed.__signature__ = 3  # type: ignore[attr-defined]


def dispatchable(function: Any, names: Any) -> Any:
    system = BackendSystem(None, "TEST_PARAMETERS", backends=[Backend])
    return system.dispatchable(names, module="lib", qualname="f")(function)


@pytest.mark.parametrize(
    "mapping",
    [{"x": -1}, {"x": 64}, {"x": "0"}, {"x": True}, {"x": 1.0}, {0: 0}, {None: 0}, {"x": 0, 1: 1}],
    ids=repr,
)
def test_a_wrong_mapping_is_refused(mapping: Any) -> None:
    """The error repeats the value and names the function."""
    with pytest.raises(TypeError, match="lib:f: dispatch arguments map names to positions"):
        dispatchable(plain, mapping)


@pytest.mark.parametrize("name", ["z", "rest", "options", "self", "", 3], ids=repr)
def test_an_unknown_name_is_refused(name: Any) -> None:
    """The error lists the parameters, and the remedy for ``*args`` and ``**kwargs``."""
    with pytest.raises(TypeError, match=r"lib:f has no parameter .*x, y, key.*callable"):
        dispatchable(plain, [name])


def test_other_mistakes_are_refused_where_the_function_is_decorated() -> None:
    """Each message says what to write."""
    with pytest.raises(TypeError, match="it has none"):
        dispatchable(lambda: None, "x")
    with pytest.raises(TypeError, match="no parameter 'z'"):
        dispatchable(many_locals, "z")
    with pytest.raises(TypeError, match="no parameter 'args' of one argument; it has none"):
        dispatchable(lambda *args: None, "args")
    with pytest.raises(TypeError, match=r"lib:f: the dispatch arguments are a name, .* not 3"):
        dispatchable(plain, 3)
    with pytest.raises(TypeError, match=r"cannot be determined.*\{name: position\}") as caught:
        dispatchable(oddly_signed, "x")
    assert isinstance(caught.value.__cause__, (TypeError, ValueError))


HERE = __name__


class Own:
    """The library's type."""


class Foreign:
    """The backend's type."""


def record(*args: Any, **kwargs: Any) -> Any:
    return "gpu", args, kwargs


def with_context(context: Any, *args: Any, **kwargs: Any) -> Any:
    return context.dispatch_args, args, kwargs


def make(default: Any, *dispatch_args: Any, entry: Any = None, **options: Any) -> Any:
    backend = {
        "name": "gpu",
        "primary_types": [f"{HERE}:Foreign"],
        "functions": {"lib:f": entry or {"function": record}},
    }
    system = BackendSystem(
        None, "FINDLIB", [f"{HERE}:Own"], [backend], fallback=options.pop("fallback", "default")
    )
    return system, system.dispatchable(*dispatch_args, identifier="lib:f", **options)(default)


def zeros(shape: Any, *, dtype: Any = None, like: Any = None) -> Any:
    """Make zeros."""
    return "default", shape, dtype, like


def join(arrays: Any, axis: int = 0) -> Any:
    return "default", arrays, axis


@pytest.mark.parametrize("make_iterator", [iter, lambda xs: (x for x in xs)])
def test_an_iterator_is_one_argument(make_iterator: Any) -> None:
    """V9: looking into it would use it up."""
    _, f = make(join, inside="arrays")
    pair = [Foreign(), Foreign()]
    name, arrays, _ = f(make_iterator(pair))
    assert (name, [*arrays]) == ("default", pair)


def test_like_decides_and_is_left_out() -> None:
    """V9: of the calls of the default and of the backends; the signature shows it."""
    _, f = make(zeros, like="like")
    like = Foreign()
    for _ in range(2):
        assert f(3) == ("default", 3, None, None)
        assert f(3, like=None) == ("default", 3, None, None)
        assert f(3, like=Own(), dtype="f") == ("default", 3, "f", None)
        assert f(3, like=like) == ("gpu", (3,), {})
        assert f(shape=3, like=like, dtype="f") == ("gpu", (), {"shape": 3, "dtype": "f"})
    assert "like" in inspect.signature(f).parameters
    assert f.explain(3, like=like).selected == "gpu"
    assert f.invoke(backend="gpu")(3, like=like) == ("gpu", (3,), {})
    assert f.invoke(type=Foreign)(3) == ("gpu", (3,), {})


def test_like_is_a_dispatch_argument() -> None:
    """V9: in addition to other dispatch arguments, if these are named."""
    _, f = make(zeros, "shape", like="like", entry={"function": with_context, "uses_context": True})
    like, shape = Foreign(), Foreign()
    assert f(3, like=like) == ((like, 3), (3,), {})
    assert f(shape)[0] == (shape,)
    assert f(shape, like=like)[0] == (like, shape)


def test_coroutine_functions_have_like() -> None:
    """V9: like plain functions."""

    async def later(shape: Any, *, like: Any = None) -> Any:
        return "default", shape, like

    async def implementation(*args: Any, **kwargs: Any) -> Any:
        return "gpu", args, kwargs

    _, f = make(later, like="like", entry={"function": implementation})
    assert asyncio.run(f(3, like=Own())) == ("default", 3, None)
    assert asyncio.run(f(3, like=Foreign())) == ("gpu", (3,), {})


def test_elements_decide() -> None:
    """V9: the elements of nested lists and tuples, in order, without the containers."""
    _, f = make(join, inside="arrays")
    assert f([Own(), Own()])[0] == "default"
    assert f([Foreign(), (Own(), [Foreign()])])[0] == "default"  # Own counts, and gpu lacks it
    assert f([1, (2.0, [Foreign(), None])])[0] == "gpu"
    assert f((), axis=1)[0] == "default"
    assert f(Foreign())[0] == "gpu"
    assert f(arrays=[[Foreign()]], axis=1)[0] == "gpu"
    for unread in ({"x": Foreign()}, {Foreign()}, iter([Foreign()])):
        assert f(unread)[0] == "default"


def test_a_context_has_all_elements() -> None:
    """V9: although one of each type decides."""
    _, f = make(join, inside="arrays", entry={"function": with_context, "uses_context": True})
    several = [Foreign(), Foreign(), 1]
    assert f([several[0], None, [several[1], 1]])[0] == tuple(several)


def test_mistakes_are_found_where_the_function_is_decorated() -> None:
    """V9: with the parameter that is wrong."""
    cases: list[tuple[dict[str, Any], str]] = [
        ({"like": "lik"}, "no parameter 'lik'"),
        ({"like": "shape"}, "passed by keyword only"),
        ({"like": 3}, "like= takes the name"),
        ({"inside": "dtyp"}, "no parameter 'dtyp'"),
    ]
    for options, message in cases:
        with pytest.raises(TypeError, match=message):
            make(zeros, **options)
    with pytest.raises(TypeError, match="which is not a dispatch argument"):
        make(zeros, "shape", inside="dtype")
    with pytest.raises(TypeError, match="not a callable that finds them"):
        make(zeros, lambda *args, **kwargs: args, like="like")
