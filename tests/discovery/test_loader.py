"""Backends are loaded when they are first needed, once, and again when asked to."""

from __future__ import annotations

import importlib
import inspect
import os
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from spatch_core import (
    BackendSkippedWarning,
    BackendSystem,
    DuplicateFunctionWarning,
    UnknownBackendError,
)
from spatch_core._discovery import loader as loader_module
from spatch_core._discovery.loader import Loader
from spatch_core.testing import Distribution, isolated, write_distribution

GROUP = "loader_library.backends"
MODULE = __name__


@pytest.fixture
def system() -> BackendSystem:
    return BackendSystem(GROUP, "LOADER_LIBRARY", default_primary_types=["builtins:float"])


@pytest.fixture
def double(system: BackendSystem) -> Any:
    """A dispatchable function of the library."""

    @system.dispatchable("x", module="loader_library", qualname="double")
    def double(x: object) -> str:
        """Twice as much."""
        return "default"

    return double


@pytest.fixture
def site(tmp_path: Path, system: BackendSystem) -> Iterator[Path]:
    """A folder on the path, while the library is isolated."""
    with isolated(system, path=[tmp_path]):
        yield tmp_path


def install(folder: Path, name: str, rest: str = "", types: str = "'builtins:str'") -> Distribution:
    """Install a backend of the library, whose implementation returns its name."""
    return write_distribution(
        folder,
        f"{name}-dist",
        entry_points={GROUP: {name: f"loader_{name}:backend.toml"}},
        files={
            f"loader_{name}/__init__.py": f"def double(x):\n    return {name!r}\n",
            f"loader_{name}/backend.toml": f"""
                name = {name!r}
                primary_types = [{types}]
                {rest}
                [functions."loader_library:double"]
                function = "loader_{name}:double"
            """,
        },
    )


