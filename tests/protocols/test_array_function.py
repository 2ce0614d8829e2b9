"""NumPy's functions and ufuncs reach the backends of a library.

The rules are those by which NumPy itself lets types override its functions.
"""

from __future__ import annotations

import abc
import inspect
import io
import operator
import pickle
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from typing import Any

import numpy  # noqa: ICN001  # `np` is the same without its annotations
import pytest

from spatch_core import BackendSystem
from spatch_core.exceptions import NoImplementationError
from spatch_core.protocols import numpy_functions

from .conftest import HERE, describe, system_of_ducks

np: Any = numpy  # its annotations know nothing of arrays of other classes


def same(found: Any, expected: Any) -> None:
    """Assert that duck arrays, perhaps in a tuple, hold what is expected."""
    if isinstance(expected, tuple):
        assert type(found) is tuple
        for one, other in zip(found, expected, strict=True):
            same(one, other)
        return
    assert hasattr(type(found), "system")
    assert found.value.dtype == np.asarray(expected).dtype
    np.testing.assert_array_equal(found.value, expected)


class Other:
    """Another duck array, of which the library knows nothing."""

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return "other"

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return "other"


class Declines:
    """One that takes part, and never answers."""

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return NotImplemented

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return NotImplemented


# What reaches the backends.


def test_one_class_for_each_system() -> None:
    """T3: the same however often it is asked for, with NumPy's two methods alone."""
    system, other = BackendSystem(None, "ONE"), BackendSystem(None, "TWO")
    made = numpy_functions(system)
    assert numpy_functions(system) is made
    assert numpy_functions(other) is not made
    own = {name for name in vars(made) if name.startswith("__array")}
    assert own == {"__array_function__", "__array_ufunc__"}
    assert made.__slots__ == ()


def test_the_class_goes_before_numpys_own() -> None:
    """T3: else the method of `numpy.ndarray` would answer, and no backend be asked."""
    served = numpy_functions(BackendSystem(None, "LATE"))
    message = r"Late has the __array_function__ of numpy.ndarray.* write numpy_functions"
    with pytest.raises(TypeError, match=message):
        type("Late", (numpy.ndarray, served), {})
    early = type("Early", (served, numpy.ndarray), {})
    type("More", (early,), {"__array_function__": lambda *_: NotImplemented})


@pytest.mark.parametrize(
    ("call", "identity"),
    [
        (np.mean, "numpy:mean"),
        (np.linalg.norm, "numpy.linalg:norm"),
        (np.fft.fft, "numpy.fft:fft"),
        (lambda x: x + 1, "numpy:add"),
        (np.add.reduce, "numpy:add.reduce"),
        (np.add.accumulate, "numpy:add.accumulate"),
        (lambda x: np.add.reduceat(x, [0]), "numpy:add.reduceat"),
        (lambda x: np.add.outer(x, x), "numpy:add.outer"),
        (lambda x: np.add.at(x, [0], 1), "numpy:add.at"),
        (lambda x: np.zeros(3, like=x), "numpy:zeros"),
        (lambda x: np.ones(3, like=x), "numpy:ones"),
        (np.abs, "numpy:absolute"),
        (np.conj, "numpy:conjugate"),
        (lambda x: x @ x, "numpy:matmul"),
    ],
    ids=lambda each: each if isinstance(each, str) else "call",
)
def test_identities_are_modules_and_names_in_numpy(call: Any, identity: str) -> None:
    """T3: a method of a ufunc follows its name; aliases have the name of the function."""
    duck_class = system_of_ducks(describe({"*": lambda context, *args, **kwargs: context.function}))
    duck = duck_class([1.0, 2.0])
    assert call(duck) == identity
    found = duck_class.system.lookup(identity, (duck_class,))
    assert found is not None
    assert found() == identity


@pytest.mark.parametrize("identity", ["numpy:ndarray", "numpy:men", "numpy:pi", "numpy.nothing:f"])
def test_no_function_of_numpy(duck_class: Any, identity: str) -> None:
    """T3: what is none cannot be looked up."""
    with pytest.raises(KeyError):
        duck_class.system.lookup(identity, (duck_class,))


