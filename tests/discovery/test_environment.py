"""The environment variables: their meaning, and malformed values."""

from __future__ import annotations

import os
from typing import Any

import pytest

from spatch_core import BackendSystem, EnvironmentVariableWarning
from spatch_core._environment import Environment, read_environment
from spatch_core._errors import Problem


def read(**variables: str) -> Environment:
    """Read the variables given by their endings."""
    return read_environment("LIB", {f"LIB_{key}": value for key, value in variables.items()})


def names(environment: Environment) -> tuple[object, ...]:
    return (
        environment.prioritize,
        environment.block,
        environment.block_all,
        environment.set_order,
    )


NOTHING = names(Environment("LIB"))


# --- well-formed values --------------------------------------------------------------


def test_nothing_is_said_where_nothing_is_set() -> None:
    """S12: without variables nothing is prioritized, blocked or ordered."""
    environment = read_environment("LIB", {})
    assert environment == Environment("LIB")
    assert names(environment) == ((), frozenset(), False, ())
    assert environment.names == ()


@pytest.mark.parametrize("value", ["", " ", "\t\n"])
@pytest.mark.parametrize("variable", ["PRIORITIZE", "BLOCK", "SET_ORDER", "BACKEND", "TRACE"])
def test_an_empty_value_says_nothing(variable: str, value: str) -> None:
    """S14: as a shell sets it that cannot unset it."""
    assert read(**{variable: value}) == Environment("LIB")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("gpu", ("gpu",)),
        ("gpu,threads", ("gpu", "threads")),
        ("threads,gpu", ("threads", "gpu")),
        (" gpu , threads\t", ("gpu", "threads")),
        ("gpu,threads,gpu", ("gpu", "threads")),
        ("default", ("default",)),
        ("default,gpu-1.x_y", ("default", "gpu-1.x_y")),
    ],
)
def test_prioritize_holds_names_in_order(value: str, expected: tuple[str, ...]) -> None:
    """S12: the first name goes first."""
    environment = read(PRIORITIZE=value)
    assert environment.prioritize == expected
    assert environment.problems == ()


def test_backend_holds_one_name() -> None:
    """W3: the current backend."""
    environment = read(BACKEND=" gpu ")
    assert (environment.backend, environment.problems) == ("gpu", ())
    assert environment.names == (("gpu", "LIB_BACKEND"),)


@pytest.mark.parametrize(("value", "expected"), [("1", True), (" 1 ", True), ("0", False)])
def test_trace_is_on_or_off(value: str, expected: bool) -> None:
    """S12: a flag."""
    environment = read(TRACE=value)
    assert (environment.trace, environment.problems) == (expected, ())


@pytest.mark.parametrize("value", ["a,b", "a b", "*", "gpu@dist", "a>b"])
def test_a_backend_that_is_no_name_is_malformed(value: str) -> None:
    """W3, S14: it is ignored, and reported."""
    environment = read(BACKEND=value, PRIORITIZE="a")
    assert (environment.backend, environment.prioritize) == (None, ("a",))
    (problem,) = environment.problems
    assert problem.key == "LIB_BACKEND"
    assert problem.remedy == "Write it as LIB_BACKEND=first"


@pytest.mark.parametrize(
    ("value", "blocked", "allowed"),
    [
        ("gpu", ["gpu"], ["threads", "gp", "gpu2"]),
        ("gpu, threads", ["gpu", "threads"], ["dask"]),
        ("*", ["gpu", "anything"], []),
        ("gpu,*", ["gpu", "anything"], []),
        ("*,gpu", ["gpu", "anything"], []),
    ],
)
def test_block_holds_names_or_a_star(value: str, blocked: list[str], allowed: list[str]) -> None:
    """S12: `*` stands for all backends."""
    environment = read(BLOCK=value)
    assert environment.problems == ()
    assert all(map(environment.blocks, blocked))
    assert not any(map(environment.blocks, allowed))
    assert "*" not in environment.block


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a>b", (("a", "b"),)),
        ("a>b,c>d", (("a", "b"), ("c", "d"))),
        ("a>b>c", (("a", "b"), ("b", "c"))),
        (" a > b , b>c ", (("a", "b"), ("b", "c"))),
        ("a>b,a>b", (("a", "b"),)),
        ("a>default,default>c", (("a", "default"), ("default", "c"))),
        ("a>b,c>b,a>c", (("a", "b"), ("c", "b"), ("a", "c"))),
    ],
)
def test_set_order_holds_pairs(value: str, expected: tuple[tuple[str, str], ...]) -> None:
    """S12, P3: chains are taken apart into pairs."""
    environment = read(SET_ORDER=value)
    assert environment.set_order == expected
    assert environment.problems == ()


