"""Identifiers, type patterns and backend names."""

from __future__ import annotations

import abc
import copy
import importlib
import pickle
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spatch_core._classes import is_hashable_by_identity, is_importable, type_identifier
from spatch_core._identifiers import (
    import_identifier,
    is_backend_name,
    is_dotted_name,
    is_importing,
    is_initializing,
    loaded_object,
    nearest,
    split_identifier,
)
from spatch_core._type_patterns import ABSTRACT, EXACT, SUBCLASS, TypePattern
from spatch_core.exceptions import IdentifierError

Write = Callable[[str, dict[str, str]], str]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write importable packages."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(name: str, files: dict[str, str]) -> str:
        for file, text in {"__init__.py": "", **files}.items():
            path = tmp_path / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        importlib.invalidate_caches()
        return name

    return write


class Outer:
    class Inner:
        pass


class HostileMeta(type):
    """Nothing about its classes can be asked in the usual way."""

    def __eq__(cls, other: object) -> bool:
        raise RuntimeError("==")

    def __hash__(cls) -> int:
        raise RuntimeError("hash")

    def __getattribute__(cls, name: str) -> Any:
        raise RuntimeError(name)


def make_hostile(*bases: type) -> type:
    """Not kept in this module: pytest asks everything in it for attributes."""
    cls: type = type.__call__(HostileMeta, "Hostile", bases, {})
    return cls


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
def test_what_is_no_identifier_is_refused_and_shown(text: object) -> None:
    """D10: the error has the text."""
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
    package: Write,
) -> None:
    package("imported", {"sub.py": "class A:\n    class B:\n        value = 'found'\n"})
    assert import_identifier("imported.sub:A.B.value") == "found"


def test_importing_what_a_module_lacks_names_the_nearest(package: Write) -> None:
    package("lacking", {"__init__.py": "def gaussian_filter(): ...\n"})
    with pytest.raises(ImportError, match=r"'lacking:gausian_filter' does not exist") as caught:
        import_identifier("lacking:gausian_filter")
    assert "did you mean 'gaussian_filter'?" in str(caught.value)
    assert isinstance(caught.value.__cause__, AttributeError)


def test_importing_what_resembles_nothing_suggests_nothing(package: Write) -> None:
    package("bare", {})
    with pytest.raises(ImportError) as caught:
        import_identifier("bare:qqqqqqqq")
    assert "did you mean" not in str(caught.value)


def test_importing_looks_for_a_nested_name_in_what_was_found(package: Write) -> None:
    package("nested", {"__init__.py": "class A:\n    method = 1\nmethod = 2\n"})
    with pytest.raises(ImportError, match="did you mean 'method'"):
        import_identifier("nested:A.methd")


def test_importing_a_missing_module_fails_as_python_does() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_module_here"):
        import_identifier("no_such_module_here:x")


def test_importing_a_module_that_fails_raises_its_own_error(package: Write) -> None:
    package("failing", {"__init__.py": "raise KeyError('its own')\n"})
    with pytest.raises(KeyError, match="its own"):
        import_identifier("failing:x")


def test_importing_what_is_no_identifier_is_refused() -> None:
    with pytest.raises(IdentifierError):
        import_identifier("os.path.join")


def test_nothing_in_an_identifier_is_evaluated() -> None:
    """E3: identifiers are imported and looked up, no more."""
    with pytest.raises(IdentifierError):
        import_identifier("os:getcwd()")


# --- looking up what is loaded -------------------------------------------------------


def test_a_loaded_object_is_found_without_an_import(package: Write) -> None:
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


def test_an_attribute_hook_of_a_module_is_followed(package: Write) -> None:
    package("lazy", {"__init__.py": "def __getattr__(name):\n    return int\n"})
    importlib.import_module("lazy")
    assert loaded_object("lazy", "Anything") is int


@pytest.mark.parametrize("error", ["AttributeError", "ImportError", "RuntimeError", "KeyError"])
def test_an_attribute_hook_that_fails_has_no_objects(package: Write, error: str) -> None:
    name = f"hook_{error.lower()}"
    package(name, {"__init__.py": f"def __getattr__(name):\n    raise {error}(name)\n"})
    importlib.import_module(name)
    assert loaded_object(name, "Array") is None


