"""The package offers its functions, and imports nothing for them."""

from __future__ import annotations

from spatch_core import protocols
from spatch_core.testing import run_python


def test_nothing_is_imported_before_it_is_used() -> None:
    """T4: neither NumPy nor PyTorch, nor the modules for them."""
    done = run_python(
        """
        import sys
        import spatch_core.protocols

        known = {"numpy", "torch", "spatch_core.protocols.array_function"}
        print(known & sys.modules.keys(), spatch_core.protocols.__all__)
        """
    )
    assert (
        done.stdout.strip() == "set() ['library_functions', 'numpy_functions', 'torch_functions']"
    )


def test_a_protocol_is_imported_when_it_is_used() -> None:
    """F12: the names are there from the beginning."""
    assert {"library_functions"} <= {*protocols.__all__}
    run_python("""
        import sys
        from spatch_core import protocols
        assert callable(protocols.library_functions)
        assert "spatch_core.protocols.library" not in sys.modules
    """)
