"""Conversions: the default implementation runs with what a backend has converted."""

from __future__ import annotations

import asyncio
import sys
from typing import Any, NamedTuple

import pytest

from spatch_core import NoImplementationError
from tests import library

HERE = __name__


class Own:
    """The library's type."""

    def __init__(self, value: Any = 0) -> None:
        self.value = value
        self.nbytes = 8


class Foreign:
    """The type of the backend that converts."""

    def __init__(self, value: Any = 0) -> None:
        self.value = value


class Other:
    """The type of another one."""


class Both(Foreign):
    """A type that several backends know."""


class Point(NamedTuple):
    """A namedtuple."""

    x: Any
    y: Any


EVENTS: list[str] = []


def to_own(value: Foreign) -> Any:
    EVENTS.append("to")
    return None if value.value == "no" else Own(value.value)


def from_own(value: Own) -> Any:
    EVENTS.append("from")
    return None if value.value == "stays" else Foreign(value.value)


def copy_into(original: Foreign, converted: Own) -> None:
    original.value = converted.value


PAIR = {"to_default": f"{HERE}:to_own", "from_default": f"{HERE}:from_own"}


def describe(name: str = "gpu", types: Any = ("Foreign",), **fields: Any) -> dict[str, Any]:
    return {"name": name, "primary_types": [f"{HERE}:{each}" for each in types], **PAIR, **fields}


def make(default: Any, *backends: Any, **options: Any) -> Any:
    return library.make(
        *(backends or [describe()]),
        default=default,
        types=f"{HERE}:Own",
        **{"fallback": "convert", **options},
    )


def test_arguments_and_result_are_converted() -> None:
    """V5: a name, a type, and two conversions are a backend."""

    def add(x: Any, y: Any = None) -> Any:
        assert type(x) is type(y) is Own
        return Own(x.value + y.value)

    _, f = make(add)
    result = f(Foreign(2), y=Foreign(3))
    assert (type(result), result.value) == (Foreign, 5)
    assert f(Own(2), Own(3)).value == 5
    assert type(f(Own(2), Own(3))) is Own


def test_a_disabled_default_does_not_run_on_converted_arguments() -> None:
    """S4: then only other backends answer."""
    system, f = make(lambda x: x)
    with system.backend_opts(disable="default"):
        with pytest.raises(NoImplementationError, match="is disabled"):
            f(Foreign(1))
        assert f.explain(Foreign(1)).selected is None


def test_all_arguments_are_converted_each_object_once() -> None:
    """V6: not only the dispatch arguments; a container that appears twice is made once."""
    seen: list[Any] = []

    def default(x: Any, *rest: Any, **more: Any) -> Any:
        seen.extend([x, rest, more])

    _, f = make(default)
    one, shared = Foreign(1), [Foreign(2), 3]
    EVENTS.clear()
    f(one, one, (one, Point(one, 4)), shared, key={"a": shared, "b": one})
    x, rest, more = seen
    assert EVENTS == ["to", "to"]
    assert rest[0] is x
    assert rest[1][0] is x
    assert type(rest[1][1]) is Point
    assert rest[1][1] == (x, 4)
    assert more["key"]["a"] is rest[2]
    assert more["key"]["b"] is x
    assert [type(each) for each in rest[2]] == [Own, int]
    assert type(shared[0]) is Foreign


def test_a_result_that_is_an_argument_gives_back_the_original() -> None:
    """V7: also in a container, and for arguments of the library's types."""
    _, f = make(lambda x, *rest: (x, *rest))
    one, own, numbers, foreign = Foreign(), Own(), [1], [Foreign(), 2]
    EVENTS.clear()
    result = f(one, own, numbers, foreign)
    assert all(a is b for a, b in zip(result, (one, own, numbers, foreign), strict=True))
    assert EVENTS == ["to", "to"]


def test_results_are_converted_in_containers() -> None:
    """V7: one object once; what is no type of the library stays."""

    def default(x: Any) -> Any:
        new = Own(7)
        return {"a": [new, new], "b": Point(new, "text"), "c": 3, "d": None}

    _, f = make(default)
    result = f(Foreign())
    first = result["a"][0]
    assert type(first) is Foreign
    assert result == {"a": [first, first], "b": Point(first, "text"), "c": 3, "d": None}
    assert type(result["b"]) is Point


def refuses(value: Any) -> Any:
    raise NotImplementedError("it has no elements yet")