def test_only_the_variables_of_the_prefix_count() -> None:
    """S12: each library has its own variables."""
    variables = {
        "OTHER_PRIORITIZE": "gpu",
        "LIB2_BLOCK": "*",
        "LIB_SET_ORDERS": "a>b",
        "PRIORITIZE": "gpu",
        "lib_PRIORITIZE": "gpu",
    }
    found = read_environment("LIB", variables)
    assert found._replace(problems=()) == Environment("LIB")
    assert [each.key for each in found.problems] == ["LIB_SET_ORDERS", "lib_PRIORITIZE"]
    assert read_environment("OTHER", variables).prioritize == ("gpu",)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("LIB_PRIORITISE", "LIB_PRIORITIZE"),
        ("LIB_PRIORITY", "LIB_PRIORITIZE"),
        ("LIB_TRACES", "LIB_TRACE"),
        ("LIB_Prioritize", "LIB_PRIORITIZE"),
        ("lib_priority", "LIB_PRIORITIZE"),
        ("LIB_BLOCKED", "LIB_BLOCK"),
        ("LIB_SETORDER", "LIB_SET_ORDER"),
    ],
)
def test_a_variable_of_a_similar_name_is_reported(name: str, meant: str) -> None:
    """S14: it has no effect, and the remedy has the right name."""
    found = read_environment("LIB", {name: "gpu", "LIB_BLOCK_SIZE": "8", "LIB_X": "1", "LIB_": ""})
    (problem,) = found.problems
    assert (problem.key, problem.remedy) == (name, f"Did you mean {meant}?")
    assert found._replace(problems=()) == Environment("LIB")


@pytest.mark.parametrize(
    ("value", "blocked", "allowed"),
    [
        ("*,!dask", ["gpu", "anything"], ["dask"]),
        (" !dask , * ", ["gpu"], ["dask"]),
        ("*,!dask,!gpu-1.x", ["gpu"], ["dask", "gpu-1.x"]),
        ("*,!dask,dask", ["gpu", "dask"], []),
        ("*,!default", ["gpu"], []),
    ],
)
def test_block_may_except_names_from_all(
    value: str, blocked: list[str], allowed: list[str]
) -> None:
    """S12: all but these. A name that is blocked too stays blocked."""
    environment = read(BLOCK=value)
    assert environment.problems == ()
    assert [name for name in blocked if not environment.blocks(name)] == []
    assert [name for name in allowed if environment.blocks(name)] == []


@pytest.mark.parametrize("field", Environment._fields)
def test_what_was_read_is_immutable(field: str) -> None:
    """It is read once, and handed out."""
    environment = read(PRIORITIZE="gpu")
    with pytest.raises(AttributeError):
        setattr(environment, field, ())
    assert not hasattr(environment, "__dict__")


def test_variables_have_full_names() -> None:
    assert Environment("LIB").variable("BLOCK") == "LIB_BLOCK"


def test_every_name_is_known_with_its_variable() -> None:
    """For the search of near misses."""
    environment = read(PRIORITIZE="p,q", BLOCK="z,b", SET_ORDER="a>p,p>c")
    assert environment.names == (
        ("p", "LIB_PRIORITIZE"),
        ("q", "LIB_PRIORITIZE"),
        ("b", "LIB_BLOCK"),
        ("z", "LIB_BLOCK"),
        ("a", "LIB_SET_ORDER"),
        ("p", "LIB_SET_ORDER"),
        ("c", "LIB_SET_ORDER"),
    )


# --- malformed values ----------------------------------------------------------------