def test_an_attribute_hook_is_not_asked_where_it_must_not_be(package: Write) -> None:
    package("hooked_only", {"__init__.py": "A = int\ndef __getattr__(name):\n    return str\n"})
    importlib.import_module("hooked_only")
    assert loaded_object("hooked_only", "A", hooks=False) is int
    assert loaded_object("hooked_only", "B", hooks=False) is None
    assert loaded_object("hooked_only", "B") is str
    assert loaded_object("no_such_module_here", "A", hooks=False) is None


def test_it_is_known_whether_a_module_is_being_imported(package: Write) -> None:
    text = (
        "import sys\n"
        "from spatch_core._identifiers import is_importing, is_initializing\n"
        "during = is_importing(), is_initializing(sys.modules[__name__])\n"
    )
    package("being_imported", {"__init__.py": text})
    module = importlib.import_module("being_imported")
    assert module.during == (True, True)
    assert not is_importing()
    assert not is_initializing(module)
    assert not is_initializing(types.ModuleType("made_by_hand"))
    assert not is_initializing(None)


# --- classes -------------------------------------------------------------------------


def test_a_class_has_an_identifier_whatever_its_metaclass_does() -> None:
    """M9: its own attribute access is not used."""
    assert type_identifier(make_hostile()) == f"{__name__}:Hostile"


def test_a_nested_class_has_its_qualname_in_its_identifier() -> None:
    assert type_identifier(Outer.Inner) == f"{__name__}:Outer.Inner"


def test_a_class_without_a_module_has_an_identifier() -> None:
    """A class made by `type` where the globals have no name has no ``__module__`` at all."""
    namespace: dict[str, Any] = {}
    exec("cls = type('Anonymous', (), {})", namespace)  # noqa: S102  # only this makes one
    assert type_identifier(namespace["cls"]).endswith(":Anonymous")


def local_class() -> type:
    class Local:
        pass

    return Local


class Shadowed:
    pass


FirstShadowed = Shadowed


class Shadowed:  # type: ignore[no-redef]  # two of one name, on purpose
    pass


@pytest.mark.parametrize(
    ("cls", "expected"),
    [
        (int, True),
        (type(None), True),
        (types.GeneratorType, True),
        (Outer, True),
        (Outer.Inner, True),
        (local_class(), False),
        (Shadowed, True),
        (FirstShadowed, False),
        (type("Gone", (), {}), False),
        (type("Inner", (), {"__qualname__": "Outer.Inner"}), False),
        (type("Lost", (), {"__module__": "no_such_module_here"}), False),
        (type("Odd", (), {"__module__": 1}), False),
        (type("Deep", (), {"__qualname__": "sys.path.Deep"}), False),
    ],
    ids=[
        "builtin",
        "never collected",
        "never collected, and found nowhere",
        "module level",
        "nested",
        "local",
        "redefined",
        "hidden by a redefinition",
        "not kept",
        "takes another's name",
        "module not there",
        "module is no string",
        "inside what is no class",
    ],
)
def test_an_importable_class_is_found_under_its_own_name(cls: type, expected: bool) -> None:
    assert is_importable(cls) is expected


def test_a_class_is_importable_whatever_its_metaclass_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = types.ModuleType("hostile_module")
    monkeypatch.setitem(sys.modules, "hostile_module", module)
    cls = type.__call__(HostileMeta, "Hostile", (), {"__module__": "hostile_module"})
    assert not is_importable(cls)
    module.__dict__["Hostile"] = cls
    assert is_importable(cls)


def test_whether_a_class_is_importable_runs_no_code_of_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = types.ModuleType("hooked_module")
    asked: list[str] = []
    module.__dict__["__getattr__"] = asked.append
    monkeypatch.setitem(sys.modules, "hooked_module", module)
    assert not is_importable(type("Absent", (), {"__module__": "hooked_module"}))
    assert asked == []


class EqualMeta(type):
    def __eq__(cls, other: object) -> bool:
        return True

    def __hash__(cls) -> int:
        return 1


class HashMeta(type):
    def __hash__(cls) -> int:
        return 1


class UnhashableMeta(type):
    __hash__ = None  # type: ignore[assignment]


