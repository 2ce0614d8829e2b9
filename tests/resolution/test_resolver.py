"""From types and state to candidates; what is remembered, and for how long."""

from __future__ import annotations

import abc
import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from spatch_core import BackendSystem, ImplementationImportError
from spatch_core.testing import isolated, write_distribution
from spatch_core.types import Verdict


class Own:
    """The library's type."""


class Registering:
    """A type of the library's that is registered with an abstract one later."""


class Foreign:
    """The backends' type."""


class Converted:
    """A secondary type."""


class Rare:
    """A type of an opt-in backend."""


class Shape(abc.ABC):  # noqa: B024  # classes are registered with it
    """An abstract type."""


@Shape.register
class Registered:
    """A type of the library's that counts as the abstract one."""


def first(*args: Any) -> str:
    return "first"


def second(*args: Any) -> str:
    return "second"


def third(*args: Any) -> str:
    return "third"


def says_small(context: Any, *args: Any) -> Any:
    return "the array is small"


def says_yes(context: Any, *args: Any) -> bool:
    return True


def fails(context: Any, *args: Any) -> bool:
    raise LookupError("mine")


def pattern(name: str, prefix: str = "") -> str:
    return f"{prefix}{__name__}:{name}"


def describe(
    name: str, primary: Any = ("Foreign",), secondary: Any = (), should_run: str = "", **fields: Any
) -> Any:
    entry = {"function": f"{__name__}:{name}"}
    if should_run:
        entry["should_run"] = should_run if ":" in should_run else f"{__name__}:{should_run}"
    return {
        "name": name,
        "primary_types": [each if ":" in each else pattern(each) for each in primary],
        "secondary_types": [each if ":" in each else pattern(each) for each in secondary],
        "functions": {"lib:f": entry},
        **fields,
    }


def make(*backends: Any, types: Any = ("Own",)) -> Any:
    """Make a library; returns its system and its function of any arguments."""
    system = BackendSystem(None, "MYLIB", [pattern(name) for name in types], backends)

    @system.dispatchable(None, module="lib", qualname="f")
    def f(*args: Any) -> str:
        return "default"

    return system, f


# ---------------------------------------------------------------------------------------
# Candidates


def order(explanation: Any) -> list[str]:
    return [each.backend for each in explanation.backends]


def test_order_of_candidates_is_the_order_of_backends() -> None:
    """C1: by priority; those that the state prioritizes first."""
    system, f = make(
        describe("second"),
        describe("third", higher_priority_than=["second"]),
        describe("first", lower_priority_than=["second"]),
    )
    assert list(system.backends) == ["default", "third", "second", "first"]
    assert order(f.explain(Foreign())) == ["third", "second", "first", "default"]
    with system.backend_opts(prioritize=["first", "second"]):
        assert order(f.explain(Foreign())) == ["first", "second", "third", "default"]
        assert f(Foreign()) == "first"
        assert order(f.explain(Own())) == ["first", "second", "default", "third"]


def test_types_of_inactive_backends_are_unknown() -> None:
    """M7: what only inactive backends know is ignored, until they are active."""
    system, f = make(
        describe("first"),
        describe("second", ["Rare"], ["Foreign", "Own"], requires_opt_in=True),
        describe("third", ["Rare"], ["Foreign", "Own"]),
    )
    assert f(Foreign(), Rare()) == "third"
    with system.backend_opts(disable="third"):
        assert f(Foreign(), Rare()) == "first"
        assert f(Own(), Rare()) == "default"
        with system.backend_opts(prioritize="second"):
            assert f(Foreign(), Rare()) == "second"
            assert f(Own(), Rare()) == "second"


def test_every_type_must_be_known_and_one_primary() -> None:
    """M8: what a backend matches."""
    _, f = make(
        describe("first", ["Foreign"], ["Converted"]), describe("second", ["Rare"], ["Foreign"])
    )
    assert f(Foreign(), Converted()) == "first"
    assert f(Converted()) == "default"
    assert f(Foreign(), Rare()) == "second"
    assert f(Foreign(), Rare(), Converted()) == "default"
    assert f(Foreign(), 3, None, "x") == "first"


# ---------------------------------------------------------------------------------------
# explain


def verdicts(explanation: Any) -> dict[str, tuple[Verdict, str]]:
    return {each.backend: (each.verdict, each.reason) for each in explanation.backends}


