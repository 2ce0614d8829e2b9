"""A forked process of a command is as one that Python has started for it."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Site
from tests.cli.forked_commands import MODULES

SEEN = """
    import json, os, sys
    from spatch_core import BackendSystem

    print("SEEN", json.dumps({
        "arguments": sys.argv[1:],
        "path": sys.path,
        "variables": dict(os.environ),
        "folder": os.getcwd(),
        "streams": [
            [each.isatty(), each.encoding, each.errors, each.line_buffering]
            for each in (sys.stdin, sys.stdout, sys.stderr)
        ],
        "files": [os.fstat(number).st_mode & 0o1000 for number in range(3)],
        "flags": list(sys.flags),
        "modules": sorted(name for name in sys.modules if name.startswith("spatch_core")),
        "main": sys.modules["__main__"].__spec__.name,
        "group": os.getpgid(0),
    }), file=sys.stderr)
    system = BackendSystem("paintlib.backends", "PAINTLIB")
    """


def test_it_sees_the_same(site: Site) -> None:
    """It has the same arguments, search path, environment, streams and modules."""
    site.install_library({"paintlib/_dispatch.py": SEEN})
    arguments, seen = ["list", "paintlib", "--json"], []
    for answer in (site.run(*arguments, SOME="thing"), site.run_anew(*arguments, SOME="thing")):
        _, _, text = answer.errors.partition("SEEN")
        seen.append(json.loads(text.splitlines()[0]))
    forked, started = seen
    assert forked == started
    assert forked["folder"] == str(site.folder)
    assert "spatch_core.cli" in forked["modules"]
    assert not [name for name in MODULES if name.startswith("spatch_core")]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["list", "paintlib"], 0), (["doctor", "paintlib"], 1), (["lst"], 2), (["--help"], 0)],
    ids=["fine", "problems", "usage", "help"],
)
def test_it_answers_the_same(paint: Site, arguments: list[str], code: int) -> None:
    """It has the same output, errors and exit code."""
    paint.install_backend("gone", 'primary_types = ["nowhere:T"]')
    answer = paint.run(*arguments)
    assert answer == paint.run_anew(*arguments)
    assert answer.code == code
