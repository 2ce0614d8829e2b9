"""Mistakes in decorating are errors or warnings at decoration."""

from __future__ import annotations

import importlib
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from spatch_core import DuplicateFunctionWarning
from tests.function.conftest import Foreign, describe, make_system


@pytest.mark.parametrize(
    ("args", "kwargs"), [((3,), {}), ((3, 4), {}), ((), {"x": 3}), ((), {})], ids=repr
)
def test_parentheses_are_missing(args: Any, kwargs: Any) -> None:
    """F2: the first call says so."""

    @make_system().dispatchable
    def f(x: Any, y: Any = None) -> Any: ...

    undecorated: Any = f
    with pytest.raises(TypeError, match=r"is it decorated with @dispatchable\(\), with parenth"):
        undecorated(*args, **kwargs)


def find_first(x: Any, *rest: Any) -> Any:
    return [x]


def test_a_class_cannot_be_dispatchable() -> None:
    """F2: a function would take its place."""

    class Image:
        def __init__(self, x: Any) -> None: ...

    with pytest.raises(TypeError, match=r"class \S+Image cannot be dispatchable.* the methods"):
        make_system().dispatchable("x")(Image)


# ---------------------------------------------------------------------------------------
# The identity


def test_an_identity_of_its_own() -> None:
    """F3: `identifier=` is what backends name; the function stays where it is."""

    def _f(x: Any) -> Any:
        return "default"

    system = make_system()
    function: Any = system.dispatchable("x", identifier="lib:f")(_f)
    assert (function.__module__, function.__name__) == (__name__, "_f")
    assert function.__qualname__ == _f.__qualname__
    assert dict(system.functions) == {"lib:f": function}
    assert function(Foreign())[0] == "first"
    assert str(function.explain(3)).startswith("lib:f(")


def made_by_exec() -> Any:
    scope: dict[str, Any] = {}
    exec("def f(x): return x", scope)  # noqa: S102  # own text
    return scope["f"]


@pytest.mark.parametrize(
    ("default", "lacking"),
    [
        (str.upper, {"qualname": "f"}),
        (dict.fromkeys, {"qualname": "f"}),
        (made_by_exec(), {"qualname": "f"}),
        (lambda x: x, {"module": "lib"}),
    ],
    ids=["str.upper", "fromkeys", "exec", "lambda"],
)
def test_a_function_without_an_importable_name_needs_an_identity(
    default: Any, lacking: Any
) -> None:
    """F3: methods of Python's own classes, functions that `exec` makes, and lambdas."""
    with pytest.raises(TypeError, match="of its own: give identifier="):
        make_system().dispatchable({"x": 0})(default)
    with pytest.raises(TypeError, match="of its own: give identifier="):
        make_system().dispatchable({"x": 0}, **lacking)(default)
    function: Any = make_system().dispatchable({"x": 0}, identifier="lib:f")(default)
    assert function.__module__ in ("lib", __name__)
    assert function("ab") == default("ab")
    assert function(Foreign())[0] == "first"


@pytest.mark.parametrize("more", [{"module": "lib"}, {"qualname": "f"}], ids=repr)
def test_one_identity_is_enough(more: Any) -> None:
    """`identifier=` and the parts of another one contradict each other."""
    with pytest.raises(TypeError, match="not both"):
        make_system().dispatchable("x", identifier="lib:f", **more)(find_first)


# ---------------------------------------------------------------------------------------
# Two functions with one identity


LIBRARY = """
import functools
import importlib
from spatch_core import BackendSystem
from unit_dispatch import system

def helper(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)
    return wrapper

@system.dispatchable("x")
def f(x): return 1

@system.dispatchable("x")
@helper
def g(x): return 1
"""


def test_a_module_that_is_imported_again_decorates_again(package: Any, tmp_path: Path) -> None:
    """F3: also where it has changed since."""
    package("unit_dispatch", {"__init__.py": "import spatch_core\n"})
    vars(import_module("unit_dispatch"))["system"] = make_system()
    package("unit_library", {"__init__.py": LIBRARY})
    library = import_module("unit_library")
    (tmp_path / "unit_library" / "__init__.py").write_text("\n# changed\n" + LIBRARY)
    importlib.reload(library)
    assert library.f(3) == library.g(3) == 1
    del sys.modules["unit_library"]
    assert import_module("unit_library").f(3) == 1


def test_two_functions_with_one_identity(package: Any, tmp_path: Path) -> None:
    """F3: in one module, when it is imported, or in two; the warning names both places."""
    package("unit_dispatch", {"__init__.py": "import spatch_core\n"})
    vars(import_module("unit_dispatch"))["system"] = make_system()
    package("unit_twice", {"__init__.py": LIBRARY.replace("def g", "def f")})
    with pytest.warns(DuplicateFunctionWarning, match="identifier=") as caught:
        library = import_module("unit_twice")
    (warning,) = caught
    assert isinstance(warning.message, DuplicateFunctionWarning)
    assert warning.message.identifier == "unit_twice:f"
    file = tmp_path / "unit_twice" / "__init__.py"
    places = [f"{file}:{number}" for number in (13, 16)]
    assert [warning.message.earlier, warning.message.later] == places
    with pytest.warns(DuplicateFunctionWarning) as caught:
        library.system.dispatchable("x", identifier="unit_twice:f")(find_first)
    assert caught[0].filename == __file__


def test_one_function_is_decorated_twice() -> None:
    """F3: the warning has its place once."""
    decorate = make_system().dispatchable("x", module="lib", qualname="f")
    with pytest.warns(DuplicateFunctionWarning, match=r"is dispatchable as 'lib:f' twice \(\S+:"):
        decorate(decorate(find_first))


def test_a_module_in_code_may_have_a_name_in_brackets() -> None:
    """F3: such as the name of a script or a test that no import finds."""
    system = make_system(describe(functions=["<test>:f"]))
    function: Any = system.dispatchable("x", module="<test>", qualname="f")(lambda x: "default")
    assert function.__module__ == "<test>"
    assert function(Foreign())[0] == "first"
