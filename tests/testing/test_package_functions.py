"""A library that wraps a package takes the place of the package's functions in a run."""

from __future__ import annotations

import pytest

from spatch_core.testing import write_distribution
from tests.testing.pytest_runs import Kit, Run

WRAPPED = """
    from wrapped._tools import double, twice

    TABLE = {double: "known"}

    def __getattr__(name):
        if name == "halve":
            from wrapped._tools import halve
            return halve
        raise AttributeError(name)
    """
TOOLS = """
    def double(n):
        return 2 * n

    def twice(n):
        import wrapped
        return wrapped.double(n)

    def halve(n):
        return n // 2
    """
LIBRARY = """
    import wrapped
    from spatch_core import BackendSystem

    system = BackendSystem("wrapping.backends", "WRAPPING", ["builtins:int"])
    decorate = system.dispatchable("n", module="wrapping")
    double, halve = decorate(wrapped.double), decorate(wrapped.halve)
    """
BACKEND = """
    import faulthandler, functools, multiprocessing, os, wrapped
    from concurrent.futures import ThreadPoolExecutor
    from wrapped import double as original

    CALLS = []
    faulthandler.dump_traceback_later(60, exit=True)

    def double(n):
        CALLS.append(None)
        if len(CALLS) > 30:
            os._exit(99)  # calls without end
        {code}

    def halve(n):
        return 10 * wrapped.halve(n)
    """
TOML = """
    name = "ten"
    primary_types = ["builtins:int"]
    requires_opt_in = true
    [functions."wrapping:double"]
    function = "wrapping_ten:double"
    [functions."wrapping:halve"]
    function = "wrapping_ten:halve"
    """
TESTS = """
    import wrapped
    from concurrent.futures import ThreadPoolExecutor
    from wrapped import double, halve

    def test_it(spatch_backend):
        assert double(2) == wrapped.double(2) == 40
        assert spatch_backend.answered == {"wrapping:double": 2}

    def test_lazy():
        assert halve(2) == wrapped.halve(2) == 10
        assert not hasattr(wrapped, "absent")

    def test_another_function_that_calls_it():
        assert wrapped.twice(2) == 40

    def test_thread():
        with ThreadPoolExecutor(1) as pool:
            assert [*pool.map(wrapped.double, [1, 2, 3])] == [20, 40, 60]

    def test_table():
        assert wrapped.TABLE[wrapped.double] == "known"
        halve(2)
    """


def run(kit: Kit, code: str) -> Run:
    """Run tests with a backend that multiplies by 20, and calls the package for it."""
    write_distribution(
        kit.folder,
        "wrapping",
        entry_points={
            "spatch_core.libraries": {"wrapping": "wrapping:system"},
            "wrapping.backends": {"ten": "wrapping_ten:ten.toml"},
        },
        files={
            "wrapping.py": LIBRARY,
            "wrapped/__init__.py": WRAPPED,
            "wrapped/_tools.py": TOOLS,
            "wrapping_ten/__init__.py": BACKEND.replace("{code}", code),
            "wrapping_ten/ten.toml": TOML,
        },
    )
    kit.write("test_kit.py", TESTS)
    return kit.run("--spatch-backend=ten", "--spatch-require", library="wrapping")


@pytest.mark.parametrize(
    "code",
    [
        "return 10 * wrapped.double(n)",
        "return 10 * original(n)",
        "return 10 * wrapped.twice(n)",
        "return sum(map(functools.partial(wrapped.double), [n] * 10))",
        "return sum(ThreadPoolExecutor(2).map(wrapped.double, [n] * 10))",
        "return sum(multiprocessing.get_context('fork').Pool(2).map(wrapped.double, [n] * 10))",
        "return sum(multiprocessing.get_context('spawn').Pool(2).map(wrapped.double, [n] * 10))",
    ],
    ids=["attribute", "bound", "by another function", "functools", "threads", "fork", "spawn"],
)
def test_calls_of_tests_reach_the_library_and_those_of_backends_the_package(
    kit: Kit, code: str
) -> None:
    """X3: Also of functions that a module looks up when asked, and in threads of the test."""
    done = run(kit, code)
    assert done.code == 0, done.output
