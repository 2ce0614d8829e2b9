"""Identifiers, backend names, near misses, and the state of imports."""

from __future__ import annotations

import importlib
import sys
import types

import pytest

from spatch_core._identifiers import (
    import_identifier,
    is_awaited,
    is_backend_name,
    is_dotted_name,
    is_initializing,
    loaded_object,
    nearest,
    split_identifier,
)
from spatch_core.exceptions import IdentifierError
from tests.conftest import WritePackage


class Outer:
    class Inner:
        pass


# --- identifiers ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("numpy:ndarray", ("numpy", "ndarray")),
        ("dask.array.core:Array", ("dask.array.core", "Array")),
        ("m:A.B.method", ("m", "A.B.method")),
        ("m:f.<locals>.C", ("m", "f.<locals>.C")),
        ("größe:Maß", ("größe", "Maß")),
        ("_m1:__X__", ("_m1", "__X__")),
    ],
)
def test_an_identifier_is_split_at_its_colon(text: str, parts: tuple[str, str]) -> None:
    """D10: both parts are dotted names."""
    assert split_identifier(text) == parts


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":",
        "numpy",
        "numpy:",
        ":ndarray",
        "numpy.ndarray",
        "a:b:c",
        "a::b",
        "a..b:c",
        ".a:b",
        "a.:b",
        "a:.b",
        "a:b.",
        "a b:c",
        " a:b",
        "a: b",
        "a:b ",
        "a-b:c",
        "1a:b",
        "a:1b",
        "a:b()",
        "a:<lambda>",
        "~a:b",
        "@a:b",
        "a/b:c",
        "a:b\n",
        None,
        1,
        b"a:b",
        ["a:b"],
        ("a", "b"),
    ],
    ids=repr,
)
def test_any_other_value_is_refused_and_shown(text: object) -> None:
    with pytest.raises(IdentifierError, match="is not an identifier of the form") as caught:
        split_identifier(text)
    assert caught.value.text is text
    assert repr(text) in str(caught.value)
    assert "'module:qualname'" in caught.value.expected


def test_an_identifier_error_is_a_value_error() -> None:
    assert issubclass(IdentifierError, ValueError)


@pytest.mark.parametrize("text", ["a", "a.b", "f.<locals>.g", "_", "ä.ö"])
def test_a_dotted_name_is_python_names_joined_by_dots(text: str) -> None:
    assert is_dotted_name(text)


@pytest.mark.parametrize("text", ["", ".", "a.", ".a", "a b", "a-b", "1", "<lambda>", "a:b"])
def test_anything_else_is_no_dotted_name(text: str) -> None:
    assert not is_dotted_name(text)


# --- backend names -------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a", "A-b_c.d", "0", "dask", "größe", "x.y-z_1", "-", "."])
def test_a_backend_name_follows_its_grammar(name: str) -> None:
    r"""D5: the grammar is ``[\w.-]+``."""
    assert is_backend_name(name)


@pytest.mark.parametrize(
    "name", ["", "a b", "a>b", "a,b", "*", "a:b", "a/b", "a\n", "\n", " a", None, 1, b"a", ["a"]]
)
def test_anything_else_cannot_name_a_backend(name: object) -> None:
    r"""D5: the grammar is ``[\w.-]+``."""
    assert not is_backend_name(name)


# --- importing -----------------------------------------------------------------------


def test_importing_an_identifier_imports_its_module_and_follows_the_qualname(
    package: WritePackage,
) -> None:
    package("imported", {"sub.py": "class A:\n    class B:\n        value = 'found'\n"})
    assert import_identifier("imported.sub:A.B.value") == "found"


def test_importing_a_missing_attribute_names_the_nearest(package: WritePackage) -> None:
    package("lacking", {"__init__.py": "def gaussian_filter(): ...\n"})
    with pytest.raises(ImportError, match=r"'lacking:gausian_filter' does not exist") as caught:
        import_identifier("lacking:gausian_filter")
    assert "did you mean 'gaussian_filter'?" in str(caught.value)
    assert isinstance(caught.value.__cause__, AttributeError)


def test_importing_a_name_unlike_any_other_suggests_nothing(package: WritePackage) -> None:
    package("bare", {})
    with pytest.raises(ImportError) as caught:
        import_identifier("bare:qqqqqqqq")
    assert "did you mean" not in str(caught.value)


def test_importing_looks_for_a_nested_name_in_what_was_found(package: WritePackage) -> None:
    package("nested", {"__init__.py": "class A:\n    method = 1\nmethod = 2\n"})
    with pytest.raises(ImportError, match="did you mean 'method'"):
        import_identifier("nested:A.methd")


