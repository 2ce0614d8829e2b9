"""SciPy's functions shared among threads, for arrays of any size and at any cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scipy import ndimage

from scipy_dispatch.testing import Call, assert_identical, outcome
from scipy_dispatch_threads._split import Policy
from scipy_dispatch_threads._strategies import FirstOf, plan
from scipy_dispatch_threads._table import TABLE

if TYPE_CHECKING:
    from collections.abc import Callable


STRATEGIES = {
    **{name: (name, each.strategy) for name, each in TABLE.items()},
    **{
        f"{name} by passes": (name, each.strategy.passes)
        for name, each in TABLE.items()
        if isinstance(each.strategy, FirstOf)
    },
}
"""Functions with their strategies, by a name for the pair."""


def forced(slabs: int) -> Policy:
    """Return a policy that always makes the given number of slabs."""
    return Policy(workers=3, smallest=0, slabs=slabs)


def why_not(key: str, arguments: dict[str, Any], policy: Policy) -> str | None:
    """Return why a call is not shared; None if it is."""
    name, strategy = STRATEGIES[key]
    planned = plan(strategy, getattr(ndimage, name), (), arguments, policy)
    return planned if isinstance(planned, str) else None


def assert_scipy_s(key: str, array: Any, slabs: int, **arguments: Any) -> None:
    """Fail unless a call in the given number of slabs has the same outcome as in SciPy."""
    name, _ = STRATEGIES[key]
    call = Call((array,), arguments)
    expected = outcome(getattr(ndimage, name), call)
    assert_identical(outcome(shared(key, forced(slabs)), call), expected)


def shared(key: str, policy: Policy) -> Callable[..., Any]:
    """Return the function, shared among threads."""
    name, strategy = STRATEGIES[key]
    original = getattr(ndimage, name)

    def function(*args: Any, **kwargs: Any) -> Any:
        planned = plan(strategy, original, args, kwargs, policy)
        return original(*args, **kwargs) if isinstance(planned, str) else planned()

    return function
