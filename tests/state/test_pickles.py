"""Pickles of what a library gives its users."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

import spatch_core
from spatch_core import DispatchContext
from spatch_core.testing import run_python

PACKAGE = Path(spatch_core.__file__).parents[1]

# What is evaluated with each object as `value`, and what is printed.
USES = {
    "system": ("value.group, value.environ_prefix", "(None, 'FROZENLIB')"),
    "options": (
        "value.prioritized, value.disabled, value.type, value.trace",
        "(('second',), ('first',), <class 'frozen_library.Foreign'>, [])",
    ),
    "no options": ("value.prioritized, value.trace", "((), None)"),
    "frozen": ("value(3)", "second"),
    "decorated": ("value()", "third"),
    "coroutine": ("asyncio.run(value())", "['third', 'third']"),
    "backend": ("value(3)", "second"),
    "type": ("value(3)", "first"),
    "context": (
        "(value.name, value.types, value.prioritized)",
        "('first', (<class 'int'>,), False)",
    ),
}


@pytest.fixture(scope="module")
def objects(library: Any, work: Any) -> dict[str, Any]:
    """One object of each kind that can be pickled."""
    options = library.backend_opts
    return {
        "system": library.system,
        "options": options("second", "first", library.Foreign, trace=True),
        "no options": options(),
        "frozen": options(prioritize="second", type=library.Foreign)(library.f),
        "decorated": work.decorated,
        "coroutine": work.coroutine,
        "backend": library.f.invoke(backend="second"),
        "type": library.f.invoke(type=library.Foreign),
        "context": DispatchContext((int,), (1,), "first", False, "lib:f"),
    }


@pytest.mark.parametrize("protocol", [2, 5])
def test_pickles_load_in_another_process(
    folder: Path, objects: dict[str, Any], protocol: int
) -> None:
    """S5: each kind does there what it does here."""
    lines = "".join(
        f"value = pickle.loads({pickle.dumps(objects[name], protocol)!r})\nprint(({use}))\n"
        for name, (use, _) in USES.items()
    )
    done = run_python(f"import asyncio, pickle\n{lines}", path=[folder, PACKAGE])
    assert done.stdout.splitlines() == [result for _, result in USES.values()]


def test_a_system_that_is_not_there_is_named(library: Any) -> None:
    """S5: the module is there, and its system has another prefix now."""
    data = pickle.dumps(library.backend_opts())
    assert pickle.loads(data).prioritized == ()
    with pytest.raises(LookupError, match=r"'frozen_library' makes no .* 'FROZENLIX'"):
        pickle.loads(data.replace(b"FROZENLIB", b"FROZENLIX"))
