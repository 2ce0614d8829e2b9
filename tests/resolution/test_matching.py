"""Which backends match which types, asked through calls: rules M."""

from __future__ import annotations

import abc
import importlib
import sys
from collections.abc import Iterable
from typing import Any

import pytest

from tests.conftest import WritePackage
from tests.library import answering, describe, make


class Array:
    pass


class Special(Array):
    pass


class Other:
    pass


def backend(name: str, primary: Iterable[str], secondary: Iterable[str] = ()) -> dict[str, Any]:
    return describe(name, types=" ".join(primary), also=" ".join(secondary))


def here(*names: str, prefix: str = "") -> list[str]:
    """Type patterns of classes in this module."""
    return [f"{prefix}{__name__}:{name}" for name in names]


def library(*backends: dict[str, Any], default: Iterable[str] = ()) -> Any:
    """Return a function of all its arguments that says which backend ran."""
    answers = answering("default")
    _, function = make(*backends, default=answers, dispatch_args=None, types=" ".join(default))
    return function


# --- M1 dispatch types ---------------------------------------------------------------


def test_none_and_absent_arguments_do_not_count() -> None:
    """M1: neither changes which backend answers."""
    gpu = backend("gpu", here("Array"))
    _, function = make(
        gpu, default=lambda x, y=None, z=1: "default", dispatch_args=["x", "y", "z"], types=""
    )
    array = Array()
    for args, named in [((array,), {}), ((array, None, None), {}), ((), {"x": None, "z": array})]:
        assert function(*args, **named) == "gpu"
        assert function.explain(*args, **named).types == (Array,)
    assert function(None) == "default"
    assert library(backend("gpu", ["types:NoneType", "builtins:NoneType"]))(None) == "default"


# --- M2 exact patterns ---------------------------------------------------------------


class Nest:
    class Inner:
        pass


LOCAL = type("Local", (), {"__qualname__": "make.<locals>.Local"})


@pytest.mark.parametrize(
    ("name", "cls", "matches"),
    [
        ("Array", Array, True),
        ("Array", Special, False),
        ("array", Array, False),
        ("Array.Array", Array, False),
        ("Nest.Inner", Nest.Inner, True),
        ("Inner", Nest.Inner, False),
        ("make.<locals>.Local", LOCAL, True),
        ("Local", LOCAL, False),
    ],
    ids=[
        *("itself", "a subclass", "another case", "more of a name", "nested", "its last name"),
        *("local", "its last name, local"),
    ],
)
def test_an_exact_pattern_matches_the_class_it_names(name: str, cls: Any, matches: bool) -> None:
    """M2: by its module and its qualname, exactly."""
    function = library(backend("gpu", here(name)), backend("tpu", [f"{__name__}.sub:{name}"]))
    assert function(cls()) == ("gpu" if matches else "default")


def test_a_class_matches_by_its_names_though_its_module_was_never_imported() -> None:
    """M2: no import is needed."""
    cls = type("ndarray", (), {"__module__": "never_imported.core"})
    function = library(backend("gpu", ["never_imported.core:ndarray"]))
    assert function(cls()) == "gpu"
    assert "never_imported" not in sys.modules


LAZY = """
def __getattr__(name):
    if name != "Array":
        raise AttributeError(name)
    from .core import Array
    return Array
"""


@pytest.mark.parametrize("code", ["from .core import Array\n", LAZY], ids=["there", "by a hook"])
def test_a_public_alias_matches_when_its_module_is_imported_already(
    package: WritePackage, code: str
) -> None:
    """M2: the class *is* what the pattern names; many libraries load their names lazily."""
    name = "lazy_alias" if code == LAZY else "alias"
    package(name, {"core.py": "class Array: ...\n", "__init__.py": code})
    array = importlib.import_module(name).Array
    function = library(backend("gpu", [f"{name}:Array"]))
    assert function(array()) == "gpu"


def test_a_pattern_imports_nothing(package: WritePackage) -> None:
    """M2: no call imports the module of a pattern."""
    package("quiet", {"core.py": "class Array: ...\n", "api.py": "from .core import Array\n"})
    array = importlib.import_module("quiet.core").Array
    function = library(
        backend("a", ["quiet.api:Array"]), backend("b", ["~quiet.api:Array"]), default=here("Array")
    )
    assert function(array()) == "default"
    assert function(Array(), array()) == "default"
    function.explain(array())
    assert "quiet.api" not in sys.modules


