"""The golden rule: C2 and M4 of docs/reference/rules.md.

Installing a backend and changing nothing else never changes the result of a call that
worked before.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from itertools import combinations_with_replacement, product
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
    """C2, S11: the variables are the user's choice."""
    install("greedy", ["own"])
    install("other", ["foreign"])
    monkeypatch.setenv(f"GOLDENLIB_{variable}", value)
    assert f(Own()) == runs
    assert f.explain(Own()).selected == runs


def test_new_types_are_what_backends_add(library: Any, f: Any, install: Install) -> None:
    """C2: a type that the library does not know goes to the backend that does."""
    assert (f(Foreign()), f(Own())) == ("default", "default")
    install("extending", ["foreign"], ["own", "also"])
    library.reload()
    assert (f(Foreign()), f(Own())) == ("extending", "default")


def test_new_types_beside_the_librarys_own(f: Any, install: Install) -> None:
    """C2: beside the library's types too, whichever comes first."""
    install("extending", ["foreign"], ["own", "also"])
    assert f(Foreign()) == f(Foreign(), Own()) == f(Own(), Foreign()) == "extending"
    assert f(Foreign(), OwnSubclass()) == "default"
    assert f(Own()) == "default"


@pytest.mark.parametrize("fields", [{}, {"higher_priority_than": ["default"]}], ids=repr)
def test_secondary_type_takes_no_call(f: Any, install: Install, fields: Any) -> None:
    """M4, C2: a type that a backend merely accepts draws no call of the library to it."""
    assert f.__wrapped__(Own(), Plain()) == "default"
    install("greedy", ["own"], ["plain", "also"], **fields)
    for args in product([Own(), Plain(), Also()], repeat=2):
        assert f(*args) == "default", args
        assert f.explain(*args).selected == "default"


def test_pythons_own_types_take_no_call(f: Any, install: Install) -> None:
    """M4, C2: a list beside the library's types was converted before, and still is."""
    install("greedy", ["own", "list"])
    assert f(Own(), [1]) == f([1], Own()) == f(Own()) == "default"
    assert f([1]) == "greedy"  # which the library does not name


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


class Color(enum.IntEnum):
    """An int by its base."""

    RED = 1


@pytest.mark.parametrize(
    ("primary", "secondary"),
    [
        (["float~"], []),
        (["int~"], ["own"]),
        (["float~", "int~"], ["own~"]),
        (["object~"], []),
        (["abstract"], []),
        (["number"], ["abstract"]),
    ],
    ids=str,
)
def test_general_patterns_take_no_call(
    f: Any, install: Install, primary: Any, secondary: Any
) -> None:
    """M4, C2: a class known only through its base of Python's own counts as that base does."""
    install("specific", ["foreign"])
    install("general", primary, secondary, higher_priority_than=["default", "specific"])
    for value in (Float(1.5), Color.RED, 1.5, True):
        assert f(Own(), value) == f(value, Own()) == "default"
    assert (f(Own()), f(Foreign())) == ("default", "specific")


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
    """M4, M5: in calls that the default does not match, numbers count like other types."""
    install("specific", ["foreign"])
    install("general", primary, secondary)
    for value in (Float(1.5), 1.5):
        assert f(Foreign(), value) == f(value, Foreign()) == expected
        if expected == "default":
            reasons = {each.backend: each.reason for each in f.explain(Foreign(), value).backends}
            assert reasons["specific"].startswith("it does not know ")
    assert f(Foreign()) == "specific"


def test_a_prioritized_backend_takes_no_number_that_rides_along(
    library: Any, f: Any, install: Install
) -> None:
    """M5: it takes the calls that it matches, such as those of numbers alone."""
    install("general", ["float~"], ["own"])
    install("both", ["own"], ["float~"])
    with library.backend_opts(prioritize=["general", "both"]):
        assert f(Float()) == f(1.5) == "general"
        assert f(Own(), 1.5) == f(Own(), Float()) == f(Own()) == "both"


def test_the_type_that_the_user_names_always_counts(library: Any, f: Any, install: Install) -> None:
    """M1: it is the choice of the user, also one of Python's own classes."""
    install("numbers", ["float~"], ["own"])
    assert f(Own(), 1.5) == "default"
    with library.backend_opts(type=float):
        assert f(Own()) == f(1.5) == f(None) == "numbers"
        assert f.explain(Own()).selected == "numbers"
    assert f.invoke(type=float)(Own()) == "numbers"
    assert library.explain_types("goldenlib:f", [Own]).selected == "default"


