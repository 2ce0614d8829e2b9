"""The end of a chain: fallback policies, refusals, warnings, notes, and errors of backends."""

from __future__ import annotations

import asyncio
import pickle
import sys
import traceback
import warnings
from functools import partial
from typing import Any

import pytest

from spatch_core import (
    IF_NEEDED,
    BackendSystem,
    FallbackWarning,
    NoImplementationError,
    SpatchCoreError,
)
from spatch_core.types import Verdict
from tests import library
from tests.library import HERE, Foreign, Other, Own, answering, declines, describe


class Returned(Own):
    """A type that the library returns, too."""


WITH_NOTES = pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have no notes")
ASKED: list[str] = []


def says_no(context: Any, *args: Any) -> str:
    ASKED.append(context.name)
    return "too small"


def default(x: Any = None, y: Any = None) -> str:
    return "default"


make: Any = partial(library.make, default=default, dispatch_args=("x", "y"))
GPU = describe("gpu")
DECLINES = describe("gpu", declines)


@pytest.mark.parametrize("policy", ["default", "warn", "raise", "convert"])
def test_calls_without_foreign_types_never_change(policy: str) -> None:
    """V1: the library's types, Python's own classes and None are not foreign."""
    _, f = make(GPU, fallback=policy)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for args in [(Own(),), (Own(), 1.5), ([Own()],), (3, "x"), (None,), ()]:
            assert f(*args) == "default"


def test_a_secondary_type_of_the_library_is_not_foreign() -> None:
    """V1: such as the scalars that it returns; for backends it does not count."""
    _, f = make(GPU, fallback="raise", default_secondary_types=[f"{__name__}:Returned"])
    assert f(Returned()) == "default"
    assert f(Own(), Returned()) == "default"
    assert f(Foreign(), Returned()) == "gpu"
    with pytest.raises(NoImplementationError):
        f(Other(), Returned())


@pytest.mark.parametrize("args", [(Foreign(),), (Own(), Other()), (Other(), 1)], ids=len)
def test_raise_refuses_calls_that_no_backend_takes(args: Any) -> None:
    """V1, V2: also where the default matches only because a foreign type was ignored."""
    _, f = make(DECLINES, fallback="raise")
    with pytest.raises(NoImplementationError) as caught:
        f(*args)
    error = caught.value
    assert isinstance(error, TypeError)
    assert isinstance(error, SpatchCoreError)
    assert error.function == "lib:f"
    assert error.policy == "raise"
    assert set(error.foreign) <= {f"{HERE}:Foreign", f"{HERE}:Other"}


def test_a_refusal_has_the_reason_of_every_backend_and_asks_none_twice() -> None:
    """V2: the reasons are those that were given in this very call."""
    ASKED.clear()
    _, f = make(
        describe("asked", should_run=says_no),
        describe("declines", declines),
        describe("shy", requires_opt_in=True),
        describe("lacks", functions={}),
        fallback="raise",
    )
    with pytest.raises(NoImplementationError) as caught:
        f(Foreign())
    assert ASKED == ["asked"]
    reasons = {each.backend: str(each) for each in caught.value.backends}
    assert reasons == {
        "asked": "asked defers: too small",
        "declines": "declines defers: it returned NotImplemented",
        "shy": "shy inactive: it requires opt-in: prioritize='shy'",
        "lacks": "lacks has no implementation",
    }
    text = str(caught.value)
    assert all(each in text for each in reasons.values())
    assert "prioritize='shy'" in caught.value.remedies[0]
    assert "fallback='default'" in caught.value.remedies[-1]


ACTIVE = describe("active", declines)
DISABLED = describe("absent")
OPT_IN = describe("shy", requires_opt_in=True)
CONVERSIONS: dict[str, Any] = {"to_default": answering(Own()), "from_default": answering(Foreign())}
CONVERTS = describe("bridge", also="Own", functions={}, **CONVERSIONS)
CONVERTS_ON_REQUEST = {**CONVERTS, "requires_opt_in": True}


