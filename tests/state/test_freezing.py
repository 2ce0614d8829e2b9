"""Options as a decorator, and `freeze`: which state is frozen, and into what."""

from __future__ import annotations

import asyncio
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import spatch_core
from spatch_core.testing import run_python

if TYPE_CHECKING:
    from spatch_core.types import BackendOptions

PACKAGE = Path(spatch_core.__file__).parents[1]


def asyncio_run(function: Any) -> Any:
    return asyncio.run(function())


def test_state_is_frozen_when_decorated(library: Any, work: Any) -> None:
    """S5: the frozen state includes the options in force at the decoration."""
    with library.backend_opts(prioritize="second", disable="first"):
        frozen = library.backend_opts(type=library.Foreign)(
            lambda: (
                library.f(None),
                library.backend_opts().prioritized,
                library.backend_opts().disabled,
            )
        )
    assert frozen() == ("second", ("second",), ("first",))
    with library.backend_opts(prioritize="third", disable="second"):
        assert frozen() == ("second", ("second",), ("first",))


def test_frozen_state_does_not_follow_the_process(folder: Path) -> None:
    """S5: neither `enable_globally` nor the environment changes a frozen state."""
    done = run_python(
        """
        from frozen_library import backend_opts
        from frozen_work import plain
        frozen = backend_opts()(plain)
        backend_opts(prioritize="third").enable_globally()
        print(frozen(), plain())
        """,
        path=[folder, PACKAGE],
        environment={"FROZENLIB_PRIORITIZE": "second"},
    )
    assert done.stdout.split() == ["second", "third"]


def test_above_staticmethod_and_classmethod(options: type[BackendOptions], work: Any) -> None:
    """The decorator above `staticmethod` and `classmethod` works as below them."""

    class Thing:
        @options(prioritize="third")
        @staticmethod
        def static(x: Any) -> Any:
            return work.plain(), x

        @options(prioritize="second")
        @classmethod
        def of_class(cls) -> Any:
            return work.plain(), cls.__name__

    assert Thing.static(3) == Thing().static(3) == ("third", 3)
    assert Thing.of_class() == Thing().of_class() == ("second", "Thing")


@pytest.mark.parametrize(
    "value", [3, "f", None, pytest.param(property(len), id="property")], ids=repr
)
def test_what_cannot_be_called_is_refused(library: Any, value: Any) -> None:
    """A mistake is named where it is made."""
    with pytest.raises(TypeError, match="decorate a function"):
        library.backend_opts()(value)


def test_freeze_adds_nothing_of_what_is_in_force(folder: Path) -> None:
    """What runs later has the options that are given, and no trace that grows for ever."""
    done = run_python(
        """
        from frozen_library import Foreign, backend_opts, f
        from frozen_work import plain

        backend_opts(type=Foreign, trace=True, disable="first").enable_globally()
        def query():
            options = backend_opts()
            return options.prioritized, options.disabled, options.type, options.trace

        with backend_opts(prioritize="second") as outer:
            alone = backend_opts().freeze(query)
            third = backend_opts(["third", "first"], "first").freeze(query)
            assumed = backend_opts(type=Foreign).freeze(f)
        with backend_opts(prioritize="second"):
            assert alone() == ((), (), None, None), alone()
            assert third() == (("third",), ("first",), None, None), third()
            assert backend_opts().freeze(plain)() == "first"
            assert assumed(3) == "first"
            assert f(3) == "second"
        """,
        path=[folder, PACKAGE],
    )
    assert done.returncode == 0


def test_freeze_keeps_the_trace(folder: Path) -> None:
    """S5: that of the object."""
    done = run_python(
        """
        from frozen_library import backend_opts
        from frozen_work import plain

        traced = backend_opts(trace=True)
        traced.freeze(plain)()
        with traced as trace:
            assert [event.backend for event in trace] == ["first"], trace
        """,
        path=[folder, PACKAGE],
    )
    assert done.returncode == 0


def test_frozen_state_of_this_process_counts(
    folder: Path, library: Any, process: ProcessPoolExecutor
) -> None:
    """S5: not the state that the other process freezes when it imports the module."""
    (folder / "frozen_late.py").write_text(
        "from frozen_library import Foreign, backend_opts, f\n"
        "@backend_opts()\n"
        "def late():\n"
        "    return f(Foreign())\n"
        "@backend_opts()\n"
        "async def later():\n"
        "    return f(Foreign())\n",
        encoding="utf-8",
    )
    with library.backend_opts(disable="first"):
        module = import_module("frozen_late")
    assert module.late() == "second"
    assert process.submit(module.late).result(60) == "second"
    assert process.submit(asyncio_run, module.later).result(60) == "second"
