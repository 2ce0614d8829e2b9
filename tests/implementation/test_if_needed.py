"""`IF_NEEDED`: one object, known by its identity."""

from __future__ import annotations

import copy
import pickle

from spatch_core import IF_NEEDED


def test_it_stays_one_object() -> None:
    """`should_run` may come from another process, or a copy of it from a configuration."""
    assert pickle.loads(pickle.dumps(IF_NEEDED)) is IF_NEEDED
    assert copy.deepcopy(IF_NEEDED) is IF_NEEDED


def test_pickles_name_a_public_path() -> None:
    """F10: the module in which it is defined may change."""
    assert b"spatch_core.backend_utils" in pickle.dumps(IF_NEEDED)
    assert type(IF_NEEDED).__module__ == "spatch_core.backend_utils"


def test_it_says_its_name() -> None:
    assert repr(IF_NEEDED) == "IF_NEEDED"
