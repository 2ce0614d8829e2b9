"""The golden rule: C2 and M3 of docs/reference/rules.md.

Installing a backend and changing nothing else never changes the result of a call that
worked before.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core.testing import isolated, write_distribution
from tests.installed import installed as installed_in_memory


class Own:
    """The library's type."""


class Also:
    """Another one of the library's types."""


class OwnSubclass(Own):
    """A subclass, which the library's pattern `~` names."""


class Foreign:
    """A type that the library does not know."""


class Plain:
    """A type that the library converts, but does not name."""


TYPES = {
    "own": f"{__name__}:Own",
    "own~": f"~{__name__}:Own",
    "also": f"{__name__}:Also",
    "foreign": f"{__name__}:Foreign",
    "plain": f"{__name__}:Plain",
    "sub": f"{__name__}:OwnSubclass",
    "abstract": "@collections.abc:Hashable",
    "object~": "~builtins:object",
    "list": "builtins:list",
    "float~": "~builtins:float",
    "int~": "~builtins:int",
    "number": "@numbers:Number",
}

Install = Callable[..., None]


@pytest.fixture
def library(tmp_path: Path) -> Any:
    """A library that finds what `install` installs."""
    system = BackendSystem("goldenlib.backends", "GOLDENLIB", [TYPES["own~"], TYPES["also"]])

    @system.dispatchable(("x", "y"), module="goldenlib", qualname="f")
    def f(x: Any, y: Any = None) -> str:
        return "default"

    with isolated(system, path=[tmp_path]):
        yield system


@pytest.fixture
def f(library: BackendSystem) -> Any:
    return library.functions["goldenlib:f"]


@pytest.fixture
def install(tmp_path: Path) -> Install:
    """Install a backend that answers whatever it is given."""

    def install(
        name: str, primary: Any, secondary: Any = (), implements: str = "f", **fields: Any
    ) -> None:
        lines = {
            "name": name,
            "primary_types": [TYPES[key] for key in primary],
            "secondary_types": [TYPES[key] for key in secondary],
            **fields,
        }
        toml = "".join(f"{key} = {_toml(value)}\n" for key, value in lines.items())
        write_distribution(
            tmp_path,
            f"golden-{name}",
            entry_points={"goldenlib.backends": {name: f"golden_{name}:backend.toml"}},
            files={
                f"golden_{name}/__init__.py": f"def f(x, y=None): return {name!r}\n",
                f"golden_{name}/backend.toml": (
                    f'{toml}[functions."goldenlib:{implements}"]\nfunction = "golden_{name}:f"\n'
                ),
            },
        )

    return install


def _toml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


OWN = [Own(), Also(), OwnSubclass()]
SUPPORTED = [
    *([first, second] for first, second in combinations_with_replacement(OWN, 2)),
    *([each] for each in OWN),
]


@pytest.mark.parametrize(
    ("primary", "secondary", "fields"),
    [
        (["own"], [], {}),
        (["sub"], [], {}),
        (["own", "also"], [], {}),
        (["own"], [], {"higher_priority_than": ["default"]}),
        (["own~", "also", "foreign"], [], {"higher_priority_than": ["default"]}),
        (["abstract"], [], {"higher_priority_than": ["default"]}),
        (["object~"], [], {"higher_priority_than": ["default"]}),
        (["foreign"], ["own", "also", "sub"], {"higher_priority_than": ["default"]}),
        (["own"], ["also", "sub"], {"requires_opt_in": True}),
    ],
    ids=str,
)
def test_calls_of_the_librarys_own_types_stay_its_own(
    f: Any, install: Install, primary: Any, secondary: Any, fields: Any
) -> None:
    """C2: whatever types and priorities a backend declares."""
    install("greedy", primary, secondary, **fields)
    assert "greedy" in f.backends
    for args in SUPPORTED:
        assert f(*args) == f(*args) == "default"
        assert f.explain(*args).selected == "default"
        if len(args) == 2:
            assert f(y=args[1], x=args[0]) == "default"


