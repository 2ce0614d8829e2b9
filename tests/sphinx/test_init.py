"""The extension without other ones."""

from __future__ import annotations

import pytest

from tests.sphinx.conftest import Build, plain

pytest.importorskip("numpydoc")
pytest.importorskip("sphinx")


def test_plain_autodoc(build: Build) -> None:
    """Without numpydoc, and with the library named by its system."""
    text = plain(
        build(
            "Art\n===\n\n.. spatch-backends:: artlib:system\n\n.. autofunction:: artlib.blend\n",
            'extensions = ["spatch_core.sphinx"]\nspatch_backends = {"artlib:system": ["chalk"]}',
        )
    )
    assert "Blend. Backends chalk Types: builtins:bytes ." in text
    assert "artlib.blur yes" in text