REFUSALS: list[tuple[Any, str]] = [
    (lambda value: None, "returned None"),
    (lambda value: NotImplemented, "returned NotImplemented"),
    (refuses, "it has no elements yet"),
]


@pytest.mark.parametrize(
    ("to_default", "reason"),
    [*REFUSALS, (lambda value: value, "as it was given")],
    ids=["None", "NotImplemented", "NotImplementedError", "of its class"],
)
def test_a_conversion_that_cannot_asks_the_next_backend(to_default: Any, reason: str) -> None:
    """V6: then the call is refused, with the reason, and the default does not run."""
    ran: list[Any] = []
    first = describe(types=["Both"], to_default=to_default)
    second = describe("second", types=["Both"], to_default=lambda value: Own("second"))
    _, f = make(lambda x: x.value, first, second)
    assert f(Both()) == "second"
    _, f = make(lambda x: ran.extend([x]), first)
    with pytest.raises(NoImplementationError, match=f"gpu cannot convert: .*{reason}"):
        f(Both())
    assert not ran


@pytest.mark.parametrize(("from_default", "reason"), REFUSALS)
def test_a_result_that_cannot_be_converted_is_an_error(from_default: Any, reason: str) -> None:
    """V6: the function has run by then, so that no other backend is asked."""
    _, f = make(lambda x: Own(), describe(from_default=from_default), describe("second"))
    with pytest.raises(NoImplementationError, match=reason) as caught:
        f(Foreign())
    assert [each.backend for each in caught.value.backends] == ["gpu", "second"]


def test_mixed_foreign_types_need_a_common_backend() -> None:
    """V5: a secondary type is not enough, because only primary types are converted."""
    other = describe("other", types=["Other"])
    _, f = make(lambda x, y: None, describe(), other, dispatch_args=("x", "y"))
    with pytest.raises(NoImplementationError):
        f(Foreign(), Other())
    secondary = describe(secondary_types=[f"{HERE}:Other"])
    _, f = make(lambda x, y: None, secondary, dispatch_args=("x", "y"))
    with pytest.raises(NoImplementationError):
        f(Foreign(), Other())
    both = describe(types=["Foreign", "Other"], to_default=lambda value: Own())
    _, f = make(lambda x, y: "default", both, dispatch_args=("x", "y"))
    assert f(Foreign(), Other()) == "default"


def test_the_library_s_types_must_be_known_too() -> None:
    """V5: by the ordinary rule of matching."""
    _, f = make(lambda x, y: "default", dispatch_args=("x", "y"))
    with pytest.raises(NoImplementationError):
        f(Own(), Foreign())
    knows = describe(secondary_types=[f"{HERE}:Own"])
    _, f = make(lambda x, y: "default", knows, dispatch_args=("x", "y"))
    assert f(Own(), Foreign()) == "default"


def test_a_backend_that_implements_goes_before_conversions() -> None:
    """V5: these are the last resort; a backend that defers may convert itself."""
    functions: Any = {"lib:f": {"function": lambda x: "implementation"}}
    _, f = make(lambda x: "default", describe("a"), describe("b", functions=functions))
    assert f(Foreign()) == "implementation"
    functions = {"lib:f": {"function": lambda x: NotImplemented}}
    _, f = make(lambda x: "default", describe("b", functions=functions))
    assert f(Foreign()) == "default"


def test_order_options_and_opt_in_follow_the_ordinary_rules() -> None:
    """V5: prioritize, disable, requires_opt_in, declared order."""

    def by(name: str, **fields: Any) -> Any:
        return describe(name, to_default=lambda value: Own(name), **fields)

    system, f = make(
        lambda x: x.value,
        by("a"),
        by("b", higher_priority_than=["a"]),
        by("c", requires_opt_in=True),
    )
    opts = system.backend_opts
    assert f(Foreign()) == "b"
    with opts(prioritize="a"):
        assert f(Foreign()) == "a"
    with opts(prioritize="c"):
        assert f(Foreign()) == "c"
    with opts(disable="b"):
        assert f(Foreign()) == "a"
    with opts(disable=["a", "b"]), pytest.raises(NoImplementationError, match="prioritize='c'"):
        f(Foreign())