def test_what_numpy_does_not_name() -> None:
    """T3: a ufunc needs an identity, which `adopt` gives."""
    duck_class = system_of_ducks(describe({"*": lambda context, *args, **kwargs: context.function}))
    ufunc = np.frompyfunc(lambda x: x, 1, 1)
    with pytest.raises(TypeError, match=r"adopt\(.*, 'module:name'\)"):
        ufunc(duck_class([1.0]))
    duck_class.system.adopt(ufunc, "mylib:same")
    assert ufunc(duck_class([1.0])) == "mylib:same"
    two = np.frompyfunc(lambda x, y: x, 2, 1)
    duck: Any = duck_class([1.0])
    # A class of another library may know it.
    assert two(duck, Other()) == two(Other(), duck) == two.outer(duck, Other()) == "other"
    with pytest.raises(TypeError, match="all returned NotImplemented"):
        two(duck, Declines())
    with pytest.raises(TypeError, match="has no identity"):
        two(duck, np.ones(1))
    assert duck.__array_function__(lambda x: x, (duck_class, Other), (), {}) is NotImplemented
    duck_class.system.adopt(two, "mylib:two")
    assert two.reduce(duck_class([1.0])) == "mylib:two.reduce"
    assert duck_class.system.lookup("mylib:two.outer", (duck_class,)) is not None


def test_implementations_get_what_numpy_passes() -> None:
    """T3: the very arguments; ``out=`` of a ufunc in a tuple, and no ``like=``."""
    given: list[Any] = []

    def keep(context: Any, *args: Any, **kwargs: Any) -> None:
        given.append((args, kwargs))

    duck_class = system_of_ducks(describe({"*": keep}))
    duck = duck_class([1.0, 2.0])
    np.mean(duck, 0, keepdims=True)
    np.add(duck, 1, duck)
    np.add(1, 2, out=duck, where=True)
    np.add.reduce(duck, 0, None, duck)
    np.zeros(3, dtype=int, like=duck)
    np.concatenate([duck, [1, [2]]])
    assert given == [
        ((duck, 0), {"keepdims": True}),
        ((duck, 1), {"out": (duck,)}),
        ((1, 2), {"out": (duck,), "where": True}),
        ((duck,), {"axis": 0, "dtype": None, "out": (duck,)}),
        ((3,), {"dtype": int}),
        (([duck, [1, [2]]],), {}),
    ]


# Types.


def test_nested_lists_are_looked_into(duck_class: Any) -> None:
    """T3: as NumPy does, for the functions for which it does."""
    duck = duck_class([1.0])
    same(np.concatenate([duck, [2.0], np.ones(1)]), [1.0, 2.0, 1.0])
    same(np.stack((np.zeros(1), duck)), [[0.0], [1.0]])
    same(np.block([[duck, duck], [duck, np.ones(1)]]), np.ones((2, 2)))
    same(np.einsum("i,i", duck, np.ones(1)), 1.0)
    same(np.where([True], duck, 0.0), [1.0])


def test_options_decide_too(duck_class: Any) -> None:
    """T3: ``out=``, ``where=`` and ``like=``."""
    duck = duck_class(np.zeros(2))
    assert np.add(1.0, [1.0, 2.0], out=duck) is duck
    same(duck, [2.0, 3.0])
    assert np.add.reduce(np.ones((2, 2)), out=duck) is duck
    same(duck, [2.0, 2.0])
    assert np.add(np.zeros(2), 1.0, out=duck, where=duck_class([True, False])) is duck
    same(duck, [1.0, 2.0])
    same(np.std(np.ones(2), where=duck_class([True, True])), 0.0)
    quotient, rest = np.divmod([5, 7], 3, out=(duck_class([0, 0]), duck_class([0, 0])))
    same((quotient, rest), ([1, 2], [2, 1]))
    same(np.divmod([5, 7], 3, out=(None, rest))[1:], (np.array([2, 1]),))


@pytest.mark.parametrize(
    ("name", "args", "kwargs"),
    [
        ("array", (1,), {}),
        ("require", (np.arange(6).reshape(2, 3),), {"requirements": ["A", "F"]}),
        ("arange", (3,), {}),
        # Not frombuffer, fromiter and fromstring: NumPy drops a reference to what `like=` gives.
        ("fromfunction", (operator.add, (2, 2)), {}),
        ("genfromtxt", (lambda: io.StringIO("1,2.1"),), {"delimiter": ","}),
    ],
    ids=lambda each: each if isinstance(each, str) else "given",
)
def test_like_makes_arrays(duck_class: Any, name: str, args: Any, kwargs: Any) -> None:
    """T3: of the class; it is not handed on. None means none, and other types are errors."""
    function = getattr(np, name)

    def given() -> Any:
        return [each() if callable(each) and each is not operator.add else each for each in args]

    expected = function(*given(), **kwargs)
    same(function(*given(), **kwargs, like=duck_class(1)), expected)
    assert type(function(*given(), **kwargs, like=None)) is np.ndarray
    assert type(function(*given(), **kwargs, like=np.ones(1))) is np.ndarray
    with pytest.raises(TypeError, match="must be an array-like that implements"):
        function(*given(), **kwargs, like=[1])


