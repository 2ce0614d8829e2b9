"""The call itself: the rules C of docs/reference/rules.md."""

from __future__ import annotations

import pickle
import sys
import traceback
import warnings
from typing import Any

import pytest

import spatch_core
from spatch_core import (
    BackendDeferredError,
    DispatchContext,
    ImplementationImportError,
    SpatchCoreWarning,
)
from tests.library import Foreign, Other, Own, answering, declines, describe, make

# Every form that a target in the tables can take: the implementation itself, or what asks,
# adds the context, traces, or watches for registrations.
FORMS = ("plain", "asked", "context", "traced", "guarded")


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


ASKED: list[Any] = []


def asks(context: DispatchContext, /, *args: Any, **kwargs: Any) -> bool:
    assert isinstance(context, DispatchContext)
    ASKED.append((args, kwargs))
    return True


def make_in_form(form: str, *implementations: Any, **options: Any) -> Any:
    """Make a library whose backends (b0, b1, …) are called in one of the forms."""
    backends = []
    for number, implementation in enumerate(implementations):
        fields: dict[str, Any] = {"should_run": asks} if form == "asked" else {}
        if form == "context":
            fields["uses_context"] = True

            def implementation(
                context: DispatchContext, /, *args: Any, _plain: Any = implementation, **kwargs: Any
            ) -> Any:
                assert isinstance(context, DispatchContext)
                return _plain(*args, **kwargs)

        backends.append(describe(f"b{number}", implementation, **fields))
    if form == "guarded":
        backends.append(describe("abstract", types="@collections.abc:Sized", functions={}))
    system, function = make(*backends, **options)
    return system, function, system.backend_opts(trace=form == "traced")


def record(*args: Any, **kwargs: Any) -> Any:
    return args, kwargs


# ---------------------------------------------------------------------------------------
# C3: should_run


class Ambiguous:
    """Like an array of booleans: its truth is not to be asked for."""

    def __bool__(self) -> bool:
        raise ValueError("ambiguous")

    def __eq__(self, other: object) -> bool:
        raise ValueError("ambiguous")

    __hash__ = None  # type: ignore[assignment]


class Truthy:
    """Like NumPy's bool: equal to True, but not it."""

    def __eq__(self, other: object) -> bool:
        return other is True

    def __hash__(self) -> int:
        return hash(True)


@pytest.mark.parametrize(
    "answer",
    [False, None, "too small", "", 1, 2.5, [True], NotImplemented, Ambiguous(), Truthy()],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_only_true_runs(answer: Any) -> None:
    """C3: all else defers, however truthy; a string is the reason, an odd answer warns once."""
    system, f = make(describe("first", should_run=answering(answer)), describe("second"))
    is_odd = answer is not False and answer is not None and not isinstance(answer, str)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SpatchCoreWarning)
        with system.backend_opts(trace=True) as trace:
            assert f(Foreign()) == "second"
        assert f(Foreign()) == f.explain(Foreign()).selected == "second"
    assert [(each.category, each.filename) for each in caught] == (
        [(SpatchCoreWarning, __file__)] * is_odd
    )
    assert all("'first'" in str(each.message) for each in caught)
    deferred, called = trace
    assert (deferred.backend, str(deferred.outcome)) == ("first", "deferred")
    if isinstance(answer, str):
        assert deferred.reason == answer
    else:
        assert "should_run returned" in deferred.reason
    assert (called.backend, str(called.outcome), called.reason) == ("second", "called", "")


def test_should_run_is_asked_at_every_call_in_order() -> None:
    """C3: the answer is never remembered, and no backend behind the answering one is asked."""
    asked: list[str] = []

    def ask(name: str) -> Any:
        def should_run(context: Any, x: Any, wanted: str) -> bool:
            asked.append(name)
            return name == wanted

        return should_run

    names = ("first", "second", "third")
    backends = [describe(name, should_run=ask(name)) for name in names]
    _, f = make(*backends, default=lambda x, wanted: "default")
    wanted = ("second", "first", "nobody", "third")
    answers = [f(Foreign(), each) for each in wanted]
    assert answers == ["second", "first", "default", "third"]
    # In the order of the calls.
    assert " ".join(asked) == "first second first first second third first second third"


