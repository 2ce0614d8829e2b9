"""A library's own protocol: what classes override, in which order, and what the mixin does."""

from __future__ import annotations

import asyncio
import pickle
from collections import namedtuple
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import pytest

from spatch_core import BackendSystem, NoImplementationError, UnknownTypeError
from spatch_core.protocols import library_functions

HERE = __name__
METHOD = "__array_lib_function__"


def on_gpu(x: Any, *rest: Any) -> Any:
    return "gpu", x


def on_any(context: Any, *args: Any) -> Any:
    return "any", context.call_next(*args)


def declines(*args: Any) -> Any:
    return NotImplemented


def make_system(*backends: Any, **options: Any) -> BackendSystem:
    """Make a library with a protocol."""
    return BackendSystem(None, "ARRAYLIB", [f"~{HERE}:Array"], backends, protocol=METHOD, **options)


gpu = {
    "name": "gpu",
    "primary_types": [f"~{HERE}:Array", f"{HERE}:Duck"],
    "requires_opt_in": True,
    "functions": {f"{HERE}:first": {"function": on_gpu}, f"{HERE}:both": {"function": declines}},
}
following = {
    "name": "following",
    "primary_types": [f"~{HERE}:Array"],
    "functions": {f"{HERE}:wrapped": {"function": on_any, "uses_context": True}},
}
system = make_system(gpu, following)
Pair = namedtuple("Pair", "first second")  # noqa: PYI024  # what is tested


class Array(library_functions(system)):  # type: ignore[misc]  # a class that is made
    """The library's own class."""

    def __init__(self, *values: Any) -> None:
        self.values = values
        self.label = ""

    def as_subclass(self, cls: Any) -> Any:
        made = cls.__new__(cls)
        made.__dict__.update(self.__dict__)
        return made

    @system.dispatchable(["self", "other"])
    def __add__(self, other: Any) -> Any:
        if isinstance(other, Array):
            return Array(*(a + b for a, b in zip(self.values, other.values, strict=True)))
        if isinstance(other, int):
            return Array(*(each + other for each in self.values))
        return NotImplemented

    @system.dispatchable(["self", "other"])
    def __radd__(self, other: Any) -> Any:
        return self + other

    @system.dispatchable("self")
    def doubled(self) -> Any:
        return Array(*(2 * each for each in self.values))

    @property
    @system.dispatchable("self", qualname="Array.T.fget")
    def T(self) -> Any:  # noqa: N802  # as of arrays
        return Array(*reversed(self.values))

    @system.dispatchable(["self", "index"], inside="index")
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, Array):
            return Array(*(self.values[each] for each in index.values))
        return Array(*self.values[index]) if isinstance(index, slice) else self.values[index]

    @system.dispatchable(["self", "other"])
    def add_into(self, other: Any, out: Any = None) -> Any:
        return out if out is not None else self

    @system.dispatchable("self")
    async def loaded(self) -> Any:
        await asyncio.sleep(0)
        return Array(*self.values)


class Labelled(Array):
    """A subclass with an attribute of its own."""

    def as_subclass(self, cls: Any) -> Any:
        return super().as_subclass(cls)


class More(Labelled):
    """A subclass of the subclass."""


class Other(Array):
    """An unrelated subclass."""


class Strange:
    """A foreign type."""