def test_prioritizing_is_asking_for_it(library: Any, f: Any, install: Install) -> None:
    """C2: "changing nothing else": a user who prioritizes a backend gets it."""
    install("greedy", ["own", "also", "sub"])
    assert f(Own()) == "default"
    with library.backend_opts(prioritize="greedy"):
        assert {f(*args) for args in SUPPORTED} == {"greedy"}
    assert f(Own()) == "default"


@pytest.mark.parametrize(
    ("variable", "value", "runs"),
    [
        ("PRIORITIZE", "greedy", "greedy"),
        ("SET_ORDER", "greedy>default", "greedy"),
        ("SET_ORDER", "greedy>other,other>default", "greedy"),
        ("SET_ORDER", "greedy>other>default", "greedy"),
        ("SET_ORDER", "default>greedy", "default"),
        ("SET_ORDER", "greedy>other", "default"),
        ("SET_ORDER", "other>greedy", "default"),
    ],
)
def test_so_is_the_environment(
    f: Any, install: Install, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, runs: str
) -> None:
    """C2, S8: the variables are the user's choice."""
    install("greedy", ["own"])
    install("other", ["foreign"])
    monkeypatch.setenv(f"GOLDENLIB_{variable}", value)
    assert f(Own()) == runs
    assert f.explain(Own()).selected == runs


Calls = list[tuple[list[Any], str]]


@pytest.mark.parametrize(
    ("backends", "calls"),
    [
        (
            [(["foreign"], ["own", "also"], {})],
            [
                ([Foreign()], "first"),
                ([Foreign(), Own()], "first"),
                ([Foreign(), OwnSubclass()], "default"),
                ([Own()], "default"),
            ],
        ),
        (
            [(["own"], ["plain", "also"], {"higher_priority_than": ["default"]})],
            [
                ([one, two], "default")
                for one in (Own(), Also())
                for two in (Own(), Plain(), Also())
            ],
        ),
        (
            [(["own", "list"], [], {})],
            [([Own(), [1]], "default"), ([Own()], "default"), ([[1]], "first")],
        ),
        (
            [(["foreign"], ["own"], {}), (["plain", "foreign"], [], {"implements": "g"})],
            [
                ([Foreign(), Plain()], "first"),
                ([Foreign(), Own()], "first"),
                ([Own(), Plain()], "default"),
            ],
        ),
        (
            [
                (["foreign"], ["own"], {}),
                (["foreign", "plain"], ["own"], {"requires_opt_in": True}),
            ],
            [([Foreign(), Plain()], "first"), ([Own(), Plain()], "default")],
        ),
        (
            [(["foreign", "own"], [], {}), (["foreign"], [], {})],
            [([Foreign()], "second"), ([Own()], "default"), ([Foreign(), Own()], "first")],
        ),
    ],
    ids=[
        *("a type that the library does not know", "a secondary type draws no call"),
        *("nor does one of Python's own", "a backend of other functions", "an opt-in backend"),
        "type specificity between backends",
    ],
)
def test_which_calls_backends_take(
    library: Any, f: Any, install: Install, backends: Any, calls: Calls
) -> None:
    """M3, M4, P4, C2: those that the library does not answer itself, whichever type comes first."""
    assert f(Foreign()) == "default"
    for name, (primary, secondary, fields) in zip(("first", "second"), backends, strict=False):
        install(name, primary, secondary, **fields)
    library.reload()
    for args, expected in calls:
        assert f(*args) == f(*reversed(args)) == f.explain(*args).selected == expected, args


@pytest.mark.parametrize(
    ("listed", "expected"),
    [([], "greedy"), ([TYPES["own"]], "greedy"), ([TYPES["list"]], "default")],
    ids=["no types", "others", "this"],
)
@pytest.mark.parametrize("pattern", ["list", "object~"])
def test_calls_without_a_type_of_the_library_are_for_backends(
    pattern: str, listed: list[str], expected: str, tmp_path: Path, install: Install
) -> None:
    """C2: also those of Python's own classes that the default would have accepted."""
    install("greedy", [pattern])
    system = BackendSystem("goldenlib.backends", "GOLDENLIB", listed)
    f: Any = system.dispatchable("x", module="goldenlib", qualname="f")(lambda x: "default")
    with isolated(system, path=[tmp_path]):
        assert f([1]) == expected


