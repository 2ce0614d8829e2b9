"""``context.call_next``: a backend goes on with the rest of the chain."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from spatch_core import BackendDeferredError, NoImplementationError
from tests.call.test_progress import (
    ASKED,
    Foreign,
    Own,
    answers,
    decides,
    make,
    needed,
)

HERE = Foreign.__module__


def goes_on(context: Any, x: Any, **options: Any) -> Any:
    return f"{context.name}({context.call_next(x, **options)})"


def converts(context: Any, x: Any) -> Any:
    return f"{context.name}({context.call_next(Own())})"


def goes_on_and_declines(context: Any, x: Any) -> Any:
    context.call_next(x)
    return NotImplemented


def goes_on_and_raises(context: Any, x: Any) -> Any:
    context.call_next(x)
    raise KeyError


def with_context(function: Any, **more: Any) -> dict[str, Any]:
    return {"function": function, "uses_context": True, **more}


@pytest.mark.parametrize("asks", [False, True])
def test_call_next_goes_on_with_the_rest(asks: bool) -> None:
    """C5: it never comes back; keyword arguments are handed on."""
    more = {"should_run": decides} if asks else {}
    _, f = make(with_context(goes_on, **more), with_context(goes_on, **more), answers)
    assert f(Foreign()) == "b0(b1(answers))"
    _, f = make(with_context(goes_on, **more), with_context(goes_on, **more))
    assert f(Foreign()) == "b0(b1(default))"
    system, f = make(with_context(goes_on, **more), fallback="raise")
    with pytest.raises(NoImplementationError):
        f(Foreign())
    with system.backend_opts(trace=True, fallback="default") as trace:
        assert f(Foreign()) == "b0(default)"
    assert [each.backend for each in trace] == ["b0", "default"]


def test_call_next_with_other_types_resolves_anew() -> None:
    """C5: without the backends that were considered before."""
    _, f = make(with_context(converts), answers, fallback="raise")
    assert f(Foreign()) == "b0(default)"
    both = {"name": "b1", "primary_types": [f"{HERE}:Own", f"{HERE}:Foreign"]}
    system, f = make(with_context(converts))
    system.register({**both, "functions": {"lib:f": {"function": answers}}})
    with system.backend_opts(prioritize=["b0", "b1"]):
        assert f(Foreign()) == "b0(answers)"


def test_no_backend_is_asked_twice_whatever_goes_on() -> None:
    """C3, C5: also after `IF_NEEDED`, and if the backend that goes on defers itself."""
    lazy = {"function": answers, "should_run": needed}
    asked = {"function": lambda x: NotImplemented, "should_run": decides}
    for implementations, answer in [
        ((lazy, with_context(goes_on), asked), "b1(answers)"),
        ((with_context(goes_on_and_declines), asked), "default"),
        ((with_context(goes_on, should_run=needed), asked, lazy), "b0(answers)"),
        ((with_context(goes_on_and_declines, should_run=needed), asked, lazy), "answers"),
    ]:
        ASKED.clear()
        _, f = make(*implementations)
        assert f(Foreign()) == answer
        assert len(ASKED) == len(set(ASKED))


def in_two_parts(context: Any, x: Any) -> Any:
    return context.call_next("small"), context.call_next(x)


def prefers_large(context: Any, x: Any) -> Any:
    return x != "small"


def declines_small(x: Any) -> Any:
    return NotImplemented if x == "small" else "answers"


@pytest.mark.parametrize("is_traced", [False, True])
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize(
    "behind",
    [{"function": answers, "should_run": prefers_large}, {"function": declines_small}],
    ids=["asked", "declines"],
)
def test_call_next_with_other_arguments_is_a_call_of_its_own(
    behind: Any, place: int, is_traced: bool
) -> None:
    """C5: what a backend said of a part of the data does not hold for another part."""
    lazy = {"function": answers, "should_run": lambda context, x: False}
    system, f = make(*[lazy] * place, with_context(in_two_parts), behind)
    with system.backend_opts(type=Foreign, trace=is_traced):
        assert f("large") == ("default", "answers")


@pytest.mark.parametrize("is_traced", [False, True])
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("asks", [False, True])
@pytest.mark.parametrize("dispatch_args", ["x", lambda x: (x,)], ids=["name", "finder"])
def test_no_backend_runs_twice_if_one_defers_after_call_next(
    dispatch_args: Any, asks: bool, place: int, is_traced: bool
) -> None:
    """C1, C5: what `call_next` returned for the arguments of the call is the answer."""
    lazy = {"function": answers, "should_run": lambda context, x: False}
    ran = []

    def runs(x: Any) -> str:
        ran.append(x)
        return "answers"

    for declining in [
        with_context(goes_on_and_declines),
        with_context(goes_on_and_raises, should_run=decides),
    ]:
        ASKED.clear()
        ran.clear()
        behind = {"function": runs, **({"should_run": decides} if asks else {})}
        system, f = make(
            *([lazy] * place), declining, behind, dispatch_args=dispatch_args, defer_on=[KeyError]
        )
        with system.backend_opts(trace=is_traced) as trace:
            assert f(Foreign()) == "answers"
        assert len(ran) == 1
        assert len(ASKED) == len(set(ASKED))
        if is_traced:
            assert len(trace) == len({(each.backend, each.outcome) for each in trace})


def test_a_backend_that_defers_after_call_next_with_other_arguments_is_left_out() -> None:
    """C5: then the call goes on with its own arguments."""

    def part(context: Any, x: Any) -> Any:
        assert context.call_next("small") == "default"
        return NotImplemented

    behind = {"function": answers, "should_run": prefers_large}
    system, f = make(with_context(part), behind)
    with system.backend_opts(type=Foreign):
        assert f("large") == "answers"


def test_a_context_without_a_call_cannot_go_on() -> None:
    """C5: it says where contexts come from."""
    kept = []

    def keeps(context: Any, x: Any) -> str:
        kept.append(context)
        return "kept"

    _, f = make(with_context(keeps))
    f(Foreign())
    again = pickle.loads(pickle.dumps(kept[0]))
    with pytest.raises(RuntimeError, match="needs the context of a running call"):
        again.call_next(Foreign())


def test_a_demanded_backend_cannot_go_on() -> None:
    """C5, F8: there is no other candidate for what `invoke` names."""
    _, f = make(with_context(goes_on))
    assert f(Foreign()) == "b0(default)"
    with pytest.raises(BackendDeferredError, match="names no other backend") as caught:
        f.invoke(backend="b0")(Foreign())
    assert not hasattr(caught.value, "__notes__")  # it names the backend itself
