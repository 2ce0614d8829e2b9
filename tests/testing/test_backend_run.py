"""Runs of a library's tests under a backend, alone and with workers."""

from __future__ import annotations

import pytest

from tests.testing.pytest_runs import TESTS, Kit


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
    """X4: an option or a marker requires it; tests of the library's own are left out."""
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