def test_type_lets_a_result_be_converted() -> None:
    """V7: of a call without arguments; the default runs without the type."""
    system, inner = make(lambda x=None: "inner", fallback="raise")

    @system.dispatchable("x", module="lib", qualname="g", fallback="convert")  # type: ignore[untyped-decorator]
    def g(x: Any = None) -> Any:
        assert system.backend_opts().type is None
        assert inner(x) == "inner"
        return Own(1)

    with system.backend_opts(type=Foreign):
        assert type(g()) is Foreign
        assert system.backend_opts().type is Foreign
        with pytest.raises(NoImplementationError):
            inner()
    assert type(g()) is Own


def test_functions_that_write_into_arguments_copy_back() -> None:
    """V8: by position or keyword, also in containers, and return the original."""

    def fill(x: Any, out: Any = None) -> Any:
        for each in out if type(out) is list else [out]:
            each.value = x.value
        if type(out) is list:
            out.append(Own("new"))
        return out

    traits = {"mutates": "out"}
    _, f = make(fill, describe(copy_into=f"{HERE}:copy_into"), traits=traits)
    out = Foreign()
    assert f(Foreign(3), out) is out
    assert f(Foreign(4), out=out) is out
    assert out.value == 4
    several = [out, Foreign()]
    f(Foreign(5), several)
    assert [each.value for each in several] == [5, 5, "new"]
    assert {type(each) for each in several} == {Foreign}
    assert several[0] is out


def test_containers_that_held_nothing_foreign_are_written_into_too() -> None:
    """V8: an empty list gets what the default has put into it, converted back."""

    def collect(x: Any, out: Any) -> Any:
        made = Own("new")
        if type(out) is dict:
            out["items"] = (made, x)
        else:
            out += [made, x]
        return out, made

    traits = {"mutates": "out"}
    _, f = make(collect, describe(copy_into=f"{HERE}:copy_into"), traits=traits)
    x, own = Foreign(), Own()
    for out in ([], [own], [Foreign()]):
        before = [*out]
        given, made = f(x, out)
        assert given is out
        assert out[:-2] == before
        assert out[-1] is x
        assert out[-2] is made
        assert type(made) is Foreign
    table: dict[str, Any] = {}
    given, made = f(x, table)
    assert given is table
    assert table["items"][0] is made
    assert table["items"][1] is x


def test_without_copy_into_such_a_call_is_refused() -> None:
    """V8: before anything runs; not if the argument is the library's or absent."""
    ran = []
    _, f = make(lambda x, out=None: ran.append(out), traits={"mutates": ["out"]})
    with pytest.raises(NoImplementationError, match="writes into out, and the backend has no"):
        f(Foreign(), out=Foreign())
    assert "cannot convert" in str(f.explain(Foreign(), out=Foreign()))
    assert not ran
    own = Own()
    f(Foreign(), out=own)
    f(Foreign())
    assert ran == [own, None]


def test_the_arguments_that_are_written_into_must_be_there() -> None:
    """V8: misspelled names are found where the function is decorated."""
    with pytest.raises(TypeError, match="no parameter 'ou'"):
        make(lambda x, out=None: None, traits={"mutates": "ou"})


def test_an_awaited_result_is_converted_when_it_arrives() -> None:
    """V7: also if a plain function returns a coroutine."""
    system: Any = None

    async def default(x: Any) -> Any:
        assert type(x) is Own
        await asyncio.sleep(0)
        assert system.backend_opts().type is None
        return Own(x.value)

    system, f = make(default)
    assert type(asyncio.run(f(Foreign(1)))) is Foreign
    with system.backend_opts(type=Foreign):
        assert type(asyncio.run(f(Foreign(1)))) is Foreign

    def plain(x: Any) -> Any:
        return default(x)

    system, f = make(plain)
    assert type(asyncio.run(f(Foreign(1)))) is Foreign

    async def several() -> list[Any]:
        return [*await asyncio.gather(*(f(Foreign(each)) for each in range(20)))]

    assert [each.value for each in asyncio.run(several())] == [*range(20)]


def test_an_abandoned_coroutine_leaves_the_options_of_others_alone() -> None:
    """S1: the garbage collector closes it in another context."""

    async def default(x: Any) -> Any:
        await asyncio.get_running_loop().create_future()

    system, f = make(default)

    async def main() -> None:
        with system.backend_opts(type=Foreign):
            waiting.append(f(Foreign(1)))
            waiting[0].send(None)

    waiting: list[Any] = []
    asyncio.run(main())
    waiting.clear()
    assert system.backend_opts().type is None


def generator(x: Any) -> Any:
    yield x


async def asynchronous(x: Any) -> Any:
    yield x


