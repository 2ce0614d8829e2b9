"""The room of protocols imports what is used."""

from __future__ import annotations

from spatch_core import protocols
from spatch_core.testing import run_python


def test_a_protocol_is_imported_when_it_is_used() -> None:
    """F12: the names are there from the beginning."""
    assert {"library_functions"} <= {*protocols.__all__}
    run_python("""
        import sys
        from spatch_core import protocols
        assert callable(protocols.library_functions)
        assert "spatch_core.protocols.library" not in sys.modules
    """)