class PlainMeta(type):
    pass


@pytest.mark.parametrize("metaclass", [type, PlainMeta, abc.ABCMeta])
def test_a_class_is_a_key_where_its_metaclass_compares_by_identity(metaclass: type) -> None:
    """M9: others are never compared."""
    assert is_hashable_by_identity(metaclass("Made", (), {}))


@pytest.mark.parametrize("metaclass", [EqualMeta, HashMeta, UnhashableMeta, HostileMeta])
def test_a_class_is_no_key_where_its_metaclass_compares_otherwise(metaclass: type) -> None:
    """M9: it may be equal to another class."""
    assert not is_hashable_by_identity(metaclass("Made", (), {}))


# --- type patterns -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "prefix"),
    [("m.n:Q.R", EXACT), ("~m.n:Q.R", SUBCLASS), ("@m.n:Q.R", ABSTRACT)],
    ids=["exact", "subclass", "abstract"],
)
def test_a_type_pattern_has_a_prefix_and_an_identifier(text: str, prefix: str) -> None:
    """D10: the prefix may be empty."""
    pattern = TypePattern(text)
    assert (pattern.prefix, pattern.identifier) == (prefix, "m.n:Q.R")
    assert (pattern.module, pattern.qualname) == ("m.n", "Q.R")
    assert str(pattern) == text
    assert repr(pattern) == f"TypePattern({text!r})"


@pytest.mark.parametrize(
    "text",
    ["", "~", "@", "~~m:Q", "~@m:Q", "@@m:Q", "~ m:Q", " ~m:Q", "m:~Q", "m:", "!m:Q", None, 3],
    ids=repr,
)
def test_what_is_no_type_pattern_is_refused_whole(text: object) -> None:
    with pytest.raises(IdentifierError, match="type pattern") as caught:
        TypePattern(text)
    # The whole text, its prefix too, so that it can be found in the file.
    assert caught.value.text is text
    assert caught.value.__cause__ is None
    for form in ("'module:qualname'", "'~module:qualname'", "'@module:qualname'"):
        assert form in str(caught.value)


def test_type_patterns_are_equal_by_their_text() -> None:
    assert TypePattern("~m:Q") == TypePattern("~m:Q")
    assert hash(TypePattern("~m:Q")) == hash(TypePattern("~m:Q"))
    assert len({TypePattern(text) for text in ("m:Q", "~m:Q", "@m:Q", "m:R", "m:Q")}) == 4
    assert TypePattern("m:Q") != "m:Q"


@pytest.mark.parametrize("text", ["m:Q", "~m:Q.R", "@m:Q"])
def test_type_patterns_can_be_copied_and_pickled(text: str) -> None:
    pattern = TypePattern(text)
    for other in (copy.deepcopy(pattern), pickle.loads(pickle.dumps(pattern))):
        assert other == pattern
        assert (other.prefix, other.identifier) == (pattern.prefix, pattern.identifier)


class Base:
    pass


class Derived(Base):
    pass


@pytest.mark.parametrize(
    ("text", "cls", "expected"),
    [
        ("builtins:int", int, True),
        ("builtins:int", bool, False),
        ("~builtins:int", bool, True),
        ("~builtins:int", int, True),
        ("~builtins:bool", int, False),
        (f"{__name__}:Outer.Inner", Outer.Inner, True),
        (f"{__name__}:Inner", Outer.Inner, False),
        (f"{__name__}:Outer", Outer.Inner, False),
        (f"{__name__}:Base", Derived, False),
        (f"~{__name__}:Base", Derived, True),
        ("~builtins:object", Derived, True),
    ],
)
def test_a_pattern_names_a_class_by_module_and_qualname(
    text: str, cls: type, expected: bool
) -> None:
    """M3, M4: where the module is imported."""
    assert TypePattern(text).names(cls) is expected


def test_a_pattern_names_a_class_whatever_its_metaclass_does() -> None:
    """M9: its own attribute access is not used."""
    hostile = make_hostile()
    derived = type.__call__(HostileMeta, "Derived", (hostile,), {})
    exact, subclass = TypePattern(f"{__name__}:Hostile"), TypePattern(f"~{__name__}:Hostile")
    assert exact.names(hostile)
    assert subclass.names(hostile)
    assert not exact.names(derived)
    assert subclass.names(derived)
    assert not TypePattern("builtins:int").names(hostile)
    assert TypePattern(f"{__name__}.public:Other").may_alias(hostile, known=True)