def test_the_type_that_the_user_names_counts_for_every_backend(
    library: Any, f: Any, install: Install
) -> None:
    """M1: a backend that does not know it takes no such call."""
    install("numbers", ["float~"])
    install("foreigners", ["foreign"])
    assert f(Foreign()) == "foreigners"
    with library.backend_opts(type=float):
        assert f(Foreign()) == "default"


def test_backend_of_other_functions_changes_nothing(f: Any, install: Install) -> None:
    """M4, C2: knowing a type counts where the backend implements the function."""
    install("extending", ["foreign"], ["own"])
    install("elsewhere", ["plain", "foreign"], implements="g")
    assert f(Foreign(), Plain()) == f(Foreign(), Own()) == "extending"
    assert f(Own(), Plain()) == "default"


def test_opt_in_backend_changes_nothing(library: Any, f: Any, install: Install) -> None:
    """M4, C2: a type that only inactive backends know is ignored as before."""
    install("active", ["foreign"], ["own"])
    install("opted", ["foreign", "plain"], ["own"], requires_opt_in=True)
    assert f(Foreign(), Plain()) == "active"
    assert f(Own(), Plain()) == "default"
    with library.backend_opts(prioritize="opted"):
        assert f(Foreign(), Plain()) == "opted"


def test_backends_among_each_other(f: Any, install: Install) -> None:
    """P4, C2: type specificity still decides between backends; the default's own types aside."""
    install("wide", ["foreign", "own"])
    install("narrow", ["foreign"])
    assert f(Foreign()) == "narrow"
    assert f(Own()) == "default"
    assert f(Foreign(), Own()) == "wide"


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


NUMBERS: dict[str, tuple[list[str], list[str]]] = {
    "real": (["builtins:float", "builtins:int"], []),
    "imaginary": (["builtins:float", "builtins:complex"], ["builtins:int"]),
}


@pytest.fixture
def divide(tmp_path: Path) -> Any:
    """A function for integers, and two installed backends for other numbers."""
    for name, (primary, secondary) in NUMBERS.items():
        write_distribution(
            tmp_path,
            f"numbers-{name}",
            entry_points={"numberlib.backends": {name: f"numbers_{name}:backend.toml"}},
            files={
                f"numbers_{name}/__init__.py": f"def divide(x, y): return {name!r}\n",
                f"numbers_{name}/backend.toml": (
                    f"name = {name!r}\nprimary_types = {primary}\nsecondary_types = {secondary}\n"
                    "requires_opt_in = false\n"
                    f'[functions."numberlib:divide"]\nfunction = "numbers_{name}:divide"\n'
                ),
            },
        )
    system = BackendSystem("numberlib.backends", "NUMBERLIB", ["builtins:int"])

    @system.dispatchable(("x", "y"), module="numberlib", qualname="divide")
    def divide(x: Any, y: Any) -> str:
        return "default"

    with isolated(system, path=[tmp_path]):
        yield divide


@pytest.mark.parametrize(
    ("args", "expected", "reasons"),
    [
        ((1, 2), "default", {}),
        ((1, True), "default", {}),
        ((1.0, 2), "real", {}),
        ((1, 2.0), "real", {}),
        ((1.0, 2.0), "real", {}),
        ((1j, 2.0), "imaginary", {"real": "it does not know builtins:complex"}),
        ((1j, 1), "imaginary", {"real": "it does not know builtins:complex"}),
        ((1, 1j), "imaginary", {"real": "it does not know builtins:complex"}),
    ],
    ids=str,
)
def test_numbers_count_for_a_library_of_numbers(
    divide: Any, args: tuple[Any, ...], expected: str, reasons: dict[str, str]
) -> None:
    """M5, C2: a library that lists ``int`` leaves other numbers to the backends that know them."""
    assert divide(*args) == divide(*args) == expected
    explained = divide.explain(*args)
    assert explained.selected == expected
    assert reasons.items() <= {each.backend: each.reason for each in explained.backends}.items()


def test_a_library_of_arrays_may_list_lists_too() -> None:
    """M5: a number still rides along with an array."""
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
    """M5: also to the backend for which it is a primary type, which knows the other type, too."""
    install("numbers", ["float~"], ["own"])
    reason = "the default matches without builtins:float, which therefore does not count"
    assert f(Own(), 1.5) == "default"
    assert f.explain(Own(), 1.5).backends[-1].reason == reason
    assert f(1.5) == "numbers"
