"""Pickles of this version, which later versions must load."""

from __future__ import annotations

import base64
import importlib
import json
import pickle
import pickletools
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import spatch_core
from spatch_core import DispatchContext
from spatch_core.testing import run_python

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(spatch_core.__file__).parents[1]
PROTOCOLS = [2, 5]

LIBRARY = """
from spatch_core import BackendSystem


class Foreign:
    pass


def first(x):
    return "first"


def second(x):
    return "second"


system = BackendSystem(
    None,
    "PICKLEDLIB",
    backends=[
        {
            "name": name,
            "primary_types": [f"{__name__}:Foreign"],
            "functions": {f"{__name__}:f": {"function": f"{__name__}:{name}"}},
        }
        for name in ("first", "second")
    ],
)
backend_opts = system.backend_opts


@system.dispatchable("x")
def f(x):
    return "default"


def plain():
    return f(Foreign())


@backend_opts(prioritize="second")
def decorated():
    return f(Foreign())


@backend_opts(disable="first")
async def coroutine():
    return f(Foreign())
"""

# What is evaluated with each object as `value`, and what is printed.
USES = {
    "system": ("value.group, value.environ_prefix", "(None, 'PICKLEDLIB')"),
    "options": (
        "value.prioritized, value.disabled, value.type, value.trace",
        "(('second',), ('first',), <class 'pickled_library.Foreign'>, [])",
    ),
    "no options": ("value.prioritized, value.trace", "((), None)"),
    "frozen": ("value(3)", "second"),
    "decorated": ("value()", "second"),
    "coroutine": ("asyncio.run(value())", "second"),
    "backend": ("value(3)", "second"),
    "type": ("value(3)", "first"),
    "context": (
        "(value.name, value.types, value.prioritized)",
        "('first', (<class 'int'>,), False)",
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a library, on `sys.path`."""
    folder = tmp_path_factory.mktemp("pickled")
    (folder / "pickled_library.py").write_text(LIBRARY, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield folder
    sys.modules.pop("pickled_library", None)


@pytest.fixture(scope="module")
def library(folder: Path) -> Any:
    return importlib.import_module("pickled_library")


@pytest.fixture(scope="module")
def objects(library: Any) -> dict[str, Any]:
    """One object of each kind that can be pickled."""
    options = library.backend_opts
    return {
        "system": library.system,
        "options": options("second", "first", library.Foreign, trace=True),
        "no options": options(),
        "frozen": options(prioritize="second", type=library.Foreign)(library.f),
        "decorated": library.decorated,
        "coroutine": library.coroutine,
        "backend": library.f.invoke(backend="second"),
        "type": library.f.invoke(type=library.Foreign),
        "context": DispatchContext((int,), (1,), "first", False, "lib:f"),
    }


def load_pickles() -> dict[tuple[str, int], bytes]:
    """Read the pickles that were made once, by the first version with this format.

    Each is one that a user may have kept. Do not change them; add those of new kinds.
    """
    file = Path(__file__).with_name("pickles.json")
    return {
        (name, int(protocol)): base64.b64decode(text)
        for name, texts in json.loads(file.read_text(encoding="utf-8")).items()
        for protocol, text in texts.items()
    }


PICKLES = load_pickles()


def strings_in(data: bytes) -> set[str]:
    """Return the strings in a pickle, including the names of modules and attributes."""
    arguments = [argument for _, argument, _ in pickletools.genops(data)]
    return {argument for argument in arguments if isinstance(argument, str)}


def modules_in(data: bytes) -> set[str]:
    """Return the modules of this package that a pickle names."""
    # Up to protocol 3 a module and an attribute are one string.
    words = {each.partition(" ")[0] for each in strings_in(data)}
    return {each for each in words if each.startswith("spatch_core")}


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_name_no_private_module(objects: dict[str, Any], protocol: int) -> None:
    """Modules move; a pickle names the one public module that every version has."""
    for name, each in objects.items():
        if protocol < 2 and name == "context":
            continue  # the class has slots, which these protocols do not know
        assert modules_in(pickle.dumps(each, protocol)) == {"spatch_core.backend_system"}, name


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_pickles_that_were_kept_load(folder: Path, protocol: int) -> None:
    """In a fresh interpreter, in this version and in every later one."""
    lines = "".join(
        f"value = pickle.loads({PICKLES[name, protocol]!r})\nprint({use!r}, '=', ({use}))\n"
        for name, (use, _) in USES.items()
    )
    done = run_python(f"import asyncio, pickle\n{lines}", path=[folder, PACKAGE])
    assert done.stdout.splitlines() == [f"{use} = {result}" for use, result in USES.values()]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", USES)
def test_what_is_pickled_now_is_what_was_kept(
    objects: dict[str, Any], name: str, protocol: int
) -> None:
    """A new option that is not used does not change a pickle, so that older versions load it."""
    data = pickle.dumps(objects[name], protocol)
    assert strings_in(data) == strings_in(PICKLES[name, protocol])
    assert type(pickle.loads(data)) is type(pickle.loads(PICKLES[name, protocol]))


@pytest.mark.parametrize(
    ("kind", "content", "unknown"),
    [
        (
            "options",
            {"options": {"prioritize": ("first",), "later": 1, "again": 2}},
            "again.*later",
        ),
        ("options", {"options": {}, "more": 1}, "'more'"),
        ("function", {"options": {"later": 1}, "function": len}, "'later'"),
        ("function", {"options": {}, "function": len, "more": 1}, "'more'"),
        ("invocation", {"options": {"later": 1}, "function": len}, "'later'"),
        ("invocation", {"options": {}, "function": len, "more": 1}, "'more'"),
        ("later", {}, "'later'"),
    ],
)
def test_what_a_later_version_added_is_named(
    library: Any, kind: str, content: dict[str, Any], unknown: str
) -> None:
    """Ignoring an option could run another backend than the pickled options ask for."""
    with pytest.raises(ValueError, match=f"later version of spatch-core.*{unknown}"):
        library.system.restore(kind, content)


def test_a_system_that_is_not_there_is_named(library: Any) -> None:
    """The module is there, and its system has another prefix now."""
    from spatch_core.backend_system import find_system

    assert find_system("pickled_library", "PICKLEDLIB", None) is library.system
    with pytest.raises(LookupError, match=r"'pickled_library' makes no .* 'OTHER'"):
        find_system("pickled_library", "OTHER", None)
