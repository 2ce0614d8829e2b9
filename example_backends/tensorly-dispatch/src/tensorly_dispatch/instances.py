"""TensorLy's backends, which are instances of classes, under names that can be imported.

``tensorly_dispatch.instances:jax.dot`` is the method `dot` of TensorLy's backend ``jax``, which is
loaded when that is first looked up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

loaders: list[tuple[Iterable[str], Callable[[str], Any]]] = []
"""The names of backends that each of TensorLy's managers knows, and how it loads them."""
_names: dict[Any, str] = {}


def name_of(instance: Any) -> str:
    """Return the name of an instance; the first one of a backend has that of the backend."""
    if instance not in _names:
        name = re.sub(r"\W", "_", instance.backend_name)
        if name in globals():
            name = f"{name}_{len(_names)}"
        globals()[name] = instance
        _names[instance] = name
    return _names[instance]


def __getattr__(name: str) -> Any:
    for known, load in loaders:
        if name in known:
            name_of(load(name))
            return globals()[name]
    raise AttributeError(f"TensorLy has no backend {name!r}")
