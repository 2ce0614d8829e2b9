"""The library, as its options see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from spatch_core import BackendSystem, UnknownTypeError

if TYPE_CHECKING:
    from spatch_core._state.options_owner import Owner


class Own:
    """The library's type."""


def test_the_dispatcher_of_a_library_is_the_owner_of_its_options() -> None:
    """Type checkers compare it with the protocol here; the system has only public names."""
    system = BackendSystem(None, "OWNERLIB", [f"{__name__}:Own"])
    owner: Owner = system._dispatcher
    assert owner.backend_opts is system.backend_opts
    assert list(owner.catalog().descriptions) == ["default"]
    owner.check_type(Own)
    with pytest.raises(UnknownTypeError):
        owner.check_type(int)
    assert owner.restore == system.restore
    assert owner.reload == system.reload
    with system.backend_opts(prioritize="default"):
        assert owner.keeper.current().prioritized == ("default",)
    assert {name for name in dir(system) if not name.startswith("_")} == {
        *("group", "environ_prefix", "backend_opts", "dispatchable", "backends", "functions"),
        *("problems", "reload", "refresh", "register", "unregister", "explain_types", "restore"),
        *("default_name", "protocol", "adopt", "lookup"),
    }
    assert {name for name in dir(system.backend_opts) if not name.startswith("_")} == {
        *("backends", "prioritized", "disabled", "type", "trace", "fallback", "backend", "hooks"),
        *("freeze", "enable_globally", "reset_globally", "reload"),
    }
