"""The backends of a library, each with its state."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from spatch_core.testing import run_python

if TYPE_CHECKING:
    from tests.cli.conftest import Site

CODE = """
    import json
    from spatch_core.examination.backends import list_backends, unusable_backends
    from spatch_core.examination.libraries import find_library, load_library

    loaded = load_library(find_library("paintlib"))
    backends = [(each.name, each.state.value) for each in list_backends(loaded)]
    print(json.dumps([backends, [each.name for each in unusable_backends(loaded)]]))
    """


def test_backends_are_listed_by_priority_then_the_unusable(paint: Site) -> None:
    """Every reason for being unusable occurs."""
    paint.install_backend("gold", 'primary_types = ["m:T"]\nrequires_opt_in = true\n')
    paint.install_backend("chalk", 'primary_types = ["m:T"]\n')
    paint.install_backend("water", "primary_types = 1\n")
    done = run_python(CODE, path=[paint.folder], environment={"PAINTLIB_BLOCK": "chalk"})
    backends, unusable = json.loads(done.stdout)
    assert backends == [
        ["default", "active"],
        ["gold", "needs opt-in"],
        ["oil", "active"],
        ["chalk", "blocked"],
        ["water", "broken"],
    ]
    assert unusable == ["chalk", "water"]