@pytest.mark.parametrize(
    ("backend", "policy", "remedies"),
    [
        (ACTIVE, "raise", []),
        (OPT_IN, "raise", ["prioritize='shy'"]),
        (CONVERTS, "raise", ["fallback='convert'"]),
        (CONVERTS_ON_REQUEST, "convert", ["prioritize='bridge'"]),
        (CONVERTS_ON_REQUEST, "raise", ["prioritize='bridge', fallback='convert'"]),
        (DISABLED, "raise", ["prioritize='absent'"]),
    ],
    ids=["active", "opt-in", "policy", "opt-in to convert", "both", "disabled"],
)
@pytest.mark.parametrize("beside", [True, False], ids=["beside another", "alone"])
def test_a_refusal_lists_what_helps(
    beside: bool, backend: Any, policy: str, remedies: list[str]
) -> None:
    """V2: the options to write, whether or not another backend knows the types."""
    backends = [ACTIVE, backend] if beside and backend is not ACTIVE else [backend]
    system, f = make(*backends, fallback=policy)
    disable = ["absent"] if backend is DISABLED else []
    with system.backend_opts(disable=disable), pytest.raises(NoImplementationError) as caught:
        f(Foreign())
    options = [*remedies, "fallback='default'"]
    assert len(caught.value.remedies) == len(options)
    for said, expected in zip(caught.value.remedies, options, strict=True):
        assert said.startswith(f"with backend_opts({expected})")


def test_a_refusal_of_a_disabled_default_proposes_no_conversion() -> None:
    """S4, V2: what converts would convert for it."""
    system, f = make(CONVERTS, fallback="raise", default_name="mylib")
    for options in ({}, {"fallback": "convert"}):
        with (
            system.backend_opts(disable="mylib", **options),
            pytest.raises(NoImplementationError) as caught,
        ):
            f(Foreign())
        assert caught.value.remedies == (
            "without disable='mylib', the library's own implementation takes part",
        )


def test_block_beats_function_beats_library() -> None:
    """V1: the innermost policy counts."""
    _, f = make(DECLINES, fallback="raise")
    system, g = make(DECLINES, fallback="raise", traits={"fallback": "default"})
    assert g(Foreign()) == "default"
    with system.backend_opts(fallback="raise"), pytest.raises(NoImplementationError):
        g(Foreign())
    with pytest.raises(NoImplementationError):
        f(Foreign())
    opts = system.backend_opts
    assert opts().fallback is None
    with opts(fallback="raise"):
        assert opts().fallback == "raise"
        with opts(fallback="default"):
            assert g(Foreign()) == "default"
        with opts(prioritize="gpu"), pytest.raises(NoImplementationError):
            g(Foreign())
    assert g(Foreign()) == "default"


def test_no_policy_applies_to_a_compositional_function() -> None:
    """V1: it takes whatever the functions take that it is written with."""
    system, part = make(GPU, fallback="raise")

    @system.dispatchable("x", module="lib", qualname="whole", compositional=True)  # type: ignore[untyped-decorator]
    def whole(x: Any) -> Any:
        return part(x)

    assert whole(Foreign()) == "gpu"
    with pytest.raises(NoImplementationError, match="lib:f cannot be called"):
        whole(Other())
    with system.backend_opts(fallback="raise"):
        assert whole(Foreign()) == "gpu"
    assert whole.explain(Other()).selected == "default"


def test_warn_warns_once_for_a_function_and_types() -> None:
    """V3: at the line of the caller, with the reasons."""
    system, f = make(DECLINES, fallback="warn")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert [f(Foreign()), f(Foreign()), f(Other()), f(Other())] == ["default"] * 4
        with system.backend_opts(prioritize="gpu"):
            f(Foreign())
    first, second = caught
    assert first.filename == __file__
    assert isinstance(first.message, FallbackWarning)
    assert first.message.types == (f"{HERE}:Foreign",)
    assert "gpu defers: it returned NotImplemented" in str(first.message)
    assert isinstance(second.message, FallbackWarning)
    assert pickle.loads(pickle.dumps(second.message)).types == (f"{HERE}:Other",)