class Float(float):
    """Like ``numpy.float64``: no pattern but those of its bases names it."""


@pytest.mark.parametrize(
    ("primary", "secondary", "expected"),
    [
        (["float~"], [], "default"),
        (["also"], ["float~"], "default"),
        (["float~"], ["foreign"], "general"),
        (["object~"], [], "general"),
    ],
    ids=str,
)
def test_no_backend_gets_a_type_that_only_others_know(
    f: Any, install: Install, primary: Any, secondary: Any, expected: str
) -> None:
    """M3, M4: in calls that the default does not match, numbers count like other types."""
    install("specific", ["foreign"])
    install("general", primary, secondary)
    for value in (Float(1.5), 1.5):
        assert f(Foreign(), value) == f(value, Foreign()) == expected
        if expected == "default":
            reasons = {each.backend: each.reason for each in f.explain(Foreign(), value).backends}
            assert reasons["specific"].startswith("it does not know ")
    assert f(Foreign()) == "specific"


def test_the_type_that_the_user_names_always_counts(library: Any, f: Any, install: Install) -> None:
    """M1: also one of Python's own classes, and for every backend: it is the user's choice."""
    install("numbers", ["float~"], ["own"])
    install("foreigners", ["foreign"])
    assert (f(Own(), 1.5), f(Foreign())) == ("default", "foreigners")
    with library.backend_opts(type=float):
        assert f(Foreign()) == "default"
        assert f(Own()) == f(1.5) == f(None) == "numbers"
        assert f.explain(Own()).selected == "numbers"
    assert f.invoke(type=float)(Own()) == "numbers"
    assert library.explain_types("goldenlib:f", [Own]).selected == "default"


def test_in_code_backends_are_the_librarys_own_choice() -> None:
    """C2: a backend that the library itself brings may go before the default."""
    system = BackendSystem(
        None,
        "GOLDENLIB",
        [TYPES["own~"]],
        backends=[
            {
                "name": "brought",
                "primary_types": [TYPES["own"]],
                "higher_priority_than": ["default"],
                "functions": {"goldenlib:f": {"function": f"{__name__}:brought"}},
            }
        ],
    )

    @system.dispatchable("x", module="goldenlib", qualname="f")
    def f(x: Any) -> str:
        return "default"

    assert f(Own()) == "brought"
    assert f(OwnSubclass()) == "default"


def brought(x: Any) -> str:
    return "brought"


def test_a_library_of_arrays_may_list_lists_too() -> None:
    """M4: a number still rides along with an array."""
    fields = {
        "name": "fast",
        "primary_types": [f"{__name__}:Own", "builtins:float"],
        "functions": {"lib:f": {"function": f"{__name__}:taken"}},
    }
    types = [f"{__name__}:Own", "builtins:list"]
    system = BackendSystem("listing.backends", "LISTING", types)

    @system.dispatchable(("x", "y"), module="lib", qualname="f")
    def f(x: Any, y: Any = None) -> str:
        return "default"

    with installed_in_memory("listing.backends", {"fast": fields}):
        assert f(Own(), 1.5) == f(Own()) == f([1.5]) == f([1.5], 1.5) == "default"


def taken(x: Any, y: Any = None) -> str:
    return "fast"


def test_a_number_that_rides_along_is_said_not_to_count(
    library: Any, f: Any, install: Install
) -> None:
    """M4: also to the backend for which it is a primary type, which knows the other type, too."""
    install("numbers", ["float~"], ["own"])
    reason = "the default matches without builtins:float, which therefore does not count"
    assert f(Own(), 1.5) == "default"
    assert f.explain(Own(), 1.5).backends[-1].reason == reason
    assert f(1.5) == "numbers"
