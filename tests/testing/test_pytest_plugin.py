"""The plugin for pytest: real runs of a library's tests under a backend."""

from __future__ import annotations

from collections import Counter

import pytest

from spatch_core.testing import run_python, write_distribution
from spatch_core.testing.backend_run import ANSWERED, DEFERRED, UNSEEN, RunReport
from tests.testing.conftest import PLUGIN, ROOT, TESTS, Kit


@pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["alone", "xdist"])
def test_each_call_is_told_with_its_reason(kit: Kit, workers: list[str]) -> None:
    """X1, X2: Answered, deferred, never saw; and tests that never reached it, in threads too."""
    run = kit.run("--spatch-backend=fast", *workers)
    assert run.code == 0, run.output
    assert run.calls("double", "answered") == 2
    assert run.calls("double", "deferred") == {"the box is negative": 1}
    assert run.calls("double", "tests") == 3
    (reason,) = run.calls("half", "unseen")
    assert "implement" in reason
    assert run.report["tests"] == 5
    assert run.report["not_reached"] == ["test_kit.py::test_half", "test_kit.py::test_nothing"]
    assert run.report["not_called"] == []
    about = {name: run.report[name] for name in ("backend", "distribution", "version", "converts")}
    assert [*about.values()] == ["fast", "kit-crates", "3.2", False]
    assert "kitlib:double         2         1          0      3" in run.output
    assert "    1 deferred: the box is negative" in run.output
    assert "tests that never reached it (2 of 5):" in run.output


def test_a_test_can_require_the_backend(kit: Kit) -> None:
    """X1: an option or a marker requires it; tests of the library's own are left out."""
    kit.write(
        "test_kit.py",
        TESTS
        + """
    @pytest.mark.spatch_default
    def test_own(spatch_backend):
        assert kitlib.double(Box(13)) == Box(26)
        assert spatch_backend.name == "default"

    @pytest.mark.spatch_require
    def test_required():
        kitlib.half(Box(1))
    """,
    )
    run = kit.run("--spatch-backend=fast")
    assert run.code == 1
    assert run.output.count("\nFAILED") == 1
    assert "backend 'fast' has answered no call of this test" in run.output
    run = kit.run("--spatch-backend=fast", "--spatch-require")
    failed = [
        line.split("::")[1].split()[0] for line in run.output.splitlines() if "FAILED" in line
    ]
    assert failed == ["test_negative", "test_half", "test_nothing", "test_required"]


def test_the_fixture_tells_what_the_backend_has_answered(kit: Kit) -> None:
    """X1: It is there without a backend, for libraries whose tests use it."""
    kit.write(
        "test_kit.py",
        """
        import kitlib, os

        def test_it(spatch_backend):
            kitlib.double(kitlib.Box(1))
            kitlib.double(kitlib.Box(-1))
            if os.environ.get("PLAIN"):
                assert (spatch_backend.name, spatch_backend.answered) == ("default", {})
            else:
                assert spatch_backend.name == "fast"
                assert spatch_backend.answered == {"kitlib:double": 1}
                assert spatch_backend.deferred == {"kitlib:double": ["the box is negative"]}
        """,
    )
    assert kit.run("--spatch-backend=fast").code == 0
    code = "import pytest, sys; sys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', {!r}, *{}]))"
    test = str(kit.folder / "test_kit.py")
    run_python(code.format(test, PLUGIN), path=[kit.folder, ROOT], environment={"PLAIN": "1"})


@pytest.mark.parametrize(
    ("arguments", "library", "says"),
    [
        ([], "kitlib", "must be given together"),
        (["--spatch-backend=fats"], "kitlib", "fast"),
        (["--spatch-backend=fast"], "kitlob", "did you mean 'kitlib'?"),
        (["--spatch-backend=convert:fast"], "kitlib", "has no conversions"),
    ],
    ids=["alone", "backend", "library", "conversions"],
)
def test_wrong_usage_is_said(kit: Kit, arguments: list[str], library: str, says: str) -> None:
    run = kit.run(*arguments, library=library)
    assert run.code == 4
    assert says in run.output