# ---------------------------------------------------------------------------------------
# C4, C5: the arguments, the context, the import


def plain(x: Any, y: Any = 1, *rest: Any, key: Any = 2, **options: Any) -> Any: ...
def positional_only(x: Any, /, y: Any = 1, **options: Any) -> Any: ...
def keyword_only(y: Any = 1, *, x: Any = None, key: Any = 2) -> Any: ...
def late(y: Any = 1, z: Any = 2, x: Any = None) -> Any: ...
def named_like_the_wrapper(x: Any, *, rest: Any, keywords: Any, a0: Any, call: Any) -> Any: ...
def with_self(self: Any, x: Any, **options: Any) -> Any: ...


X = Foreign()
CALLS: list[Any] = [
    (plain, "x", (X, 5, 6, 7), {"key": 8, "more": 9}),
    (plain, "x", (), {"y": 5, "x": X}),
    (plain, "x", (X,), {"self": 1, "function": 2, "args": 3, "kwargs": 4, "context": 5}),
    (plain, ("x", "y"), (X, None, 1), {"k": None}),
    (plain, ("x", "key"), (X,), {"key": X}),
    (plain, None, (X, 5), {"key": X}),
    (plain, lambda x, *args, **kwargs: [x], (X, 5), {"key": X}),
    (plain, {"more": None, "x": 0}, (1,), {"more": X}),
    (positional_only, ("x", "y"), (X,), {"x": 5, "y": X}),
    (keyword_only, "x", (5,), {"x": X, "key": 6}),
    (late, "x", (1,), {"x": X, "z": 3}),
    (named_like_the_wrapper, "x", (X,), {"rest": 1, "keywords": 2, "a0": 3, "call": 4}),
    (with_self, "x", (), {"self": 1, "x": X, "k": 2}),
]


@pytest.mark.parametrize(
    ("default", "dispatch_args", "args", "kwargs"),
    CALLS,
    ids=[f"{case[0].__name__}-{position}" for position, case in enumerate(CALLS)],
)
def test_implementation_gets_exactly_what_was_given(
    default: Any, dispatch_args: Any, args: Any, kwargs: Any, form: str
) -> None:
    """C3, C4: positional as positional, keyword as keyword (in order), omitted as omitted.

    So does its `should_run`, after the context.
    """
    _, f, options = make_in_form(form, record, default=default, dispatch_args=dispatch_args)
    with options:
        for _ in range(2):  # the first call fills the table, the second one reads it
            got_args, got_kwargs = f(*args, **kwargs)
            assert got_args == args
            assert list(got_kwargs.items()) == list(kwargs.items())
            assert form != "asked" or ASKED.pop() == (args, kwargs)


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((), {}), ((X,), {"x": X}), ((X,), {"wrong": 1}), ((1, 2, 3), {}), ((), {"x": 1, "y": 2})],
)
def test_wrong_call_fails_as_the_default_would(args: Any, kwargs: Any) -> None:
    """C4: a wrong call reaches an implementation, whose TypeError the caller gets."""

    def f(x: Any) -> Any: ...

    f.__qualname__ = "f"  # its public one
    with pytest.raises(TypeError) as expected:
        f(*args, **kwargs)
    _, dispatchable = make(default=f)
    for _ in range(2):
        with pytest.raises(TypeError) as caught:
            dispatchable(*args, **kwargs)
        assert str(caught.value) == str(expected.value)


