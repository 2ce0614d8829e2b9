"""Whose call of a package's function it is: the test's, or the backend's."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import wraps
from threading import current_thread, get_ident
from types import FrameType, ModuleType
from typing import Any

from .. import hooks
from .._description import Description
from ..examination.packages import owners_of_packages, package_of, packages_of_sources
from .observed_calls import ObservedCalls

_IN_A_CALL = vars(hooks)
"""The globals of the frames that surround each observed call of the library."""


class NestedCallError(RuntimeError):
    """Nothing tells whether the test or the backend makes a call that the backend is running."""


class PackageCalls:
    """Sends a package's calls to the library if a test makes them, otherwise to the package.

    The innermost frame of a test's module, of a call of the library or of the backend's package
    tells. The thread of the tests has them all. In other threads there may be none.

    Parameters
    ----------
    description : Description
        The backend.
    calls : ObservedCalls
        Knows the calls of the library that are running.

    Attributes
    ----------
    fault : str
        The message of the last `NestedCallError` since `begin`.
    """

    def __init__(self, description: Description, calls: ObservedCalls) -> None:
        self._backend = description.name
        self._packages = _own_packages(description)
        self._calls = calls
        self._tests: dict[int, dict[str, Any]] = {}  # keeps the globals, so that no other has an id
        self.begin()

    def begin(self) -> None:
        """Start another test, in this thread."""
        self._thread = get_ident()
        self.fault = ""

    def add_tests(self, modules: Iterable[ModuleType]) -> None:
        """Add modules with tests."""
        self._tests |= {id(vars(each)): vars(each) for each in modules}

    def stand_in(
        self, identifier: str, default: Callable[..., Any], wrapper: Callable[..., Any]
    ) -> Callable[..., Any]:
        """Return the function that takes the place of `default` in the package."""

        @wraps(wrapper)
        def stand_in(*args: Any, **kwargs: Any) -> Any:
            is_tests = self._is_of_a_test(identifier, stand_in)
            return (wrapper if is_tests else default)(*args, **kwargs)

        return stand_in

    def _is_of_a_test(self, identifier: str, function: Callable[..., Any]) -> bool:
        frame: FrameType | None = sys._getframe(2)
        while frame is not None:
            names = frame.f_globals
            if id(names) in self._tests:
                return True
            if names is _IN_A_CALL or package_of(str(names.get("__name__"))) in self._packages:
                return False
            frame = frame.f_back
        if get_ident() == self._thread:
            return True
        threads = self._calls.threads_running(identifier)
        if self._thread in threads:
            self.fault = self._nested(identifier, function)
            raise NestedCallError(self.fault)
        if not threads:
            return True
        # It may be the backend's, in a call from another thread of the test.
        self._calls.note_unseen(identifier, "made by a thread that nothing tells apart")
        return False

    def _nested(self, identifier: str, function: Callable[..., Any]) -> str:
        name = function.__qualname__
        return (
            f"backend {self._backend!r} is running {identifier}, and a thread "
            f"({current_thread().name}) calls it again by {function.__module__}.{name}. If the "
            "backend makes this call, it has no end: let a function of the backend make it, such "
            f"as `pool.map(lambda part: {name}(part), parts)`, and it reaches the package. If the "
            "test makes it, let a function of the test do so"
        )


def _own_packages(description: Description) -> set[str]:
    """Return the top-level packages of a backend, without those of other distributions."""
    implementations = [*description.functions.values(), description.every]
    named = [description.to_default, description.from_default, description.copy_into]
    named += [each.function for each in implementations if each is not None]
    named += [each.should_run for each in implementations if each is not None]
    packages = {package_of(each) for each in named if each}
    packages |= packages_of_sources([description.source])
    own, owners = description.source.distribution, owners_of_packages()
    return {each for each in packages if own is None or own in owners.get(each, [own])}