def test_explanation_names_every_backend_with_its_reason() -> None:
    """F8: what would run, and why all others would not."""
    system, f = make(
        describe("first", should_run="says_small"),
        describe("second", functions={}),
        describe("third"),
        describe("later"),
        describe("opted", requires_opt_in=True),
        describe("other", ["Rare"]),
        describe("off"),
        describe("partly", ["Rare"], ["Foreign"]),
    )
    with system.backend_opts(disable="off"):
        explanation = f.explain(Foreign())
    assert explanation.function == "lib:f"
    assert explanation.types == (Foreign,)
    assert explanation.selected == "third"
    assert verdicts(explanation) == {
        "first": (Verdict.DEFERS, "the array is small"),
        "second": (Verdict.NO_IMPLEMENTATION, ""),
        "third": (Verdict.RUNS, ""),
        "later": (Verdict.LATER, ""),
        "opted": (Verdict.INACTIVE, "it requires opt-in: prioritize='opted'"),
        "other": (Verdict.NO_MATCH, f"it does not know {__name__}:Foreign"),
        "off": (Verdict.INACTIVE, "it is disabled"),
        "partly": (Verdict.NO_MATCH, "none of the types is a primary type of it"),
        "default": (Verdict.LATER, ""),
    }
    assert order(explanation)[-1] == "default"


@pytest.mark.parametrize("args", [(3,), (), (None, 3)], ids=["unknown", "none", "several"])
def test_explanation_of_a_fallback(args: Any) -> None:
    """E5, F8: where nothing handles the types, `explain` says why no backend did."""
    _, f = make(describe("first"))
    explanation = f.explain(*args)
    assert explanation.selected == f(*args) == "default"
    reason = "no active backend that implements it knows any of the types"
    if not args:
        reason = "no argument has a type to dispatch on"
    assert verdicts(explanation) == {
        "first": (Verdict.NO_MATCH, reason),
        "default": (Verdict.RUNS, "nothing else answers"),
    }


def test_explanation_of_the_librarys_own_type() -> None:
    """C3: where the default matches it runs in its place, not as the fallback."""
    _, f = make(describe("first"))
    explanation = f.explain(Own())
    assert explanation.selected == f(Own()) == "default"
    assert verdicts(explanation)["default"] == (Verdict.RUNS, "")
    assert verdicts(explanation)["first"][0] is Verdict.NO_MATCH


def test_explain_follows_the_state() -> None:
    """F8: it explains the call as it would be made here and now."""
    system, f = make(describe("first"), describe("second"))
    with system.backend_opts(prioritize="second", type=Foreign):
        explanation = f.explain(3)
        assert explanation.types == (int, Foreign)
        assert explanation.selected == f(3) == "second"
    assert f.explain(3).selected == f(3) == "default"


def test_explain_runs_and_imports_no_implementation() -> None:
    """F8, C7: an implementation that cannot be imported does not matter to it."""
    entry = {"function": "no_such_module:f"}
    _, f = make(describe("first", functions={"lib:f": entry}))
    assert f.explain(Foreign()).selected == "first"
    with pytest.raises(ImplementationImportError):
        f(Foreign())


def test_explain_asks_should_run_as_a_call_does() -> None:
    """F8, C9: what `should_run` raises in a call, it raises in `explain`."""
    _, f = make(describe("first", should_run="fails"))
    for ask in (f, f.explain):
        with pytest.raises(LookupError, match="mine"):
            ask(Foreign())
    _, f = make(describe("first", should_run="no_such_module:f"))
    for ask in (f, f.explain):
        with pytest.raises(ImplementationImportError, match="no_such_module"):
            ask(Foreign())


def test_explain_asks_nobody_behind_the_answer() -> None:
    """F8, C4: no backend behind the answer is asked, as in a call."""
    _, f = make(describe("first", should_run="says_yes"), describe("second", should_run="fails"))
    explanation = f.explain(Foreign())
    assert explanation.selected == "first"
    assert verdicts(explanation)["second"] == (Verdict.LATER, "")


def test_explanation_of_types_asks_nobody() -> None:
    """`explain_types` knows no arguments: it says who would be asked, and what then."""
    system, f = make(
        describe("first", should_run="fails"), describe("second"), describe("third", ["Rare"])
    )
    explanation = system.explain_types("lib:f", [Foreign, Foreign])
    assert explanation.types == (Foreign,)
    assert explanation.selected is None
    assert verdicts(explanation) == {
        "first": (Verdict.ASKED, f"{__name__}:fails decides"),
        "second": (Verdict.RUNS, "unless one above does"),
        "third": (Verdict.NO_MATCH, f"it does not know {__name__}:Foreign"),
        "default": (Verdict.LATER, ""),
    }
    with system.backend_opts(disable="first", type=Foreign):
        assert system.explain_types("lib:f", []).selected == "second"
        assert system.explain_types("lib:f", [Rare]).selected == "default"
    with pytest.raises(KeyError, match="lib:g"):
        system.explain_types("lib:g", [])
    assert f.explain(Rare()).selected == "third"