@pytest.mark.parametrize("prioritized", [False, True])
def test_context_says_what_is_known_about_the_call(prioritized: bool) -> None:
    """C4, C5: a DispatchContext comes first where uses_context is true; its fields."""
    contexts: list[DispatchContext] = []

    def should_run(context: DispatchContext, *args: Any, **kwargs: Any) -> bool:
        contexts.append(context)
        return True

    def implementation(context: DispatchContext, *args: Any, **kwargs: Any) -> str:
        contexts.append(context)
        return "first"

    system, f = make(
        describe(
            "first",
            implementation,
            should_run=should_run,
            uses_context=True,
            also="Own",
        ),
        default=lambda x, y=None, z=None, n=1: "default",
        dispatch_args=("x", "y", "z"),
    )
    x, y = Foreign(), Own()
    with system.backend_opts(prioritize="first" if prioritized else ()):
        assert f(y, z=x, n=5) == "first"
    asked, called = contexts
    assert asked is called
    assert called.types == (Own, Foreign)
    assert called.dispatch_args == (y, x)
    assert called.name == "first"
    assert called.prioritized is prioritized
    assert called.function == "lib:f"
    assert "first" in repr(called)
    assert "lib:f" in repr(called)


def write_module(folder: Any, name: str, text: str) -> None:
    (folder / f"{name}.py").write_text(text, encoding="utf-8")


