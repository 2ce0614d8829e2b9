"""What the helpers share: paths, and text that may be indented."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from spatch_core import BackendSystem
from spatch_core.testing import isolated, run_python


@pytest.mark.parametrize("path", ["folder", Path("folder")], ids=["str", "Path"])
def test_one_folder_is_refused_where_several_are_taken(system: BackendSystem, path: Any) -> None:
    """Its characters would be taken for folders."""
    message = r"path takes several folders: write path=\[.*folder.*\]"
    with pytest.raises(TypeError, match=message):
        isolated(system, path=path).__enter__()
    with pytest.raises(TypeError, match=message):
        run_python("", path=path)
