"""Remedies: what would make a refused call run."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core import BackendSystem, NoImplementationError

HERE = __name__


class Own:
    """The library's type."""


class Foreign:
    """The backends' type."""


def to_own(value: Any) -> Own:
    return Own()


def from_own(value: Any) -> Foreign:
    return Foreign()


def declines(*args: Any) -> Any:
    return NotImplemented


ACTIVE = {
    "name": "active",
    "primary_types": [f"{HERE}:Foreign"],
    "functions": {"lib:f": {"function": f"{HERE}:declines"}},
}
CONVERTS = {
    "name": "bridge",
    "primary_types": [f"{HERE}:Foreign"],
    "secondary_types": [f"{HERE}:Own"],
    "to_default": f"{HERE}:to_own",
    "from_default": f"{HERE}:from_own",
}
OPT_IN = {
    "name": "shy",
    "primary_types": [f"{HERE}:Foreign"],
    "requires_opt_in": True,
    "functions": {"lib:f": {"function": f"{HERE}:to_own"}},
}
DISABLED = {**OPT_IN, "name": "absent", "requires_opt_in": False}


@pytest.mark.parametrize(
    ("backend", "policy", "remedies"),
    [
        (ACTIVE, "raise", []),
        (OPT_IN, "raise", ["with backend_opts(prioritize='shy'), shy takes part"]),
        (CONVERTS, "raise", ["with backend_opts(fallback='convert'), bridge converts 1 argument"]),
        (
            {**CONVERTS, "requires_opt_in": True},
            "convert",
            ["with backend_opts(prioritize='bridge'), bridge converts"],
        ),
        (
            {**CONVERTS, "requires_opt_in": True},
            "raise",
            ["with backend_opts(prioritize='bridge', fallback='convert'), bridge converts"],
        ),
        (DISABLED, "raise", ["with backend_opts(prioritize='absent'), absent takes part again"]),
    ],
    ids=["active", "opt-in", "policy", "opt-in to convert", "both", "disabled"],
)
@pytest.mark.parametrize("beside", [True, False], ids=["beside another", "alone"])
def test_a_refusal_lists_what_helps(
    beside: bool, backend: Any, policy: str, remedies: list[str]
) -> None:
    """V3: whether or not another backend knows the types."""
    backends = [ACTIVE, backend] if beside and backend is not ACTIVE else [backend]
    system = BackendSystem(None, "REMEDIESLIB", [f"{HERE}:Own"], backends, fallback=policy)
    f = system.dispatchable("x", module="lib", qualname="f")(lambda x: "default")
    disable = ["absent"] if backend is DISABLED else []
    with system.backend_opts(disable=disable), pytest.raises(NoImplementationError) as caught:
        f(Foreign())
    *first, last = caught.value.remedies
    assert len(first) == len(remedies)
    for said, expected in zip(first, remedies, strict=True):
        assert said.startswith(expected)
    assert last.startswith("with backend_opts(fallback='default')")