# ---------------------------------------------------------------------------------------
# What is remembered stays right


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Make a module that can be put into `sys.modules`."""

    def put(name: str, **objects: Any) -> None:
        found = ModuleType(name)
        vars(found).update(objects)
        monkeypatch.setitem(sys.modules, name, found)

    return put


@pytest.mark.parametrize("prefix", ["", "~"], ids=["exact", "subclass"])
@pytest.mark.parametrize("traced", [False, True], ids=["plain", "traced"])
def test_alias_that_is_imported_later(module: Any, prefix: str, traced: bool) -> None:
    """M5, C10: the public alias counts from when its module is imported, in cached calls too."""
    package = __name__.partition(".")[0]
    alias = f"{prefix}{package}.not_yet_imported:Public"
    system, f = make(describe("first", [alias]), describe("second", [alias], ["Own"]))
    options = system.backend_opts(trace=traced)
    with options:
        assert [f(Foreign()) for _ in range(3)] == ["default"] * 3
        assert f(Own()) == "default"
        module(f"{package}.not_yet_imported", Public=Foreign)
        assert [f(Foreign()) for _ in range(3)] == ["first"] * 3
        assert f(Own()) == "default"
        assert f(Foreign(), Own()) == "second"
    if traced:
        assert [event.backend for event in options.trace][-5:] == [
            *["first"] * 3,
            "default",
            "second",
        ]


def test_registration_after_the_first_call() -> None:
    """M6, C10: `ABC.register` later on takes effect, in cached calls and in explain."""
    _, f = make(describe("first", [pattern("Shape", "@")]))

    class Registered:
        pass

    assert [f(Registered()) for _ in range(3)] == ["default"] * 3
    assert f.explain(Registered()).selected == "default"
    Shape.register(Registered)
    assert f.explain(Registered()).selected == "first"
    assert [f(Registered()) for _ in range(3)] == ["first"] * 3
    assert f(3) == "default"


def test_registration_while_matching(module: Any, tmp_path: Any, monkeypatch: Any) -> None:
    """M6: also where importing an abstract base class is what registers."""

    class Late:
        pass

    module("registering_data", Shape=Shape, Late=Late)
    (tmp_path / "registering.py").write_text(
        "import abc\n"
        "from registering_data import Shape, Late\n"
        "class Base(abc.ABC): pass\n"
        "Shape.register(Late)\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    _, f = make(
        describe("first", [pattern("Shape", "@")]), describe("second", ["@registering:Base"])
    )
    f(Late())  # may still come before the registration
    assert [f(Late()) for _ in range(2)] == ["first"] * 2
    assert f.explain(Late()).selected == "first"
    monkeypatch.delitem(sys.modules, "registering")


def test_abstract_base_class_that_fails(module: Any) -> None:
    """M6: a base class that is absent, is no class or breaks says nothing about a type."""

    class Breaking(abc.ABC):  # noqa: B024  # its hook is what counts
        @classmethod
        def __subclasshook__(cls, other: type) -> bool:
            raise ZeroDivisionError

    module("breaking_bases", Breaking=Breaking, number=3)
    _, f = make(
        describe("first", ["@breaking_bases:Breaking"]),
        describe("second", ["@breaking_bases:number"]),
        describe("third", ["@no_such_module:Base", "Foreign"]),
    )
    assert f(Foreign()) == "third"
    assert f(Own()) == "default"


@pytest.fixture
def installed(tmp_path: Path) -> Iterator[Any]:
    """A library, and an installed backend of an abstract type."""
    write_distribution(
        tmp_path,
        "shapes",
        entry_points={"resolverlib.backends": {"first": "shapes_backend:first.toml"}},
        files={
            "shapes_backend/__init__.py": "",
            "shapes_backend/first.toml": f"""
                name = "first"
                primary_types = ["{pattern("Shape", "@")}"]
                secondary_types = ["{pattern("Own")}"]
                [functions."lib:f"]
                function = "{__name__}:first"
            """,
        },
    )
    own = [pattern("Own"), pattern("Registering"), pattern("Registered")]
    system = BackendSystem("resolverlib.backends", "RESOLVERLIB", own)
    function: Any = system.dispatchable(None, module="lib", qualname="f")(lambda *args: "default")
    with isolated(system, path=[tmp_path]):
        assert list(system.backends) == ["default", "first"]
        yield system, function


def test_explanation_of_what_was_merely_installed(installed: Any) -> None:
    """Only what would match comes after the library; what does not never comes."""
    system, f = installed
    own = "none of the types is a primary type of it"
    assert verdicts(f.explain(Own()))["first"] == (Verdict.NO_MATCH, own)
    later = "the default keeps the library's own types unless a backend is prioritized"
    assert verdicts(f.explain(Own(), Registered()))["first"] == (Verdict.LATER, later)
    with system.backend_opts(prioritize="first"):
        assert (f(Own()), f(Own(), Registered())) == ("default", "first")


def test_library_that_matches_is_watched_for_what_was_placed_before_it(
    installed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SET_ORDER is a wish: there a registration that comes later counts."""
    system, f = installed
    monkeypatch.setenv("RESOLVERLIB_SET_ORDER", "first>default")
    system.reload()
    assert f(Registering()) == "default"
    Shape.register(Registering)
    assert f(Registering()) == "first"