MALFORMED = [
    ("PRIORITIZE", ",", "''"),
    ("PRIORITIZE", "gpu,", "''"),
    ("PRIORITIZE", ",gpu", "''"),
    ("PRIORITIZE", "gpu,,threads", "''"),
    ("PRIORITIZE", "gpu threads", "'gpu threads'"),
    ("PRIORITIZE", "gpu;threads", "'gpu;threads'"),
    ("PRIORITIZE", "gpu,thr>eads", "'thr>eads'"),
    ("PRIORITIZE", "*", "'*'"),
    ("PRIORITIZE", "'gpu'", "\"'gpu'\""),
    ("PRIORITIZE", "gpu@", "'gpu@'"),
    ("PRIORITIZE", "@dist", "'@dist'"),
    ("PRIORITIZE", "gpu@dist", "'gpu@dist'"),
    ("BLOCK", "*@a", "'*@a'"),
    ("BLOCK", "!gpu", "'!gpu' exempts a backend, but not all are blocked"),
    ("BLOCK", "threads,!gpu", "'!gpu' exempts a backend, but not all are blocked"),
    ("BLOCK", "*,!!gpu", "'!!gpu'"),
    ("BLOCK", "*,! gpu", "'! gpu'"),
    ("BLOCK", "*,!", "'!'"),
    ("BLOCK", "gpu@dist", "'gpu@dist'"),
    ("SET_ORDER", "gpu@a>b", "'gpu@a>b' is not an order"),
    ("BLOCK", ",", "''"),
    ("BLOCK", "gpu,", "''"),
    ("BLOCK", "**", "'**'"),
    ("BLOCK", "gpu*", "'gpu*'"),
    ("BLOCK", "gpu:threads", "'gpu:threads'"),
    ("BLOCK", "*,a b", "'a b'"),
    ("BLOCK", "default", "the library itself cannot be blocked"),
    ("BLOCK", "gpu,default", "the library itself cannot be blocked"),
    ("SET_ORDER", "a", "'a' is not an order"),
    ("SET_ORDER", "a,b", "'a' is not an order"),
    ("SET_ORDER", ">", "'>' is not an order"),
    ("SET_ORDER", "a>", "'a>' is not an order"),
    ("SET_ORDER", ">a", "'>a' is not an order"),
    ("SET_ORDER", "a>>b", "'a>>b' is not an order"),
    ("SET_ORDER", "a<b", "'a<b' is not an order"),
    ("SET_ORDER", "a>b,", "'' is not an order"),
    ("SET_ORDER", "a>b,c", "'c' is not an order"),
    ("SET_ORDER", "a>b;c>d", "'a>b;c>d' is not an order"),
    ("SET_ORDER", "a>*", "'a>*' is not an order"),
    ("SET_ORDER", "a>b c", "'a>b c' is not an order"),
    ("SET_ORDER", "a>a", "it has a cycle, a>a"),
    ("SET_ORDER", "a>b,b>a", "it has a cycle, a>b>a"),
    ("SET_ORDER", "a>b>c>a", "it has a cycle, a>b>c>a"),
    ("SET_ORDER", "x>a,a>b>c,c>a,c>y", "it has a cycle, a>b>c>a"),
    ("SET_ORDER", "a>x,a>b,b>a", "it has a cycle, a>b>a"),
    ("SET_ORDER", "a>b>a>c", "it has a cycle, a>b>a"),
    ("TRACE", "yes", "'yes' is neither 1 nor 0"),
    ("TRACE", "2", "'2' is neither 1 nor 0"),
]


@pytest.mark.parametrize(("variable", "value", "message"), MALFORMED)
def test_a_malformed_value_is_reported_by_its_own_name_and_ignored_whole(
    variable: str, value: str, message: str
) -> None:
    """S14: the problem has the name of the variable."""
    environment = read(**{variable: value})
    assert names(environment) == NOTHING
    (problem,) = environment.problems
    assert problem.key == f"LIB_{variable}"
    assert problem.backend is None
    assert repr(value) in problem.message
    assert message in problem.message
    assert problem.remedy.startswith(f"Write it as LIB_{variable}=")
    assert str(problem).startswith(f"environment variable LIB_{variable}: ")


@pytest.mark.parametrize("broken", ["PRIORITIZE", "BLOCK", "SET_ORDER"])
def test_a_malformed_value_leaves_the_others_in_force(broken: str) -> None:
    """S14: only the malformed variable is ignored."""
    good = {"PRIORITIZE": "gpu", "BLOCK": "dask", "SET_ORDER": "a>b"}
    environment = read(**{**good, broken: "!"})
    assert [problem.key for problem in environment.problems] == [f"LIB_{broken}"]
    assert (environment.prioritize == ()) is (broken == "PRIORITIZE")
    assert (environment.block == frozenset()) is (broken == "BLOCK")
    assert (environment.set_order == ()) is (broken == "SET_ORDER")


