"""Hooks are checked when options are made, and belong to their process."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from spatch_core import BackendSystem

system = BackendSystem(None, "HOOKSTATE")


def plain(call: Any) -> Any:
    return call.next(*call.args)


def query() -> Any:
    return system.backend_opts().hooks


def test_options_without_a_hook() -> None:
    """H1: None means no hook."""
    assert system.backend_opts(hook=None).hooks == ()
    assert system.backend_opts(hook=plain).hooks == (plain,)
    assert f"hooks=({plain!r},)" in repr(system.backend_opts(hook=plain))
    with system.backend_opts(hook=plain) as options:
        assert options.hooks == (plain,)


def test_options_with_a_hook_are_not_pickled() -> None:
    """H4: rather than without the hook."""
    options = system.backend_opts(hook=plain)
    for act in (pickle.dumps, copy.copy):
        with pytest.raises(TypeError, match=rf"cannot be pickled or copied, .*{__name__}:plain"):
            act(options)


def test_frozen_functions_travel_without_hooks() -> None:
    """H4, S5: as they do without a trace."""
    frozen = system.backend_opts(hook=plain)(query)
    assert frozen() == (plain,)
    assert pickle.loads(pickle.dumps(frozen))() == ()