def test_library_that_matches_gives_way_when_more_is_known_of_a_type(installed: Any) -> None:
    """One of the types is known to no backend at first; once it is known, it counts too."""

    class Late:
        pass

    _, f = installed
    assert f(Own(), Late()) == "default"
    Shape.register(Late)
    assert f(Own(), Late()) == "first"
    assert f(Own()) == "default"


# ---------------------------------------------------------------------------------------
# check_type


@pytest.mark.parametrize(
    ("primary", "cls"),
    [("Foreign", Foreign), (pattern("Foreign", "~"), Foreign), ("@collections.abc:Sized", dict)],
)
def test_types_of_any_pattern_can_be_given(primary: str, cls: type) -> None:
    """S6: `type=` takes what any backend has as a primary type, of whatever pattern."""
    system, f = make(describe("first", [primary]))
    with system.backend_opts(type=cls):
        assert f(3) == "first"


# ---------------------------------------------------------------------------------------
# What a new state costs


def steps_of_a_first_call(total: int, implementing: int, name: str) -> int:
    """Count the functions that are called for a block of new options, with one call in it."""
    implementation = {"function": f"{__name__}:first"}
    system, f = make(
        *(
            describe(
                f"backend{number}",
                functions={"lib:f" if number < implementing else "lib:g": implementation},
            )
            for number in range(total)
        )
    )
    f(Foreign(), Foreign())
    steps = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal steps
        steps += event in ("call", "c_call")

    before = sys.getprofile()
    gc.collect()
    gc.disable()  # what is collected meanwhile calls functions of its own
    sys.setprofile(count)
    try:
        with system.backend_opts(prioritize=name):
            f(Foreign(), Foreign())
    finally:
        sys.setprofile(before)
        gc.enable()
    return steps


@pytest.mark.parametrize("name", ["backend0", "backend9", "backend29"])
def test_new_state_costs_the_same_whoever_does_not_implement_the_function(name: str) -> None:
    """A first call in a new state asks only those that implement the function."""
    assert steps_of_a_first_call(30, 10, name) == steps_of_a_first_call(300, 10, name)


def test_new_state_asks_nobody_behind_the_first() -> None:
    """Nor more of those that implement it than it takes to find what to call."""
    assert steps_of_a_first_call(10, 10, "backend0") == steps_of_a_first_call(300, 300, "backend0")


def steps_aside(*args: Any) -> Any:
    return NotImplemented


def test_invoke_asks_nobody_behind_the_first() -> None:
    """Like a call; and who steps aside is followed by the others."""
    system, f = make(
        describe("first", functions={"lib:f": {"function": f"{__name__}:steps_aside"}}),
        describe("second", should_run="fails"),
    )
    with pytest.raises(LookupError, match="mine"):
        f.invoke(type=Foreign)(3)
    with system.backend_opts(disable="second"):
        assert f.invoke(type=Foreign)(3) == "default"
    with system.backend_opts(prioritize="second"), pytest.raises(LookupError, match="mine"):
        f.invoke(type=Foreign)(3)
    assert f.invoke(type=Own)(3) == "default"


def test_invoke_follows_what_is_registered_later() -> None:
    """M6, F9: after a registration nothing that was decided before is kept."""
    _, f = make(describe("first", [pattern("Shape", "@")]), describe("second"))

    class Registered:
        pass

    for _ in range(2):
        assert f.invoke(type=Foreign)(Registered()) == "second"
        assert f.invoke(backend="second")(Registered()) == "second"
    Shape.register(Registered)
    assert f.invoke(type=Foreign)(Registered()) == "default"
    assert f.invoke(type=Registered)(3) == "first"
