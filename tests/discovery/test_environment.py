"""The environment variables of a library: their meaning, and malformed values."""

from __future__ import annotations

import os
import warnings
from typing import Any

import pytest

from spatch_core import BackendSystem, EnvironmentVariableWarning


def say_gpu(x: object) -> str:
    return "gpu"


def say_threads(x: object) -> str:
    return "threads"


def backend(name: str, **fields: Any) -> dict[str, Any]:
    return {
        "name": name,
        "primary_types": ["builtins:str"],
        "functions": {"lib:function": {"function": f"{__name__}:say_{name}"}},
        **fields,
    }


GPU = backend("gpu")
THREADS = backend("threads")
NAMES = ("a", "b", "c", "gpu-1.x_y")


def library(*backends: dict[str, Any]) -> tuple[BackendSystem, Any]:
    others = [{"name": name, "primary_types": ["nowhere:Nothing"]} for name in NAMES]
    system = BackendSystem(None, "TESTLIB", ["builtins:int"], backends or [GPU, THREADS, *others])

    @system.dispatchable("x", module="lib", qualname="function")
    def function(x: object) -> str:
        return "default"

    return system, function


def in_force(system: BackendSystem) -> tuple[Any, ...]:
    """Return what the variables can change."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EnvironmentVariableWarning)
        options = system.backend_opts()
    return options.prioritized, list(system.backends)


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in [each for each in os.environ if each.startswith("TESTLIB_")]:
        monkeypatch.delenv(variable)


# --- well-formed values --------------------------------------------------------------


@pytest.mark.parametrize("value", ["", " ", "\t\n"])
@pytest.mark.parametrize("variable", ["PRIORITIZE", "BLOCK", "SET_ORDER", "BACKEND", "TRACE"])
def test_an_empty_value_says_nothing(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    """S8: as a shell sets it that cannot unset it."""
    expected = in_force(library()[0])
    monkeypatch.setenv(f"TESTLIB_{variable}", value)
    system, _ = library()
    assert in_force(system) == expected
    assert system.problems == ()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("gpu", ("gpu",)),
        ("threads,gpu", ("threads", "gpu")),
        (" gpu , threads\t", ("gpu", "threads")),
        ("gpu,threads,gpu", ("gpu", "threads")),
        ("default,gpu-1.x_y", ("default", "gpu-1.x_y")),
    ],
)
def test_prioritize_holds_names_in_order(
    monkeypatch: pytest.MonkeyPatch, value: str, expected: tuple[str, ...]
) -> None:
    """S8: the first name goes first, by the process-wide default."""
    monkeypatch.setenv("TESTLIB_PRIORITIZE", value)
    system, function = library()
    assert system.backend_opts().prioritized == expected
    assert system.problems == ()
    assert function("x") == (expected[0] if expected[0] != "default" else "gpu")


@pytest.mark.parametrize(
    ("value", "left"),
    [
        ("gpu", ["threads", *NAMES]),
        ("gpu, threads,a", ["b", "c", "gpu-1.x_y"]),
        ("*", []),
        ("gpu,*", []),
        ("*,!threads", ["threads"]),
        (" !gpu , * ", ["gpu"]),
        ("*,!a,!gpu-1.x_y", ["a", "gpu-1.x_y"]),
        ("*,!a,a", []),
        ("*,!default", []),
    ],
)
def test_block_holds_names_or_a_star_with_exceptions(
    monkeypatch: pytest.MonkeyPatch, value: str, left: list[str]
) -> None:
    """S8: ``*`` stands for all, ``!name`` for one that is not blocked."""
    monkeypatch.setenv("TESTLIB_BLOCK", value)
    system, _ = library()
    assert {*system.backends} == {"default", *left}
    assert system.problems == ()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("b>a", "b a c"),
        ("c>b>a", "c b a"),
        (" c > b , b>a ", "c b a"),
        ("b>a,c>a", "b c a"),
        ("c>default", "c default a b"),
    ],
)
def test_set_order_holds_pairs_and_chains(
    monkeypatch: pytest.MonkeyPatch, value: str, expected: str
) -> None:
    """S8, P3: each puts one name before another."""
    monkeypatch.setenv("TESTLIB_SET_ORDER", value)
    system, _ = library()
    named = expected.split()
    assert [name for name in system.backends if name in named] == named
    assert system.problems == ()


@pytest.mark.parametrize(
    "name", ["OTHER_PRIORITIZE", "TESTLIB2_BLOCK", "PRIORITIZE", "TESTLIB_X", "TESTLIB_BLOCK_SIZE"]
)
def test_only_the_variables_of_the_prefix_count(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """S8: each library has its own variables."""
    expected = in_force(library()[0])
    monkeypatch.setenv(name, "threads")
    system, _ = library()
    assert in_force(system) == expected
    assert system.problems == ()


def test_the_variables_are_read_when_backends_are_first_needed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """S8: neither before nor again."""
    system, function = library()
    monkeypatch.setenv("TESTLIB_BLOCK", "gpu")
    assert function("x") == "threads"
    monkeypatch.delenv("TESTLIB_BLOCK")
    assert function("x") == "threads"
    system.reload()
    assert function("x") == "gpu"


class Unreadable:
    """A description that must not be looked at any closer than its name."""

    name = "gpu"

    def __getattr__(self, field: str) -> object:
        raise AssertionError(f"{field} was read")


# --- malformed values ----------------------------------------------------------------

MALFORMED = [
    *(("PRIORITIZE", value) for value in (",", "gpu,", "gpu,,threads", "gpu threads", "gpu;a")),
    *(("PRIORITIZE", value) for value in ("gpu,thr>eads", "*", "'gpu'", "gpu@dist")),
    *(("BLOCK", value) for value in ("*@a", "!gpu", "threads,!gpu", "*,!!gpu", "*,! gpu", "*,!")),
    *(
        ("BLOCK", value)
        for value in ("gpu@dist", ",", "**", "gpu*", "*,a b", "default", "a,default")
    ),
    *(("SET_ORDER", value) for value in ("a", "a,b", ">", "a>", "a>>b", "a<b", "a>b,", "a>b;c>d")),
    *(("SET_ORDER", value) for value in ("a>*", "a>b c", "gpu@a>b", "a>a", "a>b>a", "a>b>c>a")),
    *(("BACKEND", value) for value in ("a,b", "a b", "*", "gpu@dist", "a>b")),
    *(("TRACE", value) for value in ("yes", "2", "true")),
]


@pytest.mark.parametrize(("variable", "value"), MALFORMED)
def test_a_malformed_value_is_reported_and_ignored_whole(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    """S8: by the name of its variable; the remedy has a value that is well-formed."""
    expected = in_force(library()[0])
    monkeypatch.setenv(f"TESTLIB_{variable}", value)
    system, _ = library()
    assert in_force(system) == expected
    (problem,) = system.problems
    assert (problem.key, problem.backend) == (f"TESTLIB_{variable}", None)
    assert repr(value) in problem.message
    key, _, example = problem.remedy.removeprefix("Write it as ").partition("=")
    assert key == f"TESTLIB_{variable}"
    monkeypatch.setenv(key, example.partition(" (")[0].strip("'"))
    assert library(GPU)[0].problems == ()


@pytest.mark.parametrize(
    ("variable", "value", "fault"),
    [
        ("TRACE", "yes", "it is neither 1 nor 0. Write it as TESTLIB_TRACE=1"),
        ("PRIORITIZE", "a b", "it cannot name a backend."),
        ("PRIORITIZE", "gpu,a b", "'a b' cannot name a backend."),
        ("SET_ORDER", "a", "it is not an order."),
        (
            "SET_ORDER",
            "a>b,b>c>a",
            "it has a cycle, a>b>c>a. Write it as TESTLIB_SET_ORDER='a>b,b>c'",
        ),
    ],
)
def test_the_fault_names_the_part_that_is_malformed(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, fault: str
) -> None:
    """S8: the value once; an order without the pairs that close its cycle is the remedy."""
    monkeypatch.setenv(f"TESTLIB_{variable}", value)
    with pytest.warns(EnvironmentVariableWarning) as caught:
        list(library()[0].backends)
    assert f"TESTLIB_{variable}: the value {value!r} is ignored: {fault}" in str(caught[0].message)


def test_a_malformed_value_leaves_the_others_in_force(monkeypatch: pytest.MonkeyPatch) -> None:
    """S8: only the malformed variables are ignored, and each has its own problem."""
    monkeypatch.setenv("TESTLIB_PRIORITIZE", "!,?")
    monkeypatch.setenv("TESTLIB_BLOCK", "gpu")
    monkeypatch.setenv("TESTLIB_SET_ORDER", "!,?")
    system, _ = library()
    prioritized, names = in_force(system)
    assert (prioritized, "gpu" in names) == ((), False)
    assert [each.key for each in system.problems] == ["TESTLIB_PRIORITIZE", "TESTLIB_SET_ORDER"]


@pytest.mark.parametrize(
    ("variable", "value", "remedy"),
    [
        ("TESTLIB_PRIORITIZE", "threads gpu", "Write it as TESTLIB_PRIORITIZE="),
        ("TESTLIB_PRIORITIZE", "thread", "Did you mean 'threads'?"),
        ("TESTLIB_PRIORITIZE", "THREADS", "Did you mean 'threads'?"),
        ("TESTLIB_BLOCK", "Threads", "Did you mean 'threads'?"),
        ("TESTLIB_SET_ORDER", "treads>gpu", "Did you mean 'threads'?"),
        ("TESTLIB_PRIORITISE", "gpu", "Did you mean TESTLIB_PRIORITIZE?"),
        ("TESTLIB_PRIORITY", "gpu", "Did you mean TESTLIB_PRIORITIZE?"),
        ("testlib_priority", "gpu", "Did you mean TESTLIB_PRIORITIZE?"),
        ("TESTLIB_BLOCKED", "gpu", "Did you mean TESTLIB_BLOCK?"),
        ("TESTLIB_DISABLE", "gpu", "Did you mean TESTLIB_BLOCK?"),
        ("TESTLIB_TRACES", "1", "Did you mean TESTLIB_TRACE?"),
        ("TESTLIB_SETORDER", "gpu", "Did you mean TESTLIB_SET_ORDER?"),
    ],
)
def test_a_mistake_is_one_warning_and_one_problem(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, remedy: str
) -> None:
    """S8, E2: in a value, in a name in it, and in the name of a variable; it has no effect."""
    monkeypatch.setenv(variable, value)
    system, function = library()
    with pytest.warns(EnvironmentVariableWarning, match=variable) as caught:
        assert function("x") == "gpu"
    assert len(caught) == 1
    (problem,) = system.problems
    assert problem.key == variable
    assert remedy in problem.remedy
    assert remedy in str(caught[0].message)
    # At the line that made the call, not inside this package.
    assert os.path.samefile(caught[0].filename, __file__)


def test_names_that_are_near_to_nothing_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    """S8: settings for a whole cluster may name backends that this machine lacks."""
    monkeypatch.setenv("TESTLIB_PRIORITIZE", "quantum,threads")
    monkeypatch.setenv("TESTLIB_BLOCK", "abacus")
    monkeypatch.setenv("TESTLIB_SET_ORDER", "abacus>quantum")
    system, function = library()
    assert function("x") == "threads"
    assert system.problems == ()
    assert system.backend_opts().prioritized == ("threads",)


def test_a_name_that_is_blocked_is_no_near_miss(monkeypatch: pytest.MonkeyPatch) -> None:
    """S8: it is installed, only not loaded."""
    monkeypatch.setenv("TESTLIB_BLOCK", "thread")
    monkeypatch.setenv("TESTLIB_PRIORITIZE", "thread")
    system, function = library(backend("thread"), backend("threads"))
    assert function("x") == "threads"
    assert system.problems == ()


def test_the_name_of_a_broken_backend_is_no_near_miss(monkeypatch: pytest.MonkeyPatch) -> None:
    """S8: the backend has the problem, not the variable."""
    monkeypatch.setenv("TESTLIB_PRIORITIZE", "thread")
    system, _ = library({"name": "thread"}, THREADS)
    with pytest.warns(Warning, match="'thread' is skipped"):
        assert len(system.problems) == 1
    assert system.problems[0].backend == "thread"


def test_an_exception_that_is_misspelled_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """S8: then all are blocked, including the backend that was meant."""
    monkeypatch.setenv("TESTLIB_BLOCK", "*,!threds")
    system, function = library()
    with pytest.warns(EnvironmentVariableWarning, match="Did you mean 'threads'?"):
        assert function("x") == "default"
    assert list(system.backends) == ["default"]