@pytest.mark.parametrize("function", [generator, asynchronous], ids=["generator", "asynchronous"])
def test_generator_functions_refuse(function: Any) -> None:
    """V4, V7: their items would come unconverted."""
    _, f = make(function)
    explanation = f.explain(Foreign())
    assert explanation.selected is None
    assert "gpu cannot convert: it is a generator function" in str(explanation.backends[0])
    with pytest.raises(NoImplementationError, match="it is a generator function"):
        next(f(Foreign())) if function is generator else asyncio.run(anext(f(Foreign())))
    _, f = make(lambda x, y=None: function(x))
    with pytest.raises(NoImplementationError, match=r"its result is an? .*generator"):
        f(Foreign())


def test_the_trace_shows_every_conversion() -> None:
    """V4: with types, and with bytes where an object tells them."""
    system, f = make(lambda x, y: Own(1))
    with system.backend_opts(trace=True) as trace:
        f(Foreign(1), [Foreign(2)])
    there, again, called, back = trace
    for event, types in ((there, "Foreign to Own"), (again, "Foreign to Own"), (back, "Own to F")):
        assert (event.backend, str(event.outcome)) == ("gpu", "converted")
        assert types in event.reason.replace(f"{HERE}:", "")
        assert "8 bytes" in event.reason
    assert (called.backend, str(called.outcome)) == ("default", "called")
    assert "gpu" in called.reason


def test_explain_says_what_would_be_converted() -> None:
    """V4: and runs no conversion."""
    system, f = make(lambda x, y=None: None)
    EVENTS.clear()
    explanation = f.explain(Foreign(), [Foreign(), Own()])
    assert EVENTS == []
    assert explanation.selected == "gpu"
    converts, later = explanation.backends
    assert str(converts.verdict) == "would convert"
    assert f"2 arguments of {HERE}:Foreign to {HERE}:Own" in converts.reason
    assert f"{HERE}:to_own" in converts.reason
    assert str(later.verdict) == "comes later"
    assert "would convert: arguments of" in str(system.explain_types("lib:f", [Foreign]))
    with system.backend_opts(fallback="raise"):
        assert f.explain(Foreign()).selected is None
        with pytest.raises(NoImplementationError, match="fallback='convert'"):
            f(Foreign())


def test_a_refusal_says_what_would_be_converted() -> None:
    """V2: with bytes where objects tell them; not what a conversion would refuse."""

    class Large(Foreign):
        nbytes = 3000

    many = describe(types=["Foreign", "test_a_refusal_says_what_would_be_converted.<locals>.Large"])
    traits = {"mutates": "out"}
    _, f = make(lambda x, y=None, out=None: x, many, traits=traits, fallback="raise")
    with pytest.raises(NoImplementationError) as caught:
        f(Large(), {"y": [Foreign(), Large()]})
    (remedy, _) = caught.value.remedies
    assert remedy.startswith("with backend_opts(fallback='convert'), gpu converts 2 arguments of ")
    assert f"and 1 argument of {HERE}:Foreign (6000 bytes), and the library's own" in remedy
    assert remedy.endswith("runs, unless gpu says that it cannot")  # which is not asked
    with pytest.raises(NoImplementationError) as caught:
        f(Foreign(), out=Foreign())
    (remedy,) = caught.value.remedies
    assert "'default'" in remedy


def test_exceptions_go_on_as_they_are() -> None:
    """V6: those of conversions, too."""

    def broken(*values: Any) -> Any:
        raise KeyError(values)

    for name in ("to_default", "from_default", "copy_into"):
        fields: dict[str, Any] = {"copy_into": copy_into, name: broken}
        _, f = make(lambda x: Own(), describe(**fields), traits={"mutates": "x"})
        with pytest.raises(KeyError) as caught:
            f(Foreign())
        if sys.version_info >= (3, 11):
            (note,) = caught.value.__notes__
            assert note.startswith(f"Raised while {name} of the backend 'gpu' ran for lib:f; ")
            assert "disable='gpu'" in note
    _, f = make(lambda x: 1 / 0)
    with pytest.raises(ZeroDivisionError) as division:
        f(Foreign())
    if sys.version_info >= (3, 11):
        (note,) = division.value.__notes__
        assert note.endswith("so gpu converts for its default implementation")


def test_notimplemented_of_the_default_is_the_answer() -> None:
    """V7: it is neither converted nor refused."""
    _, f = make(lambda x: NotImplemented)
    assert f(Foreign()) is NotImplemented