@pytest.mark.parametrize("prefix", ["", "~"])
def test_a_pattern_names_a_class_of_a_module_that_is_not_imported(prefix: str) -> None:
    """M3, M4: names alone decide where the module is not there."""
    base = type("Array", (), {"__module__": "never.imported"})
    derived = type("Special", (base,), {"__module__": "somewhere.else_"})
    pattern = TypePattern(f"{prefix}never.imported:Array")
    assert pattern.names(base)
    assert pattern.names(derived) is (prefix == "~")
    assert "never" not in sys.modules


def test_a_pattern_names_the_object_behind_a_public_alias(package: Write) -> None:
    """M3, M4: the class *is* the object that the pattern names."""
    package("aliased", {"core.py": "class Array: ...\n", "public.py": "from .core import Array\n"})
    array = importlib.import_module("aliased.core").Array
    derived = type("Derived", (array,), {})
    exact, subclass = TypePattern("aliased.public:Array"), TypePattern("~aliased.public:Array")
    assert not exact.names(array)
    assert not subclass.names(derived)
    assert "aliased.public" not in sys.modules
    importlib.import_module("aliased.public")
    assert exact.names(array)
    assert not exact.names(derived)
    assert subclass.names(derived)


def test_an_alias_that_names_something_else_is_no_match(package: Write) -> None:
    package("replaced", {"__init__.py": "Array = 1\n"})
    importlib.import_module("replaced")
    assert not TypePattern("replaced:Array").names(int)


@pytest.mark.parametrize(
    ("text", "known", "expected"),
    [
        ("defining.public:Array", False, True),
        ("defining.public:Array", True, True),
        ("defining.public:Renamed", True, True),
        ("~defining.public:Renamed", True, True),
        ("elsewhere:Array", False, True),
        ("~elsewhere:Array", False, True),
        ("elsewhere:Other", False, False),
        ("elsewhere:ns.Array", False, True),
        ("@defining.public:Array", False, False),
        ("builtins:int", False, False),
    ],
)
def test_a_pattern_may_be_an_alias_while_its_module_is_not_imported(
    text: str, known: bool, expected: bool
) -> None:
    cls = type("Array", (), {"__module__": "defining.core"})
    assert TypePattern(text).may_alias(cls, known) is expected


@pytest.mark.parametrize(("prefix", "expected"), [("", False), ("~", True)])
def test_a_subclass_pattern_may_be_an_alias_of_any_base(prefix: str, expected: bool) -> None:
    base = type("Array", (), {"__module__": "defining.core"})
    derived = type("Masked", (base,), {"__module__": "other"})
    assert TypePattern(f"{prefix}defining.public:Array").may_alias(derived, True) is expected


class Faulty:
    """What somebody might put where a module's name belongs."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("==")

    def __str__(self) -> str:
        raise RuntimeError("str")


@pytest.mark.parametrize(
    "module",
    [None, 1, property(lambda self: "m"), Faulty()],
    ids=["None", "int", "property", "faulty"],
)
@pytest.mark.parametrize("text", ["m:Odd", "~m:Odd", "m:Other", "~m.n:Other"])
def test_a_module_that_is_no_string_names_nothing(module: object, text: str) -> None:
    """M9: it is as if the class had no module."""
    cls = type("Odd", (), {"__module__": module})
    pattern = TypePattern(text)
    assert not pattern.names(cls)
    pattern.may_alias(cls, False)
    type_identifier(cls)


# --- near misses ---------------------------------------------------------------------


def test_the_nearest_names_come_first_and_are_few() -> None:
    names = ["threads", "thread", "treads", "threadz", "dask"]
    found = nearest("threads", names)
    assert found[0] == "threads"
    assert len(found) == 3
    assert "dask" not in found


def test_nothing_is_near_to_something_else() -> None:
    assert nearest("jax", ["numpy", "threads"]) == []


def test_what_is_no_string_has_near_names_too() -> None:
    assert nearest(12, ["123", "abc"]) == ["123"]