class Duck:
    """Knows some functions, and is no subclass of the library's class."""

    HANDLED: ClassVar[dict[Any, Callable[..., Any]]] = {}

    @classmethod
    def __array_lib_function__(cls, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func not in cls.HANDLED:
            return NotImplemented
        return cls.HANDLED[func](*args, **kwargs)


@system.dispatchable("x")
def first(x: Any) -> Any:
    return "default", x


@system.dispatchable(["x", "y", "z"])
def both(x: Any, y: Any = None, *, z: Any = None) -> Any:
    return "default"


@system.dispatchable("x")
def wrapped(x: Any) -> Any:
    return {"one": x.doubled().values, "more": [Array(1), (Array(2), Pair(Array(3), 4))]}


@system.dispatchable(inside="xs")
def stacked(xs: Any) -> Any:
    return Array(*(value for each in xs for value in each.values))


@system.dispatchable(lambda x, *rest: [x])
def found(x: Any, *rest: Any) -> Any:
    return Array(*rest)


@system.dispatchable(["like"], like="like")
def zeros(n: int, *, like: Any = None) -> Any:
    return Array(*[0] * n)


@system.dispatchable("x", compositional=True)
def composed(x: Any) -> Any:
    return first(x)


Duck.HANDLED[first] = lambda x: ("duck", x)
duck: Any = Duck()
array: Any = Array(1, 2)
labelled: Any = Labelled(1, 2)
log: list[tuple[str, Any]] = []


def make_class(name: str, *bases: type, answer: Any = NotImplemented) -> Any:
    """Make a class whose method logs its calls."""

    def method(cls: Any, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        log.append((cls.__name__, [each.__name__ for each in types]))
        return answer

    return type(name, bases, {METHOD: classmethod(method)})


@pytest.fixture(autouse=True)
def clear() -> Iterator[None]:
    log.clear()
    yield
    log.clear()


# ---------------------------------------------------------------------------------------
# The procedure


def test_the_method_gets_the_function_the_types_and_the_arguments() -> None:
    """K3: the decorated function itself; the arguments as they are."""
    calls = []

    class Asked:
        @classmethod
        def __array_lib_function__(cls, *call: Any) -> Any:
            calls.append((cls, *call))
            return "answer"

    asked = Asked()
    assert both(1, asked) == both(x=1, y=asked) == both(array, 2, z=asked) == "answer"
    assert calls == [
        (Asked, both, (Asked,), (1, asked), {}),
        (Asked, both, (Asked,), (), {"x": 1, "y": asked}),
        (Asked, both, (Asked,), (array, 2), {"z": asked}),
    ]


class Opted(Labelled):
    """Has opted out."""

    __array_lib_function__ = None


def test_without_the_method_the_default_runs() -> None:
    """K3: also for the library's own class, and for a class with None in place of the method."""
    assert first(array) == ("default", array)
    assert first(3) == ("default", 3)
    opted: Any = Opted(1)
    assert first(opted) == ("default", opted)
    assert type(opted.doubled()) is Array


def test_not_implemented_goes_on_and_the_first_answer_counts() -> None:
    """K4: the others are not asked."""
    silent, answers, later = (
        make_class("Silent"),
        make_class("Answers", answer=None),
        make_class("Later", answer=3),
    )
    assert both(silent(), answers(), z=later()) is None
    assert [name for name, _ in log] == ["Silent", "Answers"]


def test_if_all_decline_it_is_a_type_error() -> None:
    """K5: with the classes, whatever the fallback policy is."""
    with pytest.raises(TypeError, match=rf"{HERE}:both cannot be called") as caught:
        both(duck, 3)
    error = caught.value
    assert isinstance(error, NoImplementationError)
    assert error.foreign == (f"{HERE}:Duck",)
    assert "no method took it" in str(error)
    assert f"{METHOD} defers: it returned NotImplemented" in str(error)
    assert not any("fallback='default'" in each for each in error.remedies)
    for policy in ("default", "warn", "raise", "convert"):
        with system.backend_opts(fallback=policy), pytest.raises(TypeError):
            both(duck, 3)
    copied = pickle.loads(pickle.dumps(error))
    assert str(copied) == str(error)


def test_the_default_runs_if_the_library_names_the_classes() -> None:
    """K5: the classes themselves, not only classes that they are derived from."""
    known = make_class("Known", Array)
    globals()["Known"] = known
    known.__qualname__, known.__module__ = "Known", HERE
    try:
        for types, runs in [([f"{HERE}:Known"], True), ([f"~{HERE}:Array"], False)]:
            own = BackendSystem(None, "OWN", types, protocol=METHOD)
            function: Any = own.dispatchable("x", identifier="lib:f")(lambda x: "default")
            if runs:
                assert function(known()) == "default"
            else:
                with pytest.raises(TypeError):
                    function(known())
        assert [name for name, _ in log] == ["Known", "Known"]
    finally:
        del globals()["Known"]


def test_the_default_runs_if_the_user_prioritizes_it() -> None:
    """K5, K4: prioritized backends go before overriding types."""
    with system.backend_opts(prioritize="default"):
        assert both(array, duck) == "default"
        assert type(labelled.doubled()) is Array
    with system.backend_opts(prioritize="gpu"):
        assert first(labelled) == ("gpu", labelled)
        assert first(duck) == ("gpu", duck)
        with pytest.raises(TypeError):  # it declines, and so does the class
            both(duck)


def test_other_backends_follow_if_all_decline() -> None:
    """K5: those that match."""
    with system.backend_opts(prioritize="following"):
        assert wrapped(array)[0] == "any"
    other = make_class("Other", Array)
    wild = {
        "name": "wild",
        "primary_types": [f"~{HERE}:Array"],
        "functions": {"lib:f": {"function": lambda x: "wild"}},
        "higher_priority_than": ["default"],
    }
    own = make_system(wild)
    function: Any = own.dispatchable("x", identifier="lib:f")(lambda x: "default")
    assert function(other()) == "wild"
    assert [name for name, _ in log] == ["Other"]


def test_a_compositional_function_takes_what_its_parts_take() -> None:
    """K5, V1: its default runs, and the method is asked again by the parts."""
    assert composed(duck) == ("duck", duck)


def test_operators_return_not_implemented_to_python() -> None:
    """K5, K2: for Python to ask the other operand."""
    with pytest.raises(TypeError, match="unsupported operand") as caught:
        array + duck
    assert not isinstance(caught.value, NoImplementationError)

    class Adds(Duck):
        HANDLED: ClassVar[dict[Any, Any]] = {}

        def __radd__(self, other: object) -> Any:
            return "reflected"

    assert array + Adds() == labelled + Adds() == "reflected"


@pytest.mark.parametrize("error", [ValueError, LookupError, KeyboardInterrupt])
def test_exceptions_propagate(error: Any) -> None:
    """K4: also those by which backends of the library defer; nothing else is asked."""

    class Raises:
        @classmethod
        def __array_lib_function__(cls, *call: Any) -> Any:
            raise error("from the method")

    own = make_system(defer_on=[LookupError])
    function: Any = own.dispatchable(["x", "y"], identifier="lib:f")(lambda x, y=None: "default")
    for call in ((Raises(),), (Raises(), make_class("Later")())):
        with pytest.raises(error, match="from the method") as caught:
            function(*call)
        assert caught.value.__context__ is None
        with own.backend_opts(trace=True), pytest.raises(error, match="from the method"):
            function(*call)
    assert log == []


# ---------------------------------------------------------------------------------------
# The goals


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x + x,
        lambda x: x + Array(3, 4),
        lambda x: Array(3, 4) + x,
        lambda x: x + 1,
        lambda x: 1 + x,
        lambda x: x.doubled(),
        lambda x: x.T,
        lambda x: x[:1],
        lambda x: x[Array(0)],
        lambda x: array[type(x)(0)],
        lambda x: stacked([x, [], array][::2]),
        lambda x: found(x, 1),
        lambda x: zeros(2, like=x),
        lambda x: wrapped(x)["more"][0],
        lambda x: wrapped(x)["more"][1][0],
        lambda x: wrapped(x)["more"][1][1].first,
    ],
    ids=[
        *("operator", "mixed", "reflected", "number", "reflected number", "method", "property"),
        *("slice", "index", "subclass as index", "list", "finder", "like", "in a list"),
        *("in a tuple", "in a namedtuple"),
    ],
)
@pytest.mark.parametrize("cls", [Labelled, More, Other])
def test_a_subclass_in_a_subclass_out(call: Any, cls: Any) -> None:
    """K6: by functions, methods, operators, properties and indices."""
    assert type(call(cls(1, 2))) is cls
    if call(Array(1, 2)) is not array:
        assert type(call(Array(1, 2))) is Array