def test_nothing_is_loaded_unless_asked() -> None:
    """X1: pytest imports only the options and two empty packages of this package."""
    code = """
        import sys
        import spatch_core.testing.pytest_plugin
        print(sorted(name for name in sys.modules if name.startswith("spatch_core")))
        """
    loaded = ["spatch_core", "spatch_core.testing", "spatch_core.testing.pytest_plugin"]
    assert run_python(code, path=[ROOT]).stdout == f"{loaded}\n"


def test_conversions_are_forced_on_every_call(kit: Kit) -> None:
    """X2: Arguments become the backend's, results the library's; the rest follows the policy."""
    kit.write(
        "test_kit.py",
        TESTS
        + """
    def test_awaited():
        assert asyncio.run(kitlib.later(Box(3))) == Box(3)

    def test_identity():
        box = Box(1)
        asyncio.run(kitlib.later(box)) is box

    def test_written():
        box = Box(1)
        kitlib.clear(box)
        assert box == Box(0)

    def test_refused():
        with pytest.raises(TypeError):
            kitlib.double(Box(None))

    @pytest.mark.spatch_default
    def test_own():
        assert kitlib.double(Box(1)) == Box(2)
    """,
    )
    run = kit.run("--spatch-backend=convert:crate")
    assert run.code == 0, run.output
    assert run.report["converts"] is True
    assert run.calls("double", "answered") == 3
    assert "test_kit.py::test_own" in run.report["not_reached"]
    assert "backend crate, converted in all calls" in run.output
    assert run.calls("clear", "unseen")


def test_a_report_tells_functions_and_tests() -> None:
    """X2: the most frequent reasons in the table, all of them in the JSON."""
    report = RunReport({"backend": "b"}, ["m:f", "m:unused"])
    reasons = {f"reason {number}": number for number in range(1, 6)}
    deferred = {(DEFERRED, "m:f", reason): number for reason, number in reasons.items()}
    report.add("t1", Counter({(ANSWERED, "m:f", ""): 2, **deferred}))
    report.add("t2", Counter({(UNSEEN, "m:g", "does not match"): 4}))
    assert [*report.lines()] == [
        "FUNCTION  ANSWERED  DEFERRED  NEVER SAW  TESTS",
        "m:f              2        15          0      1",
        "    5 deferred: reason 5",
        "    4 deferred: reason 4",
        "    3 deferred: reason 3",
        "    3 deferred: 2 other reasons",
        "m:g              0         0          4      1",
        "    4 never saw: does not match",
        "",
        "functions of the backend that were not called (1):",
        "    m:unused",
        "tests that never reached it (1 of 2):",
        "    t2",
    ]
    content = report.content()
    assert content["functions"]["m:f"]["deferred"] == reasons
    assert (content["not_reached"], content["not_called"]) == (["t2"], ["m:unused"])


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
    import faulthandler, multiprocessing, os, wrapped
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
TESTS_OF_WRAPPED = """
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


@pytest.mark.parametrize(
    "code",
    [
        "return 10 * wrapped.double(n)",
        "return 10 * original(n)",
        "return 10 * wrapped.twice(n)",
        "return sum(ThreadPoolExecutor(2).map(wrapped.double, [n] * 10))",
        "return sum(multiprocessing.get_context('spawn').Pool(2).map(wrapped.double, [n] * 10))",
    ],
    ids=["attribute", "bound", "by another function", "threads", "spawn"],
)
def test_calls_of_tests_reach_the_library_and_those_of_backends_the_package(
    kit: Kit, code: str
) -> None:
    """X3: Also of functions that a module looks up when asked, and in threads of the test.

    The backend multiplies by 20, and calls the package for it.
    """
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
    kit.write("test_kit.py", TESTS_OF_WRAPPED)
    done = kit.run("--spatch-backend=ten", "--spatch-require", library="wrapping")
    assert done.code == 0, done.output
