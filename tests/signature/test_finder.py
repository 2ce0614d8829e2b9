"""Dispatch arguments inside lists, and an argument that is used only for its type."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest

from spatch_core import BackendSystem

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
