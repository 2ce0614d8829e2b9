"""Registering the functions of `NEIGHBOURS`, which both backends do in the same way."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from scipy_dispatch.planning import Plan, PlannedBackend, Prepared

from ._neighbours import NEIGHBOURS, Neighbours


def implement_all(
    backend: PlannedBackend,
    plan: Callable[..., Prepared],
    namespace: dict[str, Any],
    rounds: bool,
) -> None:
    """Register an implementation of every function.

    Parameters
    ----------
    backend : PlannedBackend
        The backend.
    plan : callable
        ``scipy_dispatch_threads.neighbours.plan``, or that of `scipy_dispatch_dask`.
    namespace : dict
        The globals of the module that holds the functions.
    rounds : bool
        Whether to take functions whose last bits depend on where in memory an element is.
    """
    for place, neighbours in NEIGHBOURS.items():
        module, _, name = place.partition(":")
        library = f"skimage_dispatch.{module}"
        dispatchable = getattr(import_module(library), name, None)
        if dispatchable is not None and (rounds or not neighbours.rounds):
            own = {name: _plan_of(plan, dispatchable.__wrapped__, neighbours)}
            backend.plans_each(library, own, namespace, prefix=f"{module.replace('.', '_')}_")


def _plan_of(
    plan: Callable[..., Prepared], function: Callable[..., Any], neighbours: Neighbours
) -> Plan:
    signature = inspect.signature(function)

    def plan_of_call(*args: Any, **kwargs: Any) -> Prepared:
        try:
            bound = signature.bind(*args, **kwargs)
            (_, image), *others = bound.arguments.items()
            given = dict(others)
            bound.apply_defaults()
            for name in ("mask", "out"):
                if bound.arguments.get(name) is not None:
                    return f"{name}= is an array beside the image"
            for name, value in given.items():
                if _is_lazy(value):
                    return f"{name}= is a Dask array, and its values are needed now"
            radii = neighbours.radii(image, bound.arguments)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            return f"scikit-image reports the error: {error}"
        if isinstance(radii, str):
            return radii
        if len(radii) != image.ndim:
            return f"{len(radii)} axes for an image of {image.ndim} are an error in scikit-image"
        run = partial(function, **given)
        options = {"periodic": bound.arguments.get("mode") == "wrap", "runs": neighbours.runs}
        number = neighbours.results(image.ndim)
        if not number:
            return plan(run, image, radii, **options)
        # As many images in one array, of which each block has all, have room for as many results.
        images = np.broadcast_to(image, (number, *image.shape))
        several = plan(partial(_stacked, run), images, [None, *radii], **options)
        if isinstance(several, str):
            return several
        kind = tuple if function.__name__ == "gabor" else list
        return lambda: kind(several())

    return plan_of_call


def _is_lazy(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_is_lazy, value))
    return hasattr(value, "dask")


def _stacked(run: Callable[..., Any], images: Any) -> Any:
    return np.stack(run(images[0]))