def test_scalars_and_lists_are_passed_on(duck_class: Any) -> None:
    """T3: NumPy's scalars and Python's own classes are known to every duck array."""
    duck = duck_class([1.0])
    for other in (1, 1.0, True, np.float64(1), [1.0], np.array(1.0), np.ones(1)):
        same(duck + other, duck.value + other)
        same(np.add(other, duck), other + duck.value)


# Who answers.


def test_unrelated_types_do_not_mix(duck_class: Any) -> None:
    """T4: a class with the protocol that no backend knows is never passed to a backend."""
    duck = duck_class([1.0])
    for function in (np.concatenate, np.stack):
        assert function([duck, Other()]) == "other"
        assert function([Other(), duck]) == "other"
        with pytest.raises(TypeError, match="no implementation found"):
            function([duck, Declines()])
    assert np.add(duck, Other()) == "other"
    assert np.add(Other(), duck) == "other"
    assert np.add(1.0, duck, out=Other()) == "other"
    with pytest.raises(TypeError, match="returned NotImplemented"):
        np.add(duck, Declines())
    with pytest.raises(TypeError, match="returned NotImplemented"):
        np.add.outer(Declines(), duck)


def test_types_that_a_backend_knows_do() -> None:
    """T4: as secondary types, also if they have the protocol themselves."""
    known = describe({"*": lambda *_: "ducks"}, secondary_types=[f"{__name__}:Other"])
    duck_class = system_of_ducks(known)
    assert np.concatenate([duck_class(1), Other()]) == "ducks"
    assert np.add(duck_class(1), Other()) == "ducks"
    # The class whose turn comes first is asked first.
    assert np.concatenate([Other(), duck_class(1)]) == "other"


def test_subclasses_come_first() -> None:
    """T4: as for NumPy; they have the same backends, if these name them by a ``~`` pattern."""

    def first(context: Any, *args: Any) -> Any:
        return context.types

    named = system_of_ducks(describe({"*": first}))
    sub = type("Sub", (named,), {})
    assert np.concatenate([named(1), sub(1)]) == (sub, named)
    assert np.add(named(1), sub(1)) == (named, sub)
    exact = system_of_ducks(describe({"*": first}, primary_types=[f"{HERE}:Duck"]))
    with pytest.raises(NoImplementationError, match=r"it does not know .*Sub"):
        np.mean(type("Sub", (exact,), {})(1))


# If nothing answers.


def test_a_missing_function_raises_with_the_reasons() -> None:
    """T4: a `TypeError` with every backend and why it did not run."""
    duck_class = system_of_ducks(
        describe({"numpy:mean": lambda a: NotImplemented, "numpy:add": lambda *a: NotImplemented}),
        {
            "name": "shy",
            "primary_types": [f"{HERE}:Duck"],
            "functions": {
                "numpy:mean": {"function": abs, "should_run": lambda context, a: "not today"}
            },
        },
    )
    with pytest.raises(NoImplementationError) as caught:
        np.mean(duck_class([1.0]))
    text = str(caught.value)
    assert "numpy:mean cannot be called with tests.protocols.conftest:Duck" in text
    assert "returned NotImplemented" in text
    assert "not today" in text
    assert isinstance(pickle.loads(pickle.dumps(caught.value)), TypeError)
    with pytest.raises(NoImplementationError, match="returned NotImplemented"):
        np.add(duck_class([1.0]), 1)
    with pytest.raises(NoImplementationError, match="numpy:median cannot be called"):
        np.median(duck_class([1.0]))


@pytest.mark.parametrize("policy", ["default", "warn", "raise"])
def test_numpys_own_implementation_never_runs(policy: str) -> None:
    """T4: it would ask the arguments again; also where the library lists its own class."""
    duck_class = system_of_ducks(fallback=policy)
    with pytest.raises(NoImplementationError, match="no backend runs it"):
        np.mean(duck_class([1.0]))
    system = BackendSystem(None, "DUCKS", [f"{__name__}:Own"], fallback=policy)

    class Own(numpy_functions(system)):  # type: ignore[misc]
        pass

    Own.__qualname__ = "Own"
    with pytest.raises(NoImplementationError):
        np.add(Own(), 1)


def converting(**fields: Any) -> Any:
    """Make a class whose backend converts."""
    duck_class: Any = system_of_ducks(fallback="convert")
    conversions = {"to_default": lambda duck: duck.value, "from_default": duck_class}
    duck_class.system.register(describe({}, **conversions, **fields))
    return duck_class