class TestWhen:
    """Which uses of a library need the backends."""

    NEEDS: dict[str, Callable[[Any, Any], object]] = {  # noqa: RUF012  # constant
        "call": lambda system, double: double(1.0),
        "explain": lambda system, double: double.explain(1.0),
        "explain-types": lambda system, _: system.explain_types("loader_library:double", [int]),
        "invoke": lambda system, double: double.invoke(backend="default")(1.0),
        "backends-of-a-function": lambda system, double: list(double.backends),
        "backends": lambda system, double: system.backends,
        "problems": lambda system, double: system.problems,
        "backend-opts": lambda system, double: system.backend_opts(),
        "reload": lambda system, double: system.reload(),
    }
    DOES_NOT: dict[str, Callable[[Any, Any], object]] = {  # noqa: RUF012  # constant
        "another-function": lambda system, double: system.dispatchable("x")(lambda x: x),
        "functions": lambda system, double: system.functions["loader_library:double"],
        "repr": lambda system, double: (repr(system), repr(double)),
        "docstring": lambda system, double: double.__doc__,
        "signature": lambda system, double: inspect.signature(double),
        "pickle": lambda system, double: pickle.dumps(system),
        "default-implementation": lambda system, double: double.__wrapped__(1.0),
        "invoke-is-only-prepared": lambda system, double: double.invoke(backend="any"),
    }

    @pytest.mark.parametrize("use", NEEDS.values(), ids=list(NEEDS))
    def test_discovers(
        self, system: BackendSystem, double: Any, use: Callable[[Any, Any], object]
    ) -> None:
        assert system._loader.loaded is None

        use(system, double)

        assert system._loader.loaded is not None

    @pytest.mark.parametrize("use", DOES_NOT.values(), ids=list(DOES_NOT))
    def test_does_not(
        self, system: BackendSystem, double: Any, use: Callable[[Any, Any], object]
    ) -> None:
        use(system, double)

        assert system._loader.loaded is None

    def test_only_once(
        self, system: BackendSystem, double: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first = system.backends

        def again() -> None:
            pytest.fail("backends are discovered twice")

        monkeypatch.setattr(system._loader, "_discover", again)

        assert double(1.0) == "default"
        assert system.backends == first


class TestReload:
    """`reload` discovers again, e.g. in a notebook after an installation."""

    def test_finds_backends_installed_meanwhile(
        self, system: BackendSystem, double: Any, site: Path
    ) -> None:
        assert double("text") == "default"
        install(site, "late")

        assert double("text") == "default"
        system.reload()

        assert double("text") == "late"
        assert list(system.backends) == ["default", "late"]

    def test_forgets_backends_uninstalled_meanwhile(
        self, system: BackendSystem, double: Any, site: Path
    ) -> None:
        distribution = install(site, "early")
        assert double("text") == "early"
        distribution.remove()

        system.reload()

        assert double("text") == "default"
        assert "early" not in system.backends

    def test_reads_a_file_that_was_corrected_meanwhile(
        self, system: BackendSystem, double: Any, site: Path
    ) -> None:
        install(site, "sick", rest="requires_opt_in = 0")
        with pytest.warns(BackendSkippedWarning, match="requires_opt_in"):
            assert double("text") == "default"
        install(site, "sick", rest="requires_opt_in = false")

        system.reload()

        assert double("text") == "sick"
        assert system.problems == ()

    def test_warns_of_a_backend_that_is_broken_now_at_the_line_that_calls_it(
        self, system: BackendSystem, double: Any, site: Path
    ) -> None:
        assert system.problems == ()
        install(site, "sick", rest="requires_opt_in = 0")

        with pytest.warns(BackendSkippedWarning) as caught:
            system.reload()

        assert [each.filename for each in caught] == [__file__]
        assert double("text") == "default"

    def test_reads_the_environment_again(
        self, system: BackendSystem, double: Any, site: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        install(site, "first")
        install(site, "second")
        assert double("text") == "first"

        monkeypatch.setenv("LOADER_LIBRARY_PRIORITIZE", "second")
        system.reload()
        assert double("text") == "second"

        monkeypatch.setenv("LOADER_LIBRARY_BLOCK", "second")
        system.reload()
        assert double("text") == "first"

        monkeypatch.delenv("LOADER_LIBRARY_PRIORITIZE")
        monkeypatch.setenv("LOADER_LIBRARY_BLOCK", "*")
        system.reload()
        assert double("text") == "default"

    def test_follows_with_the_docstring(
        self, system: BackendSystem, double: Any, site: Path
    ) -> None:
        distribution = install(site, "late")
        assert double("text") == "late"
        assert "Backends" in double.__doc__
        assert "late" in double.__doc__
        distribution.remove()

        system.reload()

        assert double.__doc__ == "Twice as much."

    def test_keeps_blocks_in_force(self, system: BackendSystem, double: Any, site: Path) -> None:
        install(site, "shy", rest="requires_opt_in = true")
        with system.backend_opts(prioritize="shy"):
            assert double("text") == "shy"
            install(site, "bold")
            system.reload()

            assert double("text") == "shy"
        assert double("text") == "bold"

    def test_a_block_may_outlive_its_backend(
        self, system: BackendSystem, double: Any, site: Path
    ) -> None:
        distribution = install(site, "early")
        with system.backend_opts(prioritize="early"):
            distribution.remove()
            system.reload()

            assert double("text") == "default"
            with pytest.raises(UnknownBackendError):
                system.backend_opts(prioritize="early")

    def test_keeps_options_that_are_enabled_globally(
        self, system: BackendSystem, double: Any, site: Path
    ) -> None:
        install(site, "shy", rest="requires_opt_in = true")
        system.backend_opts(prioritize="shy").enable_globally()

        system.reload()

        assert double("text") == "shy"

    def test_imports_no_module_again(self, system: BackendSystem, double: Any, site: Path) -> None:
        install(site, "early")
        double("text")
        module = sys.modules["loader_early"]

        system.reload()

        assert double("text") == "early"
        assert sys.modules["loader_early"] is module

    def test_a_function_that_was_defined_before_the_first_discovery_follows(
        self, system: BackendSystem, double: Any, site: Path
    ) -> None:
        install(site, "late")
        system.reload()

        with pytest.warns(DuplicateFunctionWarning):

            @system.dispatchable("x", module="loader_library", qualname="double")
            def newer(x: object) -> str:
                return "default"

        assert double("text") == newer("text") == "late"
        assert newer.__doc__ is not None
        assert "late" in newer.__doc__


class Found:
    """The result of a fake discovery."""

    def __init__(self, *warnings: Warning, is_complete: bool = True) -> None:
        self.catalog = SimpleNamespace(warnings=lambda: warnings, is_complete=is_complete)


def loader(discover: Callable[[], Any], published: list[Any] | None = None) -> Loader[Any]:
    return Loader(discover, [].append if published is None else published.append)


class TestLoader:
    """The loader by itself."""

    def test_loads_once_and_publishes_what_it_loaded(self) -> None:
        published: list[Any] = []
        one = loader(Found, published)

        assert one.get() is one.get() is one.load() is one.loaded
        assert published == [one.loaded]

    def test_loads_again_on_demand(self) -> None:
        published: list[Any] = []
        one = loader(Found, published)

        first, second = one.get(), one.load(again=True)

        assert first is not second
        assert one.loaded is second
        assert published == [first, second]

    def test_a_thread_that_is_discovering_gets_no_answer(self) -> None:
        answers: list[object] = []

        def discover() -> Found:
            answers.append(one.load())
            with pytest.raises(RuntimeError, match="use them only after its import"):
                one.get()
            return Found()

        one = loader(discover)

        assert one.get() is one.loaded
        assert answers == [None]

    def test_after_a_failure_the_next_caller_tries_again(self) -> None:
        outcomes: list[Any] = [KeyboardInterrupt(), Found()]

        def discover() -> Found:
            outcome: Any = outcomes.pop(0)
            if isinstance(outcome, BaseException):
                raise outcome
            found: Found = outcome
            return found

        one = loader(discover)
        with pytest.raises(KeyboardInterrupt):
            one.get()

        assert one.loaded is None
        assert one.get() is one.loaded

    def test_a_warning_that_is_an_exception_comes_when_everything_is_in_place(self) -> None:
        one = loader(lambda: Found(BackendSkippedWarning([SimpleNamespace()])))  # type: ignore[list-item]  # no text

        with pytest.raises(BackendSkippedWarning):
            one.get()

        assert one.loaded is not None
        assert one.get() is one.loaded

    def test_other_threads_wait_for_the_one_that_discovers(self) -> None:
        discovering, go_on = threading.Event(), threading.Event()
        calls: list[int] = []

        def discover() -> Found:
            calls.append(1)
            discovering.set()
            go_on.wait()
            return Found()

        one = loader(discover)
        results: list[Any] = []
        threads = [threading.Thread(target=lambda: results.append(one.get())) for _ in range(4)]
        threads[0].start()
        discovering.wait()
        for thread in threads[1:]:
            thread.start()
        assert results == []
        go_on.set()
        for thread in threads:
            thread.join()

        assert len(calls) == 1
        assert results == [one.loaded] * 4

    def test_a_thread_that_has_waited_for_long_gets_no_answer(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The discovering thread may be waiting for it."""
        monkeypatch.setattr(loader_module, "_PATIENCE", 0.01)
        found: list[object] = []

        def discover() -> Found:
            thread = threading.Thread(target=lambda: found.append(one.load()))
            thread.start()
            thread.join()
            return Found()

        one = loader(discover)

        assert one.get() is one.loaded
        assert found == [None]

    def test_an_incomplete_result_is_not_kept_once_the_imports_have_ended(self) -> None:
        """A backend's module was in the middle of its import, which is not its fault."""
        published: list[Any] = []
        warning = BackendSkippedWarning([])
        outcomes = [Found(warning, is_complete=False), Found()]
        one = loader(lambda: outcomes.pop(0), published)

        first = one.get()
        assert published == []

        second = one.get()
        assert first is not second
        assert published == [second]
        assert one.loaded is second


@pytest.fixture
def during_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Callable[[], object]], None]:
    """A function that calls another one in the middle of importing a module."""
    (tmp_path / "half_imported.py").write_text("import meeting\nmeeting.call()\n")
    monkeypatch.syspath_prepend(tmp_path)

    def run(call: Callable[[], object]) -> None:
        monkeypatch.setitem(sys.modules, "meeting", SimpleNamespace(call=call))
        importlib.import_module("half_imported")
        del sys.modules["half_imported"]

    return run


class TestStates:
    """What each way to use a loader does in each state; other threads are tested above."""

    USES: dict[str, Callable[[Loader[Any]], object]] = {  # noqa: RUF012  # constant
        "get": lambda one: one.get(),
        "load": lambda one: one.load(),
        "load-again": lambda one: one.load(again=True),
    }

    @pytest.fixture(params=USES)
    def use(self, request: pytest.FixtureRequest) -> str:
        name: str = request.param
        return name

    def test_not_loaded(self, use: str) -> None:
        one = loader(Found)

        assert self.USES[use](one) is one.loaded is not None

    def test_loaded(self, use: str) -> None:
        one = loader(Found)
        first = one.get()

        assert (self.USES[use](one) is first) is (use != "load-again")

    @pytest.mark.parametrize("again", [False, True], ids=["first-time", "again"])
    def test_this_thread_is_discovering(self, use: str, again: bool) -> None:
        found: list[object] = []

        def discover() -> Found:
            if one.loaded is None and again:
                return Found()
            try:
                found.append(self.USES[use](one))
            except RuntimeError as error:
                found.append(type(error))
            return Found()

        one = loader(discover)
        first = one.get() if again else RuntimeError
        one.load(again=True)

        assert found == [first if use == "get" else None]

    @pytest.mark.parametrize("going_on", [True, False], ids=["imports-go-on", "imports-ended"])
    def test_provisional(
        self, use: str, going_on: bool, during_import: Callable[[Callable[[], object]], None]
    ) -> None:
        outcomes = [Found(is_complete=False), Found()]
        incomplete, complete = outcomes
        published: list[Any] = []
        one = loader(lambda: outcomes.pop(0), published)
        expected = incomplete if going_on and use != "load-again" else complete

        def first() -> None:
            assert one.get() is incomplete
            assert one.loaded is None

        def second() -> None:
            assert self.USES[use](one) is expected
            assert published == [complete] * (expected is complete)

        def both() -> None:
            first()
            second()

        if going_on:
            during_import(both)
        else:
            during_import(first)
            second()

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
    @pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
    def test_a_forked_process_does_not_wait_for_threads_of_its_parent(self, use: str) -> None:
        """They do not exist in it, and one of them may be discovering."""
        discovering, go_on = threading.Event(), threading.Event()

        def discover() -> Found:
            discovering.set()
            go_on.wait()
            return Found()

        one = loader(discover)
        thread = threading.Thread(target=one.get)
        thread.start()
        discovering.wait()
        child = os.fork()
        if not child:
            held = False
            try:
                go_on.set()
                held = self.USES[use](one) is one.loaded is not None
            finally:
                os._exit(not held)
        _, status = os.waitpid(child, 0)
        go_on.set()
        thread.join()
        assert status == 0

    def test_an_interrupted_publication_is_repeated(self, use: str) -> None:
        """E7: by the next thread that needs the backends."""
        published: list[Any] = []
        interrupts = [KeyboardInterrupt]

        def publish(found: Any) -> None:
            if interrupts:
                raise interrupts.pop()
            published.append(found)

        one: Loader[Any] = Loader(Found, publish)
        with pytest.raises(KeyboardInterrupt):
            one.load()
        assert one.settled is None
        assert published == []

        assert self.USES[use](one) is one.settled is one.loaded
        assert published[-1] is one.loaded