def test_importing_a_missing_module_fails_as_python_does() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_module_here"):
        import_identifier("no_such_module_here:x")


def test_importing_a_module_that_fails_raises_its_own_error(package: WritePackage) -> None:
    package("failing", {"__init__.py": "raise KeyError('its own')\n"})
    with pytest.raises(KeyError, match="its own"):
        import_identifier("failing:x")


def test_importing_a_malformed_identifier_is_refused() -> None:
    with pytest.raises(IdentifierError):
        import_identifier("os.path.join")


def test_nothing_in_an_identifier_is_evaluated() -> None:
    """E3: identifiers are imported and looked up, no more."""
    with pytest.raises(IdentifierError):
        import_identifier("os:getcwd()")


# --- looking up loaded objects -------------------------------------------------------


def test_a_loaded_object_is_found_without_an_import(package: WritePackage) -> None:
    package("not_yet", {"__init__.py": "class A: ...\n"})
    assert loaded_object("not_yet", "A") is None
    assert "not_yet" not in sys.modules
    module = importlib.import_module("not_yet")
    assert loaded_object("not_yet", "A") is module.A


def test_a_loaded_object_may_be_nested() -> None:
    assert loaded_object(__name__, "Outer.Inner") is Outer.Inner


def test_a_loaded_module_without_the_object_has_none() -> None:
    assert loaded_object(__name__, "Outer.Missing") is None


def test_a_module_blocked_in_sys_modules_has_no_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "blocked_module", None)
    assert loaded_object("blocked_module", "A") is None


def test_an_attribute_hook_of_a_module_is_followed(package: WritePackage) -> None:
    package("lazy", {"__init__.py": "def __getattr__(name):\n    return int\n"})
    importlib.import_module("lazy")
    assert loaded_object("lazy", "Anything") is int


@pytest.mark.parametrize("error", ["AttributeError", "ImportError", "RuntimeError", "KeyError"])
def test_an_attribute_hook_that_fails_has_no_objects(package: WritePackage, error: str) -> None:
    name = f"hook_{error.lower()}"
    package(name, {"__init__.py": f"def __getattr__(name):\n    raise {error}(name)\n"})
    importlib.import_module(name)
    assert loaded_object(name, "Array") is None


def test_an_attribute_hook_is_not_called_where_it_must_not_be(package: WritePackage) -> None:
    package("hooked_only", {"__init__.py": "A = int\ndef __getattr__(name):\n    return str\n"})
    importlib.import_module("hooked_only")
    assert loaded_object("hooked_only", "A", hooks=False) is int
    assert loaded_object("hooked_only", "B", hooks=False) is None
    assert loaded_object("hooked_only", "B") is str
    assert loaded_object("no_such_module_here", "A", hooks=False) is None


def test_it_is_known_whether_a_module_is_being_imported(package: WritePackage) -> None:
    text = (
        "import sys\n"
        "from spatch_core._identifiers import is_initializing\n"
        "during = is_initializing(sys.modules[__name__])\n"
    )
    package("being_imported", {"__init__.py": text})
    module = importlib.import_module("being_imported")
    assert module.during is True
    assert not is_initializing(module)
    assert not is_initializing(types.ModuleType("made_by_hand"))
    assert not is_initializing(None)


# --- near misses ---------------------------------------------------------------------


def test_the_nearest_names_come_first_and_are_few() -> None:
    names = ["threads", "thread", "treads", "threadz", "dask"]
    found = nearest("threads", names)
    assert found[0] == "threads"
    assert len(found) == 3
    assert "dask" not in found


def test_a_name_unlike_the_others_has_no_near_names() -> None:
    assert nearest("jax", ["numpy", "threads"]) == []


def test_the_nearest_names_are_compared_without_case() -> None:
    """S5: names are returned in their own case; names that differ only in case are all returned."""
    assert nearest("FAST", ["slow", "fast"]) == ["fast"]
    assert nearest("fats", ["Fast", "FAST", "slow"]) == ["Fast", "FAST"]
    assert nearest("STRASSE", ["straße"]) == ["straße"]


def test_a_value_that_is_no_string_has_near_names_too() -> None:
    assert nearest(12, ["123", "abc"]) == ["123"]


class Raising:
    """A stub for a module that is missing; it raises from every attribute."""

    def __getattribute__(self, name: str) -> object:
        raise RuntimeError(name)


@pytest.mark.parametrize("stub", [Raising, object, int])
def test_a_stub_that_is_no_module_is_not_awaited(
    stub: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """M9: whatever it raises, it names nothing."""
    monkeypatch.setitem(sys.modules, "stubbed_module", stub())
    assert not is_awaited("stubbed_module")
    assert loaded_object("stubbed_module", "Array.Inner") is None
