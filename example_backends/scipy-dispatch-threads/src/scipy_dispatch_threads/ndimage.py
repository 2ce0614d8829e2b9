"""Functions of `scipy.ndimage` on all cores, with SciPy's signatures and SciPy's results.

A call that cannot be shared among threads, or is not worth sharing, is deferred with the reason.

Examples
--------
>>> import numpy as np
>>> from scipy_dispatch_threads import ndimage
>>> ndimage.maximum_filter.plan(np.array([0, 3, 0, 0]), 3)  # doctest: +ELLIPSIS
'4 elements are too few: threads pay from ... on'
"""

from __future__ import annotations

import functools

import numpy as np
from scipy import ndimage as _scipy_ndimage

from scipy_dispatch.calls import signature_of
from scipy_dispatch.planning import PlannedBackend

from . import _pool, _strategy
from ._costs import SMALLEST
from ._policy import Policy
from ._table import TABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    Plan: TypeAlias = "Callable[[], Any] | str"

__all__ = list(TABLE)

backend = PlannedBackend("threads")


def _plan_of(name: str) -> Callable[..., Plan]:
    function, strategy = getattr(_scipy_ndimage, name), TABLE[name]
    counted = strategy.counted
    position = [*signature_of(function).parameters].index(counted)

    @functools.wraps(function)
    def plan(*args: Any, **kwargs: Any) -> Plan:
        # Most calls are too small. They cost no more than this look at one argument.
        array = args[position] if len(args) > position else kwargs.get(counted)
        if isinstance(array, np.ndarray) and array.size < SMALLEST[name]:
            return _strategy.too_few(array.size, SMALLEST[name])
        reason = _pool.why_serial()
        if reason:
            return reason
        policy = Policy.current(SMALLEST[name])
        return _strategy.plan(strategy, function, args, kwargs, policy)

    plan.__doc__ = "SciPy's function on all cores, with the same bits."
    return plan


backend.plans_each("scipy_dispatch.ndimage", {name: _plan_of(name) for name in TABLE}, globals())