def test_a_warning_has_the_bytes_of_the_foreign_arguments() -> None:
    """V3: of all arguments, in whatever container, each once."""

    class Large:
        nbytes = 4000

    _, f = make(GPU, fallback="warn")
    large = Large()
    with pytest.warns(FallbackWarning, match=r"\(8000 bytes\)") as caught:
        f(large, [large, {"y": Large()}])
    message = caught[0].message
    assert isinstance(message, FallbackWarning)
    assert pickle.loads(pickle.dumps(message)).size == 8000


def test_a_warning_that_is_an_error_is_raised_each_time() -> None:
    """V3: else the second call would run the default silently."""
    _, f = make(GPU, fallback="warn")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(FallbackWarning):
                f(Other())
    with pytest.warns(FallbackWarning):
        assert f(Other()) == "default"


@WITH_NOTES
@pytest.mark.parametrize(
    "backend",
    [
        GPU,
        DECLINES,
        describe("gpu", should_run=says_no),
        describe("gpu", declines, uses_context=True),
    ],
    ids=["does not match", "declines", "asked", "context"],
)
@pytest.mark.parametrize("policy", ["default", "warn"])
@pytest.mark.filterwarnings("ignore::spatch_core.FallbackWarning")
def test_an_exception_of_the_default_says_why_it_ran(backend: Any, policy: str) -> None:
    """V3: in a note, for foreign types alone; the traceback is the same."""
    own: Any = ValueError("no")

    def default(x: Any, y: Any = None) -> Any:
        raise own

    _, f = make(backend, default=default, fallback=policy)
    with pytest.raises(ValueError, match="no"):
        f(Own())
    assert not hasattr(own, "__notes__")
    value = Other() if backend is GPU else Foreign()
    for _ in range(3):
        with pytest.raises(ValueError, match="no") as caught:
            f(value)
        assert caught.value is own
        assert caught.value.__context__ is None
    (note,) = own.__notes__
    assert note.startswith("No backend ran lib:f for ")
    assert "gpu " in note


def test_coroutine_and_generator_functions_are_refused_where_they_start() -> None:
    """V1: when they are awaited, or at the first step."""

    async def coroutine(x: Any, y: Any = None) -> Any:
        return "default"

    def generator(x: Any, y: Any = None) -> Any:
        yield "default"

    _, f = make(GPU, default=coroutine, fallback="raise")
    assert asyncio.run(f(Own())) == "default"
    with pytest.raises(NoImplementationError):
        asyncio.run(f(Other()))
    _, g = make(GPU, default=generator, fallback="raise")
    assert [*g(Own())] == ["default"]
    steps = g(Other())
    with pytest.raises(NoImplementationError):
        next(steps)


def test_misspelled_policies_are_refused() -> None:
    """V1: with the nearest one."""
    system, _ = make(GPU)
    for call in (
        lambda: BackendSystem(None, "ENDLIB", fallback="rais"),
        lambda: system.dispatchable("x", identifier="lib:g", fallback="rais")(len),
        lambda: system.backend_opts(fallback="rais"),
    ):
        with pytest.raises(ValueError, match="'raise'"):
            call()
    with pytest.raises(ValueError, match="fallback= takes one of"):
        system.backend_opts(fallback=3)
    with pytest.raises(TypeError, match="compositional"):
        system.dispatchable("x", identifier="lib:g", fallback="raise", compositional=True)(len)


@pytest.mark.parametrize("policy", ["default", "raise", "warn"])
@pytest.mark.parametrize(
    ("others", "answer"),
    [((), "lazy"), ((DECLINES,), "lazy"), ((GPU,), "gpu")],
    ids=["alone", "another declines", "another runs"],
)
def test_if_needed_runs_where_no_other_one_does(others: Any, answer: str, policy: str) -> None:
    """C3: before the end of the chain, and without being asked again."""
    asked = []

    def needed(context: Any, *args: Any) -> Any:
        asked.append(context.name)
        return IF_NEEDED

    system, f = make(describe("lazy", should_run=needed), *others, fallback=policy)
    assert f.explain(Foreign()).selected == ("gpu" if others else "lazy")
    asked.clear()
    assert f(Foreign()) == answer
    with system.backend_opts(trace=True):
        assert f(Foreign()) == answer
    assert asked == ["lazy", "lazy"]
    assert pickle.loads(pickle.dumps(IF_NEEDED)) is IF_NEEDED
    assert repr(IF_NEEDED) == "IF_NEEDED"