def test_arguments_are_converted_by_policy() -> None:
    """T4: NumPy's function runs with what the description's conversions make."""
    duck_class = converting()
    duck = duck_class([1.0, 3.0])
    same(np.mean(duck, keepdims=True), [2.0])
    same(np.concatenate([duck, [4.0]]), [1.0, 3.0, 4.0])
    same(np.add(duck, [1.0, 1.0]), [2.0, 4.0])
    same(np.add.accumulate(duck), [1.0, 4.0])
    same(np.zeros(2, like=duck), [0.0, 0.0])
    same(np.ones(2, like=duck), [1.0, 1.0])
    same(np.linalg.norm(duck_class([[3.0, 4.0]]), axis=1), [5.0])


def test_what_is_written_into_is_copied_back() -> None:
    """T4, V8: ``out=`` by name and by position, and the target of ``at``."""
    duck_class = converting()
    out = duck_class(np.zeros(()))
    calls: list[Any] = [
        lambda: np.mean(duck_class([1.0, 3.0]), out=out),
        lambda: np.mean(duck_class([1.0, 3.0]), None, None, out),
        lambda: np.add(1.0, 1.0, out=out),
        lambda: np.copyto(out, 3.0),
        lambda: np.add.at(out, (), 3.0),
    ]
    for call in calls:
        with pytest.raises(NoImplementationError, match="no copy_into"):
            call()

    def copy_into(original: Any, converted: Any) -> None:
        original.copied = converted.copy()

    duck_class = converting(copy_into=copy_into)
    out = duck_class(np.zeros(()))
    assert np.mean(duck_class([1.0, 3.0]), None, None, out) is out
    assert out.copied == 2.0
    assert np.add(1.0, 4.0, out=out) is out
    assert out.copied == 5.0
    assert np.copyto(out, 3.0) is None
    assert out.copied == 3.0
    out = duck_class(np.zeros(1))
    assert np.concatenate([duck_class([5.0])], 0, out) is out
    assert out.copied == [5.0]
    values = duck_class([np.nan, 1.0])
    assert np.nan_to_num(values, copy=False) is values
    np.testing.assert_array_equal(values.copied, [0.0, 1.0])


def test_a_function_that_writes_into_an_argument_if_told_so() -> None:
    """T4, V8: only then is there something to copy back."""
    values = converting()([np.nan, 1.0])
    same(np.nan_to_num(values), [0.0, 1.0])
    same(np.nan_to_num(values, True), [0.0, 1.0])
    with pytest.raises(NoImplementationError, match="writes into x, and the backend has no"):
        np.nan_to_num(values, copy=False)
    with pytest.raises(NoImplementationError, match="writes into x, and the backend has no"):
        np.nan_to_num(values, False)


def writing() -> Iterator[Any]:
    """Yield NumPy's functions that write into a parameter: those with an ``out``, and others."""
    others = {np.fill_diagonal: "a", np.place: "arr", np.put: "a", np.put_along_axis: "arr"}
    others[np.putmask] = "a"
    for module in ("numpy", "numpy.fft", "numpy.linalg", "numpy.lib.recfunctions"):
        for name, function in vars(import_module(module)).items():
            if hasattr(function, "_implementation"):
                with suppress(ValueError):  # of C, in an older NumPy: it has no signature
                    names = inspect.signature(function).parameters.keys()
                    for written in names & {"out", "output", "dst", others.get(function)}:
                        yield pytest.param(function, written, id=f"{module}.{name}")


@pytest.mark.parametrize(("function", "written"), [*writing()])
def test_every_argument_that_numpy_writes_into(function: Any, written: str) -> None:
    """T4, V8: by position and by name, where the signature allows it."""
    parameters = inspect.signature(function).parameters
    needed = [name for name, each in parameters.items() if each.default is each.empty]
    place = [*parameters].index(written)
    before, after = needed[:place], needed[place + 1 :]
    out, kind = converting()(np.zeros(1)), parameters[written].kind
    message = f"writes into {written}, and the backend has no copy_into"
    if kind is not inspect.Parameter.KEYWORD_ONLY:
        with pytest.raises(NoImplementationError, match=message):
            function(*[[0]] * place, out, *[[0]] * len(after))
    if kind is not inspect.Parameter.POSITIONAL_ONLY:
        with pytest.raises(NoImplementationError, match=message):
            function(*[[0]] * len(before), **{written: out}, **{key: [0] for key in after})