@pytest.mark.parametrize("prefix", ["", "~"])
@pytest.mark.parametrize("qualname", ["Array", "Renamed", "ns.Array"])
def test_an_alias_takes_effect_when_its_module_is_imported_later(
    package: WritePackage, prefix: str, qualname: str
) -> None:
    """C8: also after calls that were answered without it."""
    package(
        "late",
        {
            "core.py": "class Array: ...\n",
            "api.py": "from .core import Array\nRenamed = Array\nclass ns:\n    Array = Array\n",
        },
    )
    array = importlib.import_module("late.core").Array
    gpu = backend("gpu", [f"{prefix}late.api:{qualname}"])
    lone, both = library(gpu), library(gpu, backend("own", ["late.core:Array"]))
    assert [lone(array()) for _ in range(3)] == ["default"] * 3
    assert both(array()) == "own"
    importlib.import_module("late.api")
    assert [lone(array()) for _ in range(3)] == ["gpu"] * 3
    assert lone.explain(array()).selected == "gpu"
    # The better backend is found when the public name appears.
    assert both(array()) == "gpu"


def test_an_attribute_hook_is_not_asked_about_classes_that_cannot_be_meant(
    package: WritePackage,
) -> None:
    """M2: a hook may import much, which an unrelated call must not cost."""
    package(
        "importing",
        {
            "heavy.py": "class Tensor: ...\n",
            "__init__.py": "def __getattr__(name):\n"
            "    from importlib import import_module\n"
            "    return import_module('importing.' + name)\n",
        },
    )
    importlib.import_module("importing")
    function = library(backend("gpu", ["importing:heavy.Tensor"]))
    assert [function(Array()), function("text")] == ["default", "default"]
    assert "importing.heavy" not in sys.modules
    assert function(importlib.import_module("importing.heavy").Tensor()) == "gpu"


@pytest.mark.parametrize("error", ["ImportError", "RuntimeError", "AttributeError"])
def test_a_module_whose_attribute_hook_fails_breaks_no_call(
    package: WritePackage, error: str
) -> None:
    """M2: the pattern does not mean the class then."""
    name = f"trap_{error.lower()}"
    package(name, {"__init__.py": f"def __getattr__(name):\n    raise {error}('no')\n"})
    importlib.import_module(name)
    cls = type("Array", (), {"__module__": f"{name}.core"})
    function = library(backend("gpu", [f"{name}:Array"]), backend("tpu", [f"{name}.core:Array"]))
    assert function(cls()) == "tpu"
    assert function(cls()) == "tpu"


# --- M2 subclass patterns ------------------------------------------------------------


def test_a_subclass_pattern_matches_by_the_names_along_the_mro() -> None:
    """M2: the class and its subclasses, without an import."""
    base = type("Tensor", (), {"__module__": "framework_never_imported.core"})
    derived = type("Derived", (type("Middle", (Other, base), {}),), {})
    function = library(backend("gpu", ["~framework_never_imported.core:Tensor"]))
    assert function(base()) == function(derived()) == "gpu"
    assert function(Other()) == "default"
    assert "framework_never_imported" not in sys.modules


def test_a_virtual_subclass_is_no_subclass_for_a_subclass_pattern() -> None:
    """M2: the MRO decides; `@` is for abstract base classes."""

    class Base(abc.ABC):  # noqa: B024  # abstract by name
        pass

    Base.register(Other)
    name = "test_a_virtual_subclass_is_no_subclass_for_a_subclass_pattern.<locals>.Base"
    function = library(backend("gpu", here(name, prefix="~")))
    assert function(Other()) == "default"
    assert function(type("Real", (Base,), {})()) == "gpu"


# --- M2 abstract patterns ------------------------------------------------------------


class Duck(abc.ABC):  # noqa: B024  # abstract by name
    pass


class Quack(abc.ABC):  # noqa: B024  # abstract by its hook
    @classmethod
    def __subclasshook__(cls, other: type) -> bool:
        return any("quack" in each.__dict__ for each in other.__mro__) or NotImplemented


class Quacking:
    quack = True


class NotQuacking:
    pass


def test_an_abstract_pattern_matches_by_issubclass() -> None:
    """M2: registered classes and hooks count."""
    function = library(backend("gpu", here("Quack", prefix="@")))
    assert function(Quacking()) == "gpu"
    assert function(NotQuacking()) == "default"
    assert function(type("Real", (Quack,), {})()) == "gpu"