def test_all_malformed_values_are_reported() -> None:
    """S14: each has its own problem."""
    environment = read(PRIORITIZE="!,?", BLOCK="!,?", SET_ORDER="!,?")
    assert [problem.key for problem in environment.problems] == [
        "LIB_PRIORITIZE",
        "LIB_BLOCK",
        "LIB_SET_ORDER",
    ]


@pytest.mark.parametrize(
    "remedy", [read(**{variable: value}).problems[0] for variable, value, _ in MALFORMED]
)
def test_the_example_in_a_remedy_is_well_formed(remedy: Problem) -> None:
    """Following the remedy leads to no further problem."""
    key, _, example = remedy.remedy.removeprefix("Write it as ").partition("=")
    example = example.partition(" (")[0].strip("'")
    assert read_environment("LIB", {key: example}).problems == ()


# --- through a library ---------------------------------------------------------------


def backend(name: str, **fields: Any) -> dict[str, Any]:
    return {
        "name": name,
        "primary_types": ["builtins:str"],
        "functions": {"lib:function": {"function": f"{__name__}:say_{name}"}},
        **fields,
    }


def say_gpu(x: object) -> str:
    return "gpu"


def say_threads(x: object) -> str:
    return "threads"


def library(*backends: dict[str, Any]) -> tuple[BackendSystem, Any]:
    system = BackendSystem(None, "TESTLIB", ["builtins:int"], backends=backends)

    @system.dispatchable("x", module="lib", qualname="function")
    def function(x: object) -> str:
        return "default"

    return system, function


GPU = backend("gpu")
THREADS = backend("threads")


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("PRIORITIZE", "BLOCK", "SET_ORDER"):
        monkeypatch.delenv(f"TESTLIB_{variable}", raising=False)


def test_prioritize_makes_a_backend_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """S12: it is part of the process-wide default."""
    monkeypatch.setenv("TESTLIB_PRIORITIZE", "threads")
    system, function = library(GPU, THREADS)
    assert function("x") == "threads"
    assert system.backend_opts().prioritized == ("threads",)
    assert list(system.backends) == ["default", "gpu", "threads"]


def test_prioritize_opts_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """S12: a backend that requires opt-in becomes active."""
    monkeypatch.setenv("TESTLIB_PRIORITIZE", "gpu")
    _, function = library(backend("gpu", requires_opt_in=True))
    assert function("x") == "gpu"


def test_set_order_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    """P3, S12: the environment's edges are in force."""
    monkeypatch.setenv("TESTLIB_SET_ORDER", "threads>gpu")
    system, function = library(GPU, THREADS)
    assert function("x") == "threads"
    assert list(system.backends) == ["default", "threads", "gpu"]


class Unreadable:
    """A description that must not be looked at any closer than its name."""

    name = "gpu"

    def __getattr__(self, field: str) -> object:
        raise AssertionError(f"{field} was read")