def test_implementation_is_imported_on_first_use(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C4: not at discovery, not when the backend defers or is explained to defer; once."""
    monkeypatch.syspath_prepend(tmp_path)
    write_module(tmp_path, "lazy_asked", "def should_run(context, x, go): return go")
    write_module(tmp_path, "lazy_implementation", "def f(x, go): return 'first'")
    entry = {"function": "lazy_implementation:f", "should_run": "lazy_asked:should_run"}
    _, f = make(describe("first", functions={"lib:f": entry}), default=lambda x, go: "default")
    x = Foreign()
    assert f(Own(), True) == "default"
    assert not {"lazy_asked", "lazy_implementation"} & sys.modules.keys()
    assert f(x, False) == "default"
    assert f.explain(x, False).selected == "default"
    assert "lazy_asked" in sys.modules
    assert "lazy_implementation" not in sys.modules
    assert f(x, True) == "first"
    assert "lazy_implementation" in sys.modules
    for name in ("lazy_asked", "lazy_implementation"):
        monkeypatch.delitem(sys.modules, name)
    assert f(x, True) == "first"
    assert "lazy_implementation" not in sys.modules


@pytest.mark.parametrize("failing", ["function", "should_run"])
@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("raise ValueError('broken inside')", ValueError),
        ("import sys; sys.exit(3)", SystemExit),
        ("", ImportError),
        ("f = 3", ImportError),
        (None, ModuleNotFoundError),
    ],
    ids=["raises", "exits", "absent", "not callable", "no module"],
)
def test_failing_import_names_the_backend(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, text: str | None, cause: Any, failing: str
) -> None:
    """E3: an ImportError that names backend, function and identifier; the cause is chained."""
    monkeypatch.syspath_prepend(tmp_path)
    module = f"broken_{failing}_{cause.__name__.lower()}"
    monkeypatch.delitem(sys.modules, module, raising=False)
    if text is not None:
        write_module(tmp_path, module, text)
    entry = {"function": record, failing: f"{module}:f"}
    _, f = make(describe("first", functions={"lib:f": entry}), describe("second"))
    for _ in range(2):  # nothing of the failure is remembered
        with pytest.raises(ImportError) as caught:
            f(Foreign())
        error = caught.value
        assert isinstance(error, ImplementationImportError)
        assert (error.backend, error.function) == ("first", "lib:f")
        assert error.identifier == f"{module}:f"
        assert "MYLIB_BLOCK=first" in str(error)
        assert type(error.__cause__) is cause
        if isinstance(error.__cause__, ValueError):  # no frames of the import system
            first = traceback.extract_tb(error.__cause__.__traceback__)[0]
            assert first.filename == str(tmp_path / f"{module}.py")
        assert pickle.loads(pickle.dumps(error)).identifier == error.identifier
    assert f(Own()) == "default"


# ---------------------------------------------------------------------------------------
# C6, C7: deferring afterwards, and exceptions


@pytest.mark.parametrize("answering", [0, 1, 2, None])
def test_not_implemented_defers_to_the_next(form: str, answering: int | None) -> None:
    """C6: NotImplemented from the first, second or last is followed by the next."""
    calls: list[int] = []

    def answer(position: int) -> Any:
        def implementation(x: Any, *, key: int) -> Any:
            assert key == 5
            calls.append(position)
            return position if position == answering else NotImplemented

        return implementation

    _, f, options = make_in_form(
        form, answer(0), answer(1), answer(2), default=lambda x, *, key: "default"
    )
    expected = "default" if answering is None else answering
    with options:
        for _ in range(2):
            calls.clear()
            assert f(Foreign(), key=5) == expected
            assert calls == list(range(3 if answering is None else answering + 1))


def test_not_implemented_of_the_default_is_the_result(form: str) -> None:
    """C6: no candidate comes after the default, so its answer is the caller's."""
    calls: list[str] = []

    def default(x: Any) -> Any:
        calls.append("default")
        return NotImplemented

    _, f, options = make_in_form(form, declines, default=default)
    with options:
        assert f(Foreign()) is NotImplemented
        assert f(Own()) is NotImplemented
        assert f(Other()) is NotImplemented
    assert calls == ["default"] * 3


def test_backends_and_options_may_change_during_a_call() -> None:
    """C1, E5: no backend is tried twice in it, although the candidates are new ones."""
    tried: list[str] = []

    def changes(x: Any) -> Any:
        tried.append("first")
        system.reload()
        system.backend_opts(disable="second").enable_globally()
        return NotImplemented

    system, f = make(describe("first", changes), describe("second"))
    assert f(Foreign()) in ("second", "default")
    assert tried == ["first"]
    assert f(Foreign()) == "default"
    assert tried == ["first"] * 2


@pytest.mark.parametrize("error", [ValueError, TypeError, KeyError, KeyboardInterrupt, SystemExit])
def test_exception_of_an_implementation_is_the_callers(form: str, error: Any) -> None:
    """C7: with its own traceback, no context from dispatching, nothing else tried.

    A note names the backend, and how to leave it out.
    """
    calls: list[str] = []

    def implementation(x: Any) -> Any:
        raise error("mine")

    _, f, options = make_in_form(
        form,
        implementation,
        lambda x: calls.append("second"),
        default=lambda x: calls.append("default"),
    )
    for _ in range(2):
        with options, pytest.raises(error, match="mine") as caught:
            f(Foreign())
        assert caught.value.__context__ is None
        assert caught.value.__cause__ is None
        if sys.version_info >= (3, 11) and issubclass(error, Exception):
            (note,) = caught.value.__notes__
            assert all(each in note for each in ("'b0'", "lib:f", "disable='b0'"))
        frames = [frame.name for frame in traceback.extract_tb(caught.tb)]
        assert frames[0] == "test_exception_of_an_implementation_is_the_callers"
        assert frames[1] == "f" or spatch_core.accelerated  # C has no frames
        assert frames[-1] == "implementation"
    assert calls == []


# ---------------------------------------------------------------------------------------
# invoke: one backend, one type


def test_invoke_runs_one_backend_whatever_the_types() -> None:
    """F8: with `force=True`, should_run is not asked."""
    asked: list[Any] = []
    _, f = make(
        describe("first", lambda x, n=0: ("first", n), should_run=asked.append),
        describe("second", lambda x, n=0: ("second", n), requires_opt_in=True),
        default=lambda x, n=0: ("default", n),
    )
    for argument in (Foreign(), Own(), Other(), None):
        assert f.invoke(backend="first", force=True)(argument, n=1) == ("first", 1)
        assert f.invoke(backend="second")(argument, 2) == ("second", 2)
        assert f.invoke(backend="default")(argument) == ("default", 0)
    assert asked == []


@pytest.mark.parametrize("state", [{}, {"trace": True}], ids=["plain", "traced"])
@pytest.mark.parametrize("uses_context", [False, True])
def test_invoked_backend_is_asked(state: Any, uses_context: bool) -> None:
    """F8: an implementation may be wrong for calls that its should_run refuses."""
    seen: list[Any] = []

    def should_run(context: Any, x: Any, n: int = 0) -> Any:
        seen.append((context.types, context.prioritized, n))
        return n > 0 or "n must be positive"

    system, f = make(
        describe(
            "first",
            lambda *args, n=0: ("first", n),
            should_run=should_run,
            uses_context=uses_context,
        ),
        default=lambda x, n=0: ("default", n),
    )
    with system.backend_opts(**state) as events:
        assert f.invoke(backend="first")(Own(), n=1) == ("first", 1)
        with pytest.raises(BackendDeferredError, match="n must be positive") as caught:
            f.invoke(backend="first")(Own())
        assert f.invoke(backend="first", force=True)(Own()) == ("first", 0)
    assert (caught.value.backend, caught.value.reason) == ("first", "n must be positive")
    assert seen == [((Own,), True, 1), ((Own,), True, 0)]
    if state:
        assert [str(event.outcome) for event in events] == ["called", "deferred", "called"]


def test_invoked_backend_must_answer() -> None:
    """F8: a backend that was asked for by name and does not answer is an error."""
    _, f = make(describe("first", declines), describe("second", functions={}), describe("third"))
    with pytest.raises(BackendDeferredError, match="NotImplemented") as caught:
        f.invoke(backend="first")(Foreign())
    assert (caught.value.backend, caught.value.function) == ("first", "lib:f")
    with pytest.raises(NotImplementedError, match=r"does not implement it.*first.*third"):
        f.invoke(backend="second")(Foreign())


def test_invoke_with_a_type_dispatches_as_if_it_had_been_passed() -> None:
    """F8: `invoke(type=)` holds for this call alone, not for those inside."""

    def implementation(x: Any, inner: bool = True) -> Any:
        return ["first", f(x, False) if inner else None]

    system, f = make(
        describe("first", implementation), default=lambda x, inner=True: ["default", None]
    )
    assert f.invoke(type=Foreign)(1) == ["first", ["default", None]]
    assert f(1) == ["default", None]
    with system.backend_opts(type=Own):
        assert f.invoke(type=Foreign)(1)[0] == "first"
        assert system.backend_opts().type is Own


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"backend": "frist"}, ValueError, "did you mean 'first'"),
        ({"type": Other}, ValueError, "not a primary type"),
        ({"type": 3}, TypeError, "takes a class"),
        ({"type": "Foreign"}, ValueError, "identifier"),
    ],
    ids=["backend", "type", "no type", "no identifier"],
)
def test_invoke_checks_its_options_when_called(options: Any, error: Any, match: str) -> None:
    """F8, F9: making an invocation discovers nothing; calling it checks."""
    _, f = make(describe("first", record))
    invocation = f.invoke(**options)
    with pytest.raises(error, match=match):
        invocation(Foreign())
    with pytest.raises(TypeError, match="backend= or type="):
        f.invoke()
    with pytest.raises(TypeError, match="force= with backend="):
        f.invoke(force=True, type=Foreign)


# ---------------------------------------------------------------------------------------
# What an implementation may be


def test_results_are_not_looked_at() -> None:
    """Results that compare oddly are not compared: only NotImplemented itself defers."""

    class Odd:
        def __eq__(self, other: object) -> bool:
            raise AssertionError("compared")

        __hash__ = None  # type: ignore[assignment]

        def __bool__(self) -> bool:
            raise AssertionError("asked for its truth")

    odd = Odd()
    _, f = make(describe("first", lambda x: odd))
    assert f(Foreign()) is odd