def test_backends_that_decline_leave_the_call_to_others() -> None:
    """T2: to the next backend of the library, then to other types."""
    duck_class = system_of_ducks(
        describe({"*": lambda *a: NotImplemented}, secondary_types=[f"{__name__}:Other"]),
        describe({"numpy:mean": lambda a: "second"}, name="second"),
    )
    assert np.mean(duck_class(1)) == "second"
    assert np.concatenate([duck_class(1), Other()]) == "other"
    assert np.add(duck_class(1), Other()) == "other"


# As any function of the library.


# Operators, by NumPy's own mixin.


def test_operators_in_place(duck_class: Any) -> None:
    """T3: they write into the left operand, by ``out=``."""
    duck = kept = duck_class(np.array([0.0, 1.0]))
    duck += 1.0
    assert duck is kept
    same(duck, [1.0, 2.0])
    array = np.zeros(2)
    array += duck_class(1.0)
    # NumPy hands its own array on as out=.
    np.testing.assert_array_equal(array, [1.0, 1.0])
    np.negative.at(duck, [0])
    same(duck, [-1.0, 2.0])


def test_a_subclass_of_ndarray_may_go_on_with_numpys_own() -> None:
    """T4: it names the method of `numpy.ndarray` where the backends decline; `like=` too."""
    system = BackendSystem(None, "SUBS")

    class Sub(numpy_functions(system), numpy.ndarray):  # type: ignore[misc]
        def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
            try:
                return super().__array_function__(func, types, args, kwargs)
            except NoImplementationError:
                result = numpy.ndarray.__array_function__(self, func, types, args, kwargs)
            return result.view(Sub) if isinstance(result, numpy.ndarray) else result

    Sub.__module__, Sub.__qualname__ = __name__, "Sub"
    system.register(
        {
            "name": "subs",
            "primary_types": [f"~{__name__}:Sub"],
            "functions": {"numpy:sum": {"function": lambda a: "sum"}},
        }
    )
    sub = np.ones(2).view(Sub)
    assert np.sum(sub) == "sum"
    assert type(np.concatenate([sub, np.zeros(1)])) is Sub
    # Before 2.2, NumPy's own method cannot make arrays by `like=`.
    if np.lib.NumpyVersion(np.__version__) >= "2.2.0":
        for function, args in ((np.zeros, (2,)), (np.asarray, (1,)), (np.eye, (2,))):
            made = function(*args, like=sub)
            assert type(made) is Sub
            np.testing.assert_array_equal(made.view(np.ndarray), function(*args))


def test_numpys_protocol_is_the_librarys_own() -> None:
    """K3: instances have the method, as NumPy calls it; that of NumPy's array does not override."""
    np = pytest.importorskip("numpy")
    system = BackendSystem(None, "OWN_ARRAYS", ["~numpy:ndarray"], protocol="__array_function__")

    @system.dispatchable(["x", "y"], identifier="lib:f")
    def f(x: Any, y: Any = None) -> Any:
        return "default"

    class Duck:
        def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
            return self, func, [*types], args, kwargs

    class Declines:
        def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
            return NotImplemented

    class Labelled(np.ndarray):  # type: ignore[misc, name-defined]  # an optional dependency
        pass

    class Calling(np.ndarray):  # type: ignore[misc, name-defined]
        def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
            return "calling", super().__array_function__(func, types, args, kwargs)

    assert f(np.ones(2).view(Calling)) == ("calling", "default")
    duck, array, declines = Duck(), np.ones(2), Declines()
    assert f(array) == f(array.view(Labelled)) == "default"
    assert f(array, y=duck) == (duck, f, [Duck], (array,), {"y": duck})
    assert f(declines, duck) == (duck, f, [Declines, Duck], (declines, duck), {})
    with pytest.raises(TypeError, match="no method took it"):
        f(declines)
    assert f.explain(duck).selected == "__array_function__"


class Late(abc.ABC):  # noqa: B024  # abstract by name
    """Its classes are registered later."""


def test_a_refusal_follows_a_registration() -> None:
    """T4: after it, the reasons are those of the backends that match then."""
    duck_class = system_of_ducks(
        {
            "name": "late",
            "primary_types": [f"@{__name__}:Late"],
            "functions": {"numpy:mean": {"function": lambda a: NotImplemented}},
        }
    )
    with pytest.raises(NoImplementationError, match="late does not match"):
        np.mean(duck_class([1.0]))
    Late.register(duck_class)
    for _ in range(2):
        with pytest.raises(NoImplementationError, match="late defers: it returned NotImplemented"):
            np.mean(duck_class([1.0]))
