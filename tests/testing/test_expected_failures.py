"""Failures that a backend's author expects, and files that say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from spatch_core.testing.expected_failures import (
    ExpectedFailures,
    ExpectedFailuresError,
    read_expected_failures,
)
from tests.testing.pytest_runs import TESTS, Kit


@pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["alone", "xdist"])
def test_failures_can_be_expected(kit: Kit, workers: list[str]) -> None:
    """X5: Of a function or of a test, with the reason; one that does not come is a failure."""
    kit.write(
        "test_kit.py",
        TESTS
        + """
    def test_unlucky():
        assert kitlib.double(Box(13)) == Box(26)

    @pytest.mark.parametrize("n", [13])
    def test_luck(n):
        assert kitlib.double(Box(n)) == Box(26)
    """,
    )
    options = ["--spatch-backend=fast", *workers]
    assert kit.run(*options).code == 1
    file = kit.write("f.toml", '[functions]\n"kitlib:double" = "13 is unlucky"\n')
    run = kit.run(*options, f"--spatch-expected-failures={file}")
    assert run.code == 0, run.output
    assert run.report["expected_failures"] == {"kitlib:double": 2}
    assert "kitlib:double: 13 is unlucky" in run.output

    name = "test_kit.py::test_"
    file = kit.write("t.toml", f'[tests]\n"{name}unlucky" = "no"\n"{name}luck" = "no"\n')
    assert kit.run(*options, f"--spatch-expected-failures={file}").code == 0
    file = kit.write("s.toml", f'[tests]\n"{name}half" = "stale"\n')
    run = kit.run(*options, f"--spatch-expected-failures={file}", "-k", "half")
    assert run.code == 1
    assert "[XPASS(strict)] stale" in run.output
    file = kit.write("e.toml", '[functions]\n"kitlib:double" = "stale"\n')
    run = kit.run(*options, f"--spatch-expected-failures={file}", "-k", "positive")
    assert run.code == 1
    assert "no test has failed because of kitlib:double, as was expected" in run.output


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("[functions", "cannot be read"),
        ("[test]\n", "there is no table 'test'"),
        ("tests = 1\n", "'tests' is not a table"),
        ('[tests]\na = ""\n', "tests.'a' has no reason"),
    ],
    ids=["syntax", "table", "type", "reason"],
)
def test_a_file_with_faults_is_refused(tmp_path: Path, content: str, says: str) -> None:
    """X5: so is a missing file."""
    file = tmp_path / "failures.toml"
    with pytest.raises(ExpectedFailuresError, match="cannot be read"):
        read_expected_failures(file)
    file.write_text(content)
    with pytest.raises(ExpectedFailuresError) as error:
        read_expected_failures(file)
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("identifier", "is_expected"),
    [
        ("test_a.py::test_b", True),
        ("some/test_a.py::test_b[1]", True),
        ("test_a.py::test_bc", False),
        ("other_test_a.py::test_b", False),
    ],
)
def test_a_test_is_named_by_the_end_of_its_identifier(identifier: str, is_expected: bool) -> None:
    expected = ExpectedFailures(tests={"test_a.py::test_b": "why"})
    assert expected.of_test(identifier) == ("why" if is_expected else "")
