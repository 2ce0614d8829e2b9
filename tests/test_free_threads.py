"""Threads that really run at once, on any interpreter: whether one has a lock around it or not.

Each test says in its report whether the interpreter's lock is off (``pytest -rP``, and the property
``gil`` of JUnit's XML). A free-threaded CPython runs the file as it is:

    python3.14t -m pytest -rP tests/test_free_threads.py
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable
from fractions import Fraction
from typing import Any, ClassVar

import pytest

import spatch_core
from spatch_core import BackendSystem
from tests import library
from tests.library import describe

THREADS = 8
IS_LOCKED: bool = getattr(sys, "_is_gil_enabled", lambda: True)()

pytestmark = pytest.mark.usefixtures("switching")


@pytest.fixture(autouse=True)
def _say_the_lock(record_property: Callable[[str, object], None]) -> None:
    word = "on" if IS_LOCKED else "off"
    record_property("gil", word)
    print(f"the GIL is {word}; Python {sys.version.split()[0]}, C: {spatch_core.accelerated}")  # noqa: T201  # shown with -rP


def together(work: Callable[[int], None]) -> None:
    """Let threads do it, all from one moment on; raise what any of them raised."""
    barrier = threading.Barrier(THREADS)
    raised: list[BaseException] = []

    def run(number: int) -> None:
        barrier.wait()
        try:
            work(number)
        except BaseException as error:  # noqa: BLE001  # raised again below
            raised.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    if raised:
        raise raised[0]


def default(x: Any, name: str = "") -> Any:
    return "default", x, name


def make(*backends: Any) -> tuple[BackendSystem, Any]:
    return library.make(*backends, default=default, types="builtins:float")


def backend(label: str, types: str, **fields: Any) -> dict[str, Any]:
    def answer(x: Any, name: str = "") -> Any:
        return label, x, name

    return describe(label, answer, types, **fields)


def test_the_extension_does_not_take_the_lock_back() -> None:
    """An import of a module in C that does not know free threads would turn the lock on."""
    assert spatch_core.accelerated is False or IS_LOCKED
    assert getattr(sys, "_is_gil_enabled", lambda: True)() is IS_LOCKED


def test_first_calls_at_once() -> None:
    """Each gets its own answer, though all of them fill the same tables."""
    for _ in range(60):
        _, half = make(backend("exact", "fractions:Fraction"))

        def call(number: int, half: Any = half) -> None:
            for each in range(20):
                mine = f"{number}-{each}"
                assert half(Fraction(1), mine) == ("exact", Fraction(1), mine)
                assert half(1.0, name=mine) == ("default", 1.0, mine)

        together(call)


def test_descriptions_are_read_once() -> None:
    """E5: by first calls at once as by a single one."""
    reads: list[str] = []

    class Described:
        """Tells when it is read."""

        name = "counted"

        @property
        def primary_types(self) -> list[str]:
            reads.append(self.name)
            return ["fractions:Fraction"]

        functions: ClassVar = backend("counted", "")["functions"]

    make(Described())[1](1.0)
    once = len(reads)
    for _ in range(60):
        reads.clear()
        _, half = make(Described())

        def call(_: int, half: Any = half) -> None:
            assert half(Fraction(1))[0] == "counted"

        together(call)
        assert len(reads) == once


def test_an_implementation_is_imported_once(tmp_path: Any, monkeypatch: Any) -> None:
    """However many threads make the first call."""
    monkeypatch.syspath_prepend(str(tmp_path))
    for number in range(20):
        name = f"imported_once_{number}"
        (tmp_path / f"{name}.py").write_text(
            "import builtins\n"
            f"builtins.{name} = getattr(builtins, '{name}', 0) + 1\n"
            "def half(x, name=''):\n    return 'imported', x, name\n"
        )
        description = backend("exact", "fractions:Fraction")
        description["functions"]["lib:f"]["function"] = f"{name}:half"
        _, half = make(description)

        def call(_: int, half: Any = half) -> None:
            assert half(Fraction(1))[0] == "imported"

        together(call)
        import builtins

        assert getattr(builtins, name) == 1
        delattr(builtins, name)


def test_each_thread_has_its_own_options_and_trace() -> None:
    """What one prioritizes, disables or traces, no other sees."""
    fast = backend("fast", "builtins:float", requires_opt_in=True)
    system, half = make(fast, backend("exact", "fractions:Fraction"))

    def call(number: int) -> None:
        for each in range(300):
            mine = f"{number}-{each}"
            if number % 2:
                with system.backend_opts(prioritize="fast", trace=True) as trace:
                    assert half(1.0, mine)[0] == "fast"
                assert [event.backend for event in trace] == ["fast"]
            else:
                assert half(1.0, mine) == ("default", 1.0, mine)
            with system.backend_opts(disable="exact"):
                assert half(Fraction(1), mine)[0] == "default"
            assert half(Fraction(1), mine)[0] == "exact"

    together(call)


def test_backends_come_and_go_while_others_call() -> None:
    """A call gets the answer of before or of after, and never an error.

    Meanwhile others collect garbage, and make classes that no call has seen.
    """
    system, half = make(backend("exact", "fractions:Fraction"))
    late = backend("late", "builtins:complex")
    # Imported here: CPython 3.11 cannot always compile in several threads (python/cpython#106905).
    make()[1].explain(1.0)

    def work(number: int) -> None:
        for each in range(100):
            if number == 0:
                system.register(late)
                assert half(1j)[0] == "late"
                system.unregister("late")
                assert half(1j)[0] == "default"
            elif number == 1:
                assert half(type("New", (), {})())[0] == "default"
                if each % 10 == 0:
                    gc.collect()
                    system.reload()
            else:
                assert half(1j)[0] in {"late", "default"}
                assert half(Fraction(1))[0] == "exact"
                assert half.explain(Fraction(1)).selected == "exact"

    together(work)


@pytest.mark.filterwarnings("ignore::spatch_core.GlobalOptionsWarning")
def test_process_wide_options_of_several_threads_add_up() -> None:
    """S7: whatever the order, none is lost."""
    names = [f"b{number}" for number in range(THREADS)]
    for _ in range(60):
        system, half = make(*(backend(name, "fractions:Fraction") for name in names))
        options = [system.backend_opts(prioritize=name) for name in names]

        def work(number: int, options: Any = options) -> None:
            options[number].enable_globally()

        together(work)
        prioritized = system.backend_opts().prioritized
        assert sorted(prioritized) == names
        assert half(Fraction(1))[0] == prioritized[0]
        system.backend_opts.reset_globally()