@pytest.mark.parametrize("value", ["gpu", "threads,gpu", "*"])
def test_a_blocked_backend_is_not_read(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """S13: ``BLOCK`` is honoured before anything of a backend is read."""
    monkeypatch.setenv("TESTLIB_BLOCK", value)
    system = BackendSystem(None, "TESTLIB", ["builtins:int"], backends=[Unreadable()])
    assert list(system.backends) == ["default"]
    assert system.problems == ()


def test_a_blocked_backend_cannot_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """S13, S5: the error says that it is installed but blocked."""
    monkeypatch.setenv("TESTLIB_BLOCK", "gpu")
    system, function = library(GPU, THREADS)
    assert function("x") == "threads"
    with pytest.raises(ValueError, match="TESTLIB_BLOCK"):
        system.backend_opts(prioritize="gpu")


def test_the_variables_are_read_when_backends_are_first_needed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """S12: neither before nor again."""
    system, function = library(GPU, THREADS)
    monkeypatch.setenv("TESTLIB_BLOCK", "gpu")
    assert function("x") == "threads"
    monkeypatch.delenv("TESTLIB_BLOCK")
    assert function("x") == "threads"
    system.reload()
    assert function("x") == "gpu"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("PRIORITIZE", "threads gpu"),
        ("BLOCK", "gpu,,"),
        ("SET_ORDER", "threads<gpu"),
        ("TRACE", "yes"),
    ],
)
def test_a_malformed_value_is_one_warning_and_one_problem(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    """S14, E2: each is shown once."""
    monkeypatch.setenv(f"TESTLIB_{variable}", value)
    system, function = library(GPU, THREADS)
    with pytest.warns(EnvironmentVariableWarning, match=f"TESTLIB_{variable}") as caught:
        assert function("x") == "gpu"
    assert len(caught) == 1
    assert [problem.key for problem in system.problems] == [f"TESTLIB_{variable}"]
    # At the line that made the call, not inside this package.
    assert os.path.samefile(caught[0].filename, __file__)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("PRIORITIZE", "thread"),
        ("PRIORITIZE", "THREADS"),
        ("BLOCK", "Threads"),
        ("SET_ORDER", "treads>gpu"),
    ],
)
def test_a_near_miss_is_reported(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    """S14: the remedy has the installed name."""
    monkeypatch.setenv(f"TESTLIB_{variable}", value)
    system, function = library(GPU, THREADS)
    with pytest.warns(EnvironmentVariableWarning, match="Did you mean 'threads'?"):
        assert function("x") == "gpu"
    (problem,) = system.problems
    assert problem.key == f"TESTLIB_{variable}"


def test_names_that_are_near_to_nothing_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    """S14: settings for a whole cluster may name backends that this machine lacks."""
    monkeypatch.setenv("TESTLIB_PRIORITIZE", "quantum,threads")
    monkeypatch.setenv("TESTLIB_BLOCK", "abacus")
    monkeypatch.setenv("TESTLIB_SET_ORDER", "abacus>quantum")
    system, function = library(GPU, THREADS)
    assert function("x") == "threads"
    assert system.problems == ()
    assert system.backend_opts().prioritized == ("threads",)


def test_a_name_that_is_blocked_is_no_near_miss(monkeypatch: pytest.MonkeyPatch) -> None:
    """S14: it is installed, only not loaded."""
    monkeypatch.setenv("TESTLIB_BLOCK", "thread")
    monkeypatch.setenv("TESTLIB_PRIORITIZE", "thread")
    system, function = library(backend("thread"), backend("threads"))
    assert function("x") == "threads"
    assert system.problems == ()


def test_an_exception_that_is_misspelled_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """S14: then all are blocked, including the backend that was meant."""
    monkeypatch.setenv("TESTLIB_BLOCK", "*,!threds")
    system, function = library(GPU, THREADS)
    with pytest.warns(EnvironmentVariableWarning, match="Did you mean 'threads'?"):
        assert function("x") == "default"
    assert list(system.backends) == ["default"]


def test_all_backends_but_one_are_blocked(monkeypatch: pytest.MonkeyPatch) -> None:
    """S12: ``*,!name``."""
    monkeypatch.setenv("TESTLIB_BLOCK", "*,!threads")
    system, function = library(GPU, THREADS)
    assert function("x") == "threads"
    assert set(system.backends) == {"default", "threads"}
    assert system.problems == ()


@pytest.mark.parametrize("value", ["all", "ALL"])
def test_a_word_for_all_is_reported(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """S14: no backend has this name; ``*`` was probably meant."""
    monkeypatch.setenv("TESTLIB_BLOCK", value)
    system, function = library(GPU, THREADS)
    with pytest.warns(EnvironmentVariableWarning, match=r"Did you mean '\*', which blocks all"):
        assert function("x") == "gpu"
    (problem,) = system.problems
    assert problem.key == "TESTLIB_BLOCK"


def test_a_variable_of_a_similar_name_is_one_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    """S14: at the first call, and among the problems."""
    monkeypatch.setenv("TESTLIB_PRIORITISE", "threads")
    system, function = library(GPU, THREADS)
    with pytest.warns(EnvironmentVariableWarning, match="Did you mean TESTLIB_PRIORITIZE") as found:
        assert function("x") == "gpu"
    assert len(found) == 1
    assert [problem.key for problem in system.problems] == ["TESTLIB_PRIORITISE"]