def fails(*args: Any, **kwargs: Any) -> Any:
    raise LookupError("no such table")


def narrow(x: Any) -> str:
    return "narrow"


def narrow_too(context: Any, x: Any) -> bool:
    return True


def look_up(x: Any, y: int = 0) -> Any:
    if y < 0:
        raise LookupError("of the library")
    return "default"


raising: Any = partial(library.make, default=look_up, types="builtins:int")
OPTIONS: dict[str, Any] = {
    "without options": {},
    "traced": {"trace": True},
    "hooked": {"hook": lambda call: call.next(*call.args, **call.kwargs)},
}


@WITH_NOTES
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("entry", [{"function": fails}, {"should_run": fails}], ids=[*"fs"])
def test_an_exception_names_the_backend_that_raised_it(entry: Any, options: Any) -> None:
    """C7: its `should_run`, too; `test_candidate_chain.py` has the forms of implementations."""
    system, f = raising(describe("gpu", **entry))
    for _ in range(2):
        with system.backend_opts(**options), pytest.raises(LookupError, match="table") as caught:
            f(Foreign())
        notes: Any = getattr(caught.value, "__notes__", ())
        (note,) = notes
        assert all(each in note for each in ("'gpu'", "lib:f", "disable='gpu'"))
        assert traceback.extract_tb(caught.tb)[-1].name == "fails"
    with pytest.raises(LookupError, match="of the library") as caught:
        f(1, y=-1)
    assert not hasattr(caught.value, "__notes__")


@WITH_NOTES
def test_an_exception_of_the_next_one_is_not_blamed_on_the_backend() -> None:
    """C7: the note says which backend ran, not that the exception is its own."""
    goes_on = describe("gpu", lambda context, x, y: context.call_next(x, y), uses_context=True)
    _, f = raising(goes_on)
    with pytest.raises(LookupError, match="of the library") as caught:
        f(Foreign(), -1)
    notes: Any = getattr(caught.value, "__notes__", ())
    assert notes[-1].startswith("Raised while the backend 'gpu' ran lib:f; ")


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize(
    "entry",
    [{}, {"should_run": answering(True)}, {"should_run": narrow_too}],
    ids=["plain", "asks", "asks with its own signature"],
)
def test_arguments_that_do_not_fit_give_the_librarys_own_error(entry: Any, options: Any) -> None:
    """C7: whatever the signature of the implementation."""
    system, f = raising(describe("gpu", narrow, **entry))
    with system.backend_opts(**options):
        assert f(Foreign()) == "narrow"
        with pytest.raises(TypeError, match=r"^look_up\(\) got an unexpected .* argument 'z'"):
            f(Foreign(), z=1)
        with pytest.raises(TypeError, match=r"narrow\w*\(\)"):
            f(Foreign(), 1)  # it fits the library's signature: the backend's own mistake


@pytest.mark.parametrize(
    "entry",
    [
        {"function": "no_such_module:f"},
        {"function": "no_such_module:f", "should_run": answering(IF_NEEDED)},
        {"should_run": "no_such_module:asks"},
        {"should_run": fails},
    ],
    ids=["implementation", "implementation if needed", "should_run", "should_run raises"],
)
def test_explain_says_that_a_call_would_raise(entry: dict[str, Any]) -> None:
    """F7: it never raises what the call would."""
    _, f = raising(describe("gpu", **entry))
    explanation = f.explain(Foreign())
    line = explanation.backends[0]
    assert line.verdict is Verdict.RAISES
    assert "no_such_module" in line.reason or "no such table" in line.reason
    assert explanation.selected is None
    with pytest.raises((ImportError, LookupError)):
        f(Foreign())
