"""A backend that calls the package whose functions the plugin replaces gets the package's own."""

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
    def double(n, then=None):
        return 2 * (n if then is None else then(n))

    def twice(n, then=None):
        import wrapped
        return wrapped.double(n, then)

    def halve(n):
        return n // 2
    """
LIBRARY = """
    import wrapped
    from spatch_core import BackendSystem

    system = BackendSystem("wrapping.backends", "WRAPPING", ["builtins:int"])
    decorate = system.dispatchable("n", module="wrapping")
    double, twice = decorate(wrapped.double), decorate(wrapped.twice)
    halve = decorate(wrapped.halve)
    """
GUARD = """
    import faulthandler, os

    CALLS = []
    faulthandler.dump_traceback_later(60, exit=True)

    def guard():
        # End a run in which calls have no end; the line above ends one that waits for itself.
        CALLS.append(None)
        if len(CALLS) > 30:
            os._exit(99)
    """
TEN = """
    name = "ten"
    primary_types = ["builtins:int"]
    requires_opt_in = true
    [functions."wrapping:double"]
    function = "wrapping_ten:double"
    """
ANSWERED = """
    import wrapped
    from wrapped import double

    def test_it(spatch_backend):
        assert double(2) == wrapped.double(2) == 40
        assert spatch_backend.answered == {"wrapping:double": 2}
    """


def run(kit: Kit, backend: str, tests: str = ANSWERED, *options: str) -> Run:
    """Run tests with a backend that multiplies by 20, and calls the package for it."""
    write_distribution(
        kit.folder,
        "wrapping",
        entry_points={"spatch_core.libraries": {"wrapping": "wrapping:system"}},
        files={"wrapping.py": LIBRARY, "wrapped/__init__.py": WRAPPED, "wrapped/_tools.py": TOOLS},
    )
    write_distribution(
        kit.folder,
        "wrapping-ten",
        entry_points={"wrapping.backends": {"ten": "wrapping_ten:ten.toml"}},
        files={
            "wrapping_ten/__init__.py": backend,
            "wrapping_ten/guard.py": GUARD,
            "wrapping_ten/late.py": "from wrapped import double as original",
            "wrapping_ten/ten.toml": TEN,
        },
    )
    kit.write("test_kit.py", tests)
    return kit.run("--spatch-backend=ten", *options, library="wrapping")


@pytest.mark.parametrize(
    "backend",
    [
        pytest.param(
            """
            import wrapped
            from .guard import guard

            def double(n, then=None):
                guard()
                return 10 * wrapped.double(n, then)
            """,
            id="attribute",
        ),
        pytest.param(
            """
            from wrapped import double as original
            from .guard import guard

            def double(n, then=None):
                guard()
                return 10 * original(n, then)
            """,
            id="bound at import",
        ),
        pytest.param(
            """
            from .guard import guard

            def double(n, then=None):
                guard()
                from wrapping_ten.late import original
                return 10 * original(n, then)
            """,
            id="bound during the run",
        ),
        pytest.param(
            """
            import wrapped
            from .guard import guard

            def double(n, then=None):
                guard()
                return 10 * wrapped.twice(n, then)
            """,
            id="another function that calls it",
        ),
        pytest.param(
            """
            import functools, wrapped
            from .guard import guard

            def double(n, then=None):
                guard()
                return sum(map(functools.partial(wrapped.double, then=then), [n] * 10))
            """,
            id="from the standard library",
        ),
    ],
)
def test_calls_in_the_thread_of_the_backend_reach_the_package(kit: Kit, backend: str) -> None:
    """X6: They are not the test's, whoever makes them for the backend."""
    done = run(kit, backend, ANSWERED, "--spatch-require")
    assert done.code == 0, done.output


