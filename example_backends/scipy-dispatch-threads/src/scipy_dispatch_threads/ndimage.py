"""Functions of `scipy.ndimage` on all cores, with SciPy's signatures and SciPy's results.

A call that cannot be shared among threads, or is not worth sharing, is deferred with the reason.

Examples
--------
>>> import numpy as np
>>> from scipy_dispatch_threads import ndimage
>>> ndimage.maximum_filter.plan(np.array([0, 3, 0, 0]), 3)
'4 elements are too few: threads pay from 340000 on'
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import ndimage as _scipy_ndimage

from scipy_dispatch.calls import signature_of
from scipy_dispatch.planning import PlannedBackend

from . import _pool
from ._split import Policy
from ._strategies import plan as _plan
from ._strategies import too_few
from ._table import TABLE

if TYPE_CHECKING:
    from scipy_dispatch.planning import Plan, Prepared

__all__ = list(TABLE)

backend = PlannedBackend("threads")


def _plan_of(name: str) -> Plan:
    function, strategy = getattr(_scipy_ndimage, name), TABLE[name].strategy
    counted = strategy.counted
    position = [*signature_of(function).parameters].index(counted)

    @functools.wraps(function)
    def plan(*args: Any, **kwargs: Any) -> Prepared:
        # Most calls are too small. They cost no more than this look at one argument.
        array = args[position] if len(args) > position else kwargs.get(counted)
        smallest = TABLE[name].smallest
        if isinstance(array, np.ndarray) and array.size < smallest:
            return too_few(array.size, smallest)
        reason = _pool.why_serial()
        return reason or _plan(strategy, function, args, kwargs, Policy.current(smallest))

    plan.__doc__ = "SciPy's function on all cores, with the same bits."
    return plan


backend.plans_each("scipy_dispatch.ndimage", {name: _plan_of(name) for name in TABLE}, globals())