@pytest.mark.parametrize("x", [array, labelled], ids=["class", "subclass"])
def test_a_subclass_changes_no_option(x: Any) -> None:
    """K6: policies and a disabled default hold for subclasses as for the library's class."""
    with system.backend_opts(fallback="raise"), pytest.raises(NoImplementationError):
        both(x, Strange())
    with system.backend_opts(disable="default"), pytest.raises(NoImplementationError):
        first(x)
    system.register(
        {
            "name": "bridge",
            "primary_types": [f"{HERE}:Strange"],
            "secondary_types": [f"~{HERE}:Array"],
            "to_default": lambda strange: Array(0),
            "from_default": lambda array: Strange(),
        }
    )
    try:
        with system.backend_opts(fallback="convert", trace=True) as trace:
            assert both(x, Strange()) == "default"
    finally:
        system.unregister("bridge")
    assert ("bridge", "converted") in [(each.backend, each.outcome) for each in trace]


def test_what_becomes_of_attributes_is_the_affair_of_the_class() -> None:
    """K6: `as_subclass` of the library's class is called on the result."""

    class Kept(Array):
        unit = "m"

        @classmethod
        def __array_lib_function__(cls, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
            result = super().__array_lib_function__(func, types, args, kwargs)
            if isinstance(result, Kept):
                result.label = args[0].label
            return result

    kept = Kept(1, 2)
    kept.label = "kept"
    for made in (kept.doubled(), kept.T, kept[:1], kept + 1):
        assert (type(made), made.unit, made.label) == (Kept, "m", "kept")
    made = labelled.doubled()
    assert (made.values, made.label) == ((2, 4), "")
    assert labelled[0] == 1


def test_the_subclass_of_a_subclass_wins() -> None:
    """K6: it is derived from all classes of the call."""
    assert type(labelled + More(1, 2)) is type(More(1, 2) + labelled) is More


def test_unrelated_classes_do_not_mix() -> None:
    """K6: each declines."""
    with pytest.raises(TypeError, match="unsupported operand"):
        labelled + Other(1, 2)
    with pytest.raises(NoImplementationError, match="no method took it"):
        stacked([labelled, Other(1, 2)])
    with pytest.raises(NoImplementationError):
        stacked([array, duck])


def test_arguments_that_are_returned_stay_what_they_are() -> None:
    """K6: such as that of a function that writes into it."""
    out = Array()
    assert labelled.add_into(1, out) is out
    assert labelled.add_into(1, out=out) is out
    assert array.add_into(labelled) is array
    assert labelled.add_into(1) is labelled


def test_a_method_may_leave_classes_out_for_its_base() -> None:
    """K6: types that the base does not know are those that it declines."""

    class Filters(Labelled):
        @classmethod
        def __array_lib_function__(cls, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
            others = tuple(each for each in types if not issubclass(each, Filters))
            return super().__array_lib_function__(func, others, args, kwargs)

    assert type(Filters(1, 2) + 1) is Filters
    assert type(Filters(1, 2) + labelled) is Filters
    with pytest.raises(TypeError):
        Filters(1, 2) + Other(1, 2)


def test_an_operator_of_a_subclass_may_call_that_of_its_base() -> None:
    """K1, K6: both are overridden, one after the other, and neither calls the other for ever."""
    seen: list[str] = []

    class Logged(Array):
        @classmethod
        def __array_lib_function__(cls, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
            seen.append(func.__qualname__)
            others = tuple(Array if issubclass(each, Logged) else each for each in types)
            return super().__array_lib_function__(func, others, args, kwargs)

    class Own(Logged):
        @system.dispatchable(["self", "other"], identifier=f"{HERE}:Own.__add__")
        def __add__(self, other: Any) -> Any:
            seen.append("inside")
            return super().__add__(other)

    own: Any = Own(1, 2)
    result = own + Array(3, 4)
    assert (type(result), result.values) == (Own, (4, 6))
    assert [name.rpartition(">.")[2] for name in seen] == ["Own.__add__", "inside", "Array.__add__"]


# ---------------------------------------------------------------------------------------
# What else a call is


def test_external_libraries_offer_the_same() -> None:
    """K3: each has a method of its own name; the classes of one do not override the other."""
    plain: Any = BackendSystem(None, "PLAIN").dispatchable("x", identifier="lib:f")
    assert plain(lambda x: "default")(duck) == "default"
    own = BackendSystem(None, "THIRD", protocol="__third_function__")
    function: Any = own.dispatchable("x", identifier="third:f")(lambda x: "default")
    assert function(duck) == "default"

    class Third:
        @classmethod
        def __third_function__(cls, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
            return "third"

    assert function(Third()) == "third"
    assert first(Third())[0] == "default"


def test_explanations_and_traces_name_the_method() -> None:
    """K4: they call none."""
    explanation = first.explain(duck)
    assert explanation.selected == METHOD
    assert f"{METHOD}  runs: the method of {HERE}:Duck" in str(explanation)
    assert system.explain_types(f"{HERE}:first", [Duck]).selected == METHOD
    assert both.explain(make_class("Base")()).selected == METHOD
    assert log == []
    with system.backend_opts(trace=True) as trace:
        first(duck)
        labelled.doubled()
        with pytest.raises(TypeError):
            both(duck)
    assert [(each.backend, str(each.outcome)) for each in trace] == [
        (METHOD, "called"),
        (METHOD, "called"),
        ("default", "called"),  # with what the method goes on
        (METHOD, "called"),
        (METHOD, "deferred"),
    ]


def test_hooks_come_first() -> None:
    """K4: and are told what has answered."""
    seen = []

    def hook(call: Any) -> Any:
        result = call.next(*call.args, **call.kwargs)
        seen.append((call.function.partition(":")[2], call.types, call.backend))
        return result

    with system.backend_opts(hook=hook):
        assert first(duck) == ("duck", duck)
        assert type(labelled.doubled()) is Labelled
    assert seen == [("first", (Duck,), METHOD), ("Array.doubled", (Labelled,), METHOD)]


def test_invoke_runs_the_backend_that_it_names() -> None:
    """K4: with `type=`, a class that overrides counts."""
    assert first.invoke(backend="default")(duck) == ("default", duck)
    assert first.invoke(backend="gpu", force=True)(duck) == ("gpu", duck)
    assert first.invoke(type=Duck)(3) == ("duck", 3)


def test_a_type_in_force_may_override() -> None:
    """S4, K3: no backend need know it; what has no method is an error as before."""
    own = make_system()
    function: Any = own.dispatchable([], identifier="lib:f")(lambda: "default")
    made = make_class("Made", answer="made")
    with own.backend_opts(type=made):
        assert function() == "made"
    assert function.invoke(type=made)() == "made"
    for wrong in (type("Plain", (), {}), type("None", (), {METHOD: None})):
        with pytest.raises(UnknownTypeError):
            own.backend_opts(type=wrong)
    with pytest.raises(TypeError, match="takes a class"):
        own.backend_opts(type=3)  # type: ignore[arg-type]


def test_coroutine_functions() -> None:
    """K4, K6: the awaited answer counts, whatever it is."""

    class Waits:
        @classmethod
        async def __array_lib_function__(cls, *call: Any) -> Any:
            await asyncio.sleep(0)
            return cls.answer

        answer: Any = NotImplemented

    class Answers(Waits):
        answer = "answer"

    @system.dispatchable(["x", "y"], identifier="lib:read")
    async def read(x: Any, y: Any = None) -> Any:
        return Array(1)

    async def main() -> None:
        assert type(await read(labelled)) is Labelled
        assert type(await labelled.loaded()) is Labelled
        assert await read(Answers()) == "answer"
        # What an answer awaits is not looked at again.
        assert await read(Waits()) is NotImplemented
        results = await asyncio.gather(*(read(each) for each in (labelled, More(1), array) * 5))
        assert [type(each) for each in results] == [Labelled, More, Array] * 5

    asyncio.run(main())


# ---------------------------------------------------------------------------------------
# Misuse


def test_a_method_that_is_no_class_method() -> None:
    """K3: the error says what to write."""

    class Wrong:
        def __array_lib_function__(self, *call: Any) -> Any: ...

    with pytest.raises(TypeError, match=r"write @classmethod above def __array_lib_function__"):
        first(Wrong())


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (3, TypeError),
        ("", ValueError),
        ("lib_function", ValueError),
        ("____", ValueError),
        ("__lib function__", ValueError),
        ("__init__", ValueError),
        ("__call__", ValueError),
    ],
    ids=repr,
)
def test_names_that_are_no_protocol(value: Any, error: type[Exception]) -> None:
    """K3: the error says what to give."""
    with pytest.raises(error, match="protocol takes"):
        BackendSystem(None, "X", protocol=value)


def test_a_library_without_a_protocol_has_no_mixin() -> None:
    """K6: the error says what to give."""
    with pytest.raises(TypeError, match=r"BackendSystem\(protocol="):
        library_functions(BackendSystem(None, "X"))
    assert library_functions(system) is library_functions(system)