@pytest.mark.parametrize(
    "pool",
    [
        "ThreadPoolExecutor(2)",
        "ProcessPoolExecutor(2, mp_context=multiprocessing.get_context('fork'))",
        "ProcessPoolExecutor(2, mp_context=multiprocessing.get_context('spawn'))",
    ],
    ids=["threads", "fork", "spawn"],
)
def test_functions_of_the_backend_reach_the_package_in_its_pool(kit: Kit, pool: str) -> None:
    """X6: The code that makes the call is the backend's."""
    backend = f"""
        import multiprocessing, wrapped
        from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
        from .guard import guard

        def part(n):
            return wrapped.double(n)

        def double(n, then=None):
            guard()
            with {pool} as pool:
                return 10 * pool.submit(part, n).result()
        """
    done = run(kit, backend)
    assert done.code == 0, done.output


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_the_packages_function_itself_may_run_in_a_process(kit: Kit, context: str) -> None:
    """X6: A process that the backend has started calls the package."""
    backend = f"""
        import multiprocessing, wrapped
        from .guard import guard

        def double(n, then=None):
            guard()
            with multiprocessing.get_context("{context}").Pool(2) as pool:
                return sum(pool.map(wrapped.double, [n] * 10))
        """
    done = run(kit, backend)
    assert done.code == 0, done.output


BARE = """
    import wrapped
    from concurrent.futures import ThreadPoolExecutor
    from multiprocessing.pool import ThreadPool
    from .guard import guard

    def double(n, then=None):
        guard()
        with {pool} as pool:
            return sum(pool.map(wrapped.double, [n] * 10))
    """
POOLS = pytest.mark.parametrize("pool", ["ThreadPoolExecutor(1)", "ThreadPool(1)"])


@POOLS
def test_a_thread_that_gets_the_packages_function_ends_the_test(kit: Kit, pool: str) -> None:
    """X6: Nothing tells its calls from those of a test; the others run."""
    tests = """
        import wrapped

        def test_it():
            wrapped.double(2)

        def test_another():
            assert wrapped.halve(2) == 1
        """
    done = run(kit, BARE.format(pool=pool), tests)
    assert done.code == 1, done.output
    assert "FAILED test_kit.py::test_it" in done.output
    assert "PASSED test_kit.py::test_another" in done.output
    assert "backend 'ten' is running wrapping:double, and a thread (" in done.output
    assert "let a function of the backend make it" in done.output


def test_it_ends_the_test_if_the_backend_hides_the_error(kit: Kit) -> None:
    """X6: A backend that computes without its threads then has not been tested."""
    backend = """
        import wrapped
        from concurrent.futures import ThreadPoolExecutor
        from .guard import guard

        def double(n, then=None):
            guard()
            try:
                with ThreadPoolExecutor(1) as pool:
                    return 10 * pool.submit(wrapped.double, n).result()
            except Exception:
                return 20 * n
        """
    done = run(kit, backend)
    assert done.code == 1, done.output
    assert "backend 'ten' is running wrapping:double, and a thread (" in done.output


@POOLS
def test_calls_of_tests_reach_the_backend_from_threads_and_callbacks(kit: Kit, pool: str) -> None:
    """X6: In threads of the test, and in functions that the backend calls for the test."""
    backend = """
        import wrapped
        from .guard import guard

        def double(n, then=None):
            guard()
            return 10 * wrapped.double(n, then)
        """
    tests = f"""
        from concurrent.futures import ThreadPoolExecutor
        from multiprocessing.pool import ThreadPool
        import wrapped

        def test_thread(spatch_backend):
            with {pool} as pool:
                assert [*pool.map(wrapped.double, [1, 2, 3])] == [20, 40, 60]
            assert spatch_backend.answered == {{"wrapping:double": 3}}

        def test_callback(spatch_backend):
            assert wrapped.double(1, then=lambda n: wrapped.double(n)) == 400
            assert wrapped.double(1, then=lambda n: wrapped.twice(n)) == 40
            assert spatch_backend.answered == {{"wrapping:double": 3}}

        def test_table():
            assert wrapped.TABLE[wrapped.double] == "known"
            assert wrapped.halve(4) == 2
        """
    done = run(kit, backend, tests)
    assert done.code == 0, done.output
