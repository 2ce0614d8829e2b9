"""The options, the markers and the fixture of the plugin of pytest."""

from __future__ import annotations

import pytest

from spatch_core.testing import run_python
from tests.testing.pytest_runs import PLUGIN, ROOT, Kit


def test_the_fixture_tells_what_the_backend_has_answered(kit: Kit) -> None:
    """X4: It is there without a backend, for libraries whose tests use it."""
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
        (["--spatch-backend=fast", "--spatch-expected-failures=x"], "kitlib", "cannot be read"),
    ],
    ids=["alone", "backend", "library", "conversions", "file"],
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
