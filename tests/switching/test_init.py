"""The public module: imported when it is used."""

from __future__ import annotations

from pathlib import Path

import spatch_core
from spatch_core import switching
from spatch_core.testing import run_python

FOLDERS = [Path(spatch_core.__file__).parents[1]]


def test_public_names() -> None:
    for name in switching.__all__:
        assert getattr(switching, name).__doc__


def test_a_library_that_does_not_switch_imports_nothing_of_it() -> None:
    """F10: also not after the first call."""
    run_python(
        """
        import sys
        from spatch_core import BackendSystem

        system = BackendSystem(None, "LIB")

        @system.dispatchable("x")
        def f(x):
            return x

        assert f(1) == 1
        assert system.backend_opts().backends == ("default",)
        assert not [name for name in sys.modules if "switching" in name]
        """,
        path=FOLDERS,
    )
