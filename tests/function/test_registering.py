"""Backends that are registered at run time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from spatch_core import (
    BackendSkippedWarning,
    BackendSystem,
    DescriptionError,
    UnknownBackendError,
)

HERE = __name__


class Own:
    """The library's type."""


class Foreign:
    """The backends' type."""


def describe(name: str = "gpu", **fields: Any) -> dict[str, Any]:
    return {
        "name": name,
        "primary_types": [f"{HERE}:Foreign"],
        "functions": {"lib:f": {"function": lambda x: name}},
        **fields,
    }


def make(*backends: Any) -> Any:
    system = BackendSystem(None, "REGISTERLIB", [f"{HERE}:Own"], backends)
    return system, system.dispatchable("x", identifier="lib:f")(lambda x: "default")


class Discovered:
    """A backend in code that does something when it is discovered, once."""

    name = "own"
    primary_types = (f"{HERE}:Own",)

    def __init__(self, deed: Callable[[], object]) -> None:
        self.deeds = [deed]

    @property
    def functions(self) -> dict[str, Any]:
        if self.deeds:
            self.deeds.pop()()
        return {}


def test_it_counts_as_installed() -> None:
    """D7, C2: it takes nothing from the library, nor from the library's own backends."""
    both = [f"{HERE}:Own", f"{HERE}:Foreign"]
    system, f = make(describe("own"))
    system.register(describe("gpu", primary_types=both))
    assert f(Own()) == "default"
    assert f(Foreign()) == "own"
    with system.backend_opts(prioritize="gpu"):
        assert f(Own()) == "gpu"


def test_names_are_registered_once() -> None:
    """D7: with what to do about it."""
    system, f = make(describe("own"))
    system.register(describe())
    with pytest.raises(ValueError, match=r"unregister\('gpu'\)"):
        system.register(describe())
    f(Own())
    with pytest.raises(ValueError, match="the library itself has a backend named 'own'"):
        system.register(describe("own"))
    with pytest.raises(UnknownBackendError, match="not registered"):
        system.unregister("own")


def test_the_name_of_a_file_is_no_description() -> None:
    """D6: the error says how to read the file."""
    system = make()[0]
    with pytest.raises(TypeError, match=r"not the text 'b\.toml'; read a file with tomllib"):
        system.register("b.toml")


def test_a_faulty_description_changes_nothing() -> None:
    """D7, D5: all faults at once."""
    system, f = make()
    with pytest.raises(DescriptionError) as caught:
        system.register({"name": "gp u", "primary_types": []})
    assert len(caught.value.problems) == 2
    assert f(Foreign()) == "default"


def test_unknown_keys_are_problems() -> None:
    """D5, D7: as those of any other description."""
    system, function = make()
    function(3)
    with pytest.warns(BackendSkippedWarning, match="there is no field 'lib:f'.*backend is used"):
        system.register({**describe("late", functions={}), "lib:f": {"function": "p:f"}})
    assert [each.key for each in system.problems] == ["lib:f"]
    # Each problem is told once: warnings are errors here.
    system.register(describe("other"))
    system.reload()
    assert [each.key for each in system.problems] == ["lib:f"]


EVERY = {"function": lambda context, *args, **kwargs: (context.function, args, kwargs)}


@pytest.mark.parametrize("by_a_thread", [False, True])
@pytest.mark.slow
def test_backends_register_others_while_they_are_discovered(by_a_thread: bool) -> None:
    """D7: as a module may do that is imported for it."""

    def register() -> None:
        if not by_a_thread:
            system.register(describe())
            return
        thread = threading.Thread(target=system.register, args=(describe(),))
        thread.start()
        thread.join()

    system, f = make(Discovered(register))
    assert f(Foreign()) == "gpu"
    assert "gpu" in system.backends


def test_one_implementation_serves_every_function() -> None:
    """D4: but for those with an entry of their own; also functions that are decorated later."""
    system, f = make()
    functions = {"*": EVERY, "lib:f": {"function": lambda x: "own"}}
    system.register(describe(functions=functions))
    g = system.dispatchable("x", identifier="lib:g")(lambda x, y=None: "default")
    x = Foreign()
    assert f(x) == "own"
    assert g(x, y=1) == ("lib:g", (x,), {"y": 1})
    h = system.dispatchable("x", identifier="lib:h")(lambda x: "default")
    assert h(x) == ("lib:h", (x,), {})
    assert h(Own()) == "default"
    assert list(h.backends) == ["default", "gpu"]


def registered(system: BackendSystem, description: Any) -> Any:
    """Register a backend, and return the problems that are found then."""
    system.register(description)
    return system.problems


def test_a_registered_identity_that_no_function_has_is_reported() -> None:
    """D7: a misspelt identity would never be asked; one of a function that may come is left."""
    system = BackendSystem(None, "MISSPELT", ["builtins:int"])
    system.dispatchable("x", module="lib", qualname="blur")(lambda x: "default")
    functions = {each: {"function": lambda x: "b"} for each in ("lib:blurr", "lib:sharpen")}
    description = {"name": "b", "primary_types": ["builtins:str"], "functions": functions}
    with pytest.warns(BackendSkippedWarning, match="lib:blurr"):
        problems = registered(system, description)
    (problem,) = problems
    assert problem.key == 'functions."lib:blurr"'
    assert "'lib:blur'" in problem.remedy
    assert not problem.skips