def test_a_registration_takes_effect_after_the_first_call() -> None:
    """M2: also for a type that was ignored before."""
    duck = type("Duckling", (), {})
    function = library(backend("gpu", here("Duck", prefix="@")))
    assert [function(duck()) for _ in range(2)] == ["default", "default"]
    Duck.register(duck)
    assert [function(duck()) for _ in range(2)] == ["gpu", "gpu"]
    assert function.explain(duck()).selected == "gpu"


@pytest.mark.parametrize(
    "text",
    [
        "@no_such_module_here:Base",
        "@collections.abc:NoSuchBase",
        "@os:getcwd",
        "@spoilt_abstract:Base",
        "@exiting_abstract:Base",
        "@greedy_abstract:Base",
        f"@{__name__}:Failing",
    ],
    ids=[
        *("module missing", "class missing", "no class", "import fails", "import exits"),
        *("import wants too much memory", "hook fails"),
    ],
)
def test_an_abstract_base_class_that_is_not_there_matches_nothing(
    package: WritePackage, text: str
) -> None:
    """M2, M1: one backend's mistake is not the caller's."""
    package("spoilt_abstract", {"__init__.py": "raise RuntimeError\n"})
    package("exiting_abstract", {"__init__.py": "raise SystemExit(3)\n"})
    package("greedy_abstract", {"__init__.py": "bytearray(1 << 62)\n"})
    function = library(backend("broken", [text]), backend("gpu", here("Array")))
    assert function(Array()) == "gpu"
    assert function(Other()) == "default"


class Failing(abc.ABC):  # noqa: B024  # abstract by its hook
    @classmethod
    def __subclasshook__(cls, other: type) -> bool:
        raise RuntimeError("hook")


# --- M1 strange classes --------------------------------------------------------------


class EqualMeta(type):
    """Everything is equal to its classes."""

    def __eq__(cls, other: object) -> bool:
        return True

    def __hash__(cls) -> int:
        return 1


class RaisingMeta(type):
    def __eq__(cls, other: object) -> bool:
        raise RuntimeError("==")

    def __hash__(cls) -> int:
        raise RuntimeError("hash")


STRANGE = [EqualMeta, RaisingMeta]


def make_class(metaclass: type, name: str, *bases: type) -> Any:
    """Make a class of this module without asking its metaclass anything."""
    return type.__call__(metaclass, name, bases, {"__module__": __name__})


def instance(cls: Any) -> Any:
    return object.__new__(cls)


@pytest.mark.parametrize("metaclass", STRANGE)
@pytest.mark.parametrize("prefix", ["", "~"])
def test_a_class_whose_metaclass_breaks_equality_finds_its_backend(
    metaclass: type, prefix: str
) -> None:
    """M1: at the first call and at later ones; it can be explained, traced, and be in force."""
    cls = make_class(metaclass, "Strange")
    derived = make_class(metaclass, "Derived", cls)
    namesake = type.__call__(metaclass, "Strange", (), {"__module__": "elsewhere"})
    system, function = make(
        backend("gpu", here("Strange", prefix=prefix), here("Other")),
        backend("tpu", here("Array", "Other")),
        backend("abstract", here("Quack", prefix="@")),
        default=answering("default"),
        dispatch_args=None,
        types="",
    )
    for _ in range(3):
        assert function(instance(cls)) == "gpu"
        assert function(instance(derived)) == ("gpu" if prefix else "default")
        assert function(instance(namesake)) == "default"
        assert function(instance(cls), Other()) == function(Other(), instance(cls)) == "gpu"
        assert function(Array(), instance(cls)) == "default"
    explanation = function.explain(instance(cls))
    assert explanation.selected == "gpu"
    assert f"{__name__}:Strange" in str(explanation)
    with system.backend_opts(trace=True, type=cls) as trace:
        assert function(Other()) == "gpu"
    assert [event.backend for event in trace] == ["gpu"]


def test_an_object_that_lies_about_its_class_is_dispatched_by_its_type() -> None:
    """M1: dispatch types are types, as a proxy's ``__class__`` is not."""

    class Proxy:
        __class__ = Array  # type: ignore[assignment]

    function = library(backend("gpu", here("Array", prefix="~")))
    assert isinstance(Proxy(), Array)
    assert function(Proxy()) == "default"
