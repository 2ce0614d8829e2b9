"""Functions of `scipy.ndimage` on all cores, with SciPy's signatures and SciPy's results.

A call that cannot be shared among threads, or is not worth sharing, goes to SciPy unchanged.

Examples
--------
>>> import numpy as np
>>> from scipy_dispatch_threads import ndimage
>>> ndimage.maximum_filter(np.array([0, 3, 0, 0]), 3)
array([3, 3, 3, 0])
"""

from __future__ import annotations

import functools

from scipy import ndimage as _scipy_ndimage

from . import _pool
from ._backend import backend
from ._call import Call, Deferred
from ._policy import Policy
from ._strategy import evaluate
from ._table import TABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from spatch_core import DispatchContext

__all__ = ["should_run"]
__all__ += list(TABLE)


def should_run(context: DispatchContext, *args: Any, **kwargs: Any) -> bool | str:
    """Decide whether a call should be shared among threads.

    Parameters
    ----------
    context : DispatchContext
        Provides the name of the function.
    *args, **kwargs
        The arguments of the call.

    Returns
    -------
    True or str
        True if the call should be shared, else the reason against it.
    """
    serial = _pool.why_serial()
    if serial:
        return serial
    name = context.function.rpartition(":")[2]
    try:
        call = Call(getattr(_scipy_ndimage, name), args, kwargs)
        TABLE[name].check(call, Policy.current())
    except Deferred as deferred:
        return str(deferred)
    return True


def _implementation(name: str) -> Callable[..., Any]:
    function = getattr(_scipy_ndimage, name)
    strategy = TABLE[name]

    @functools.wraps(function)
    def implementation(*args: Any, **kwargs: Any) -> Any:
        return evaluate(strategy, function, args, kwargs, Policy.current())

    implementation.__module__ = __name__
    implementation.__qualname__ = name
    identifier = f"scipy_dispatch.ndimage:{name}"
    backend.implements(identifier, should_run=should_run)(implementation)
    return implementation


for _name in TABLE:
    globals()[_name] = _implementation(_name)
