"""Registering the functions of `NEIGHBOURS`, which both backends do in the same way."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

from scipy_dispatch.planning import PlannedBackend

from ._neighbours import NEIGHBOURS, Neighbours

Plan: TypeAlias = "Callable[[], Any] | str"


def implement_all(
    backend: PlannedBackend,
    plan: Callable[..., Plan],
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
        dispatchable = getattr(import_module(f"skimage_dispatch.{module}"), name, None)
        if dispatchable is None or (neighbours.rounds and not rounds):
            continue
        planned = partial(_plan, plan, dispatchable.__wrapped__, neighbours)
        own = _named(planned, f"{module}_{name}".replace(".", "_"), namespace["__name__"])
        identifier = f"skimage_dispatch.{place}"
        namespace[own.__name__] = backend.plans(identifier)(own)


def _named(planned: Callable[..., Plan], name: str, module: str) -> Callable[..., Plan]:
    def plan(*args: Any, **kwargs: Any) -> Plan:
        return planned(*args, **kwargs)

    plan.__name__ = plan.__qualname__ = name
    plan.__module__ = module
    return plan


def _plan(
    plan: Callable[..., Plan],
    function: Callable[..., Any],
    neighbours: Neighbours,
    /,
    *args: Any,
    **kwargs: Any,
) -> Plan:
    signature = inspect.signature(function)
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


def _is_lazy(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_is_lazy, value))
    return hasattr(value, "dask")


def _stacked(run: Callable[..., Any], images: Any) -> Any:
    return np.stack(run(images[0]))
