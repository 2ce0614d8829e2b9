"""A library with backends, for the benchmark: as small as it can be, so that only calling counts.

Its functions return their arguments, packed: what a call of the bare function costs is the
smallest thing that a useful function does.
"""

from __future__ import annotations

from typing import Any

from spatch_core import BackendSystem


class Array:
    """The library's own type."""


class Device:
    """A backend's type."""


TYPES: list[type] = []
for _number in range(12):
    _cls = type(f"Array{_number}", (), {"__module__": __name__})
    globals()[_cls.__name__] = _cls
    TYPES.append(_cls)


def one(x: Any) -> Any:
    return (x,)


def two(x: Any, y: Any) -> Any:
    return x, y


def three(x: Any, y: Any, z: Any) -> Any:
    return x, y, z


def device_two(x: Any, y: Any) -> Any:
    return x, y


def always(context: Any, *args: Any, **keywords: Any) -> bool:
    return True


def identify(thing: Any) -> str:
    return f"{thing.__module__}:{thing.__qualname__}"


OWN_TYPES = [identify(cls) for cls in (Array, *TYPES)]
DEVICE_TWO = identify(device_two)


def describe(name: str, functions: dict[str, Any], types: list[str]) -> dict[str, Any]:
    """Return the description of a backend."""
    return {"name": name, "primary_types": types, "functions": functions}


def make_system(backends: list[dict[str, Any]]) -> BackendSystem:
    return BackendSystem(None, "BENCH", default_primary_types=OWN_TYPES, backends=backends)


class Library:
    """Its dispatchable functions, by what is measured about them."""

    def __init__(self) -> None:
        implementation = {"function": DEVICE_TWO}
        asking = {**implementation, "should_run": identify(always)}
        functions = {
            "bench:one": implementation,
            "bench:two": implementation,
            "bench:three": implementation,
            "bench:asking": asking,
        }
        self.system = make_system([describe("device", functions, [identify(Device)])])
        self.one = self.dispatchable("x", "one", one)
        self.two = self.dispatchable(("x", "y"), "two", two)
        self.three = self.dispatchable(("x", "y", "z"), "three", three)
        self.asking = self.dispatchable(("x", "y"), "asking", two)
        self.alone = self.dispatchable(("x", "y"), "alone", two)

    def dispatchable(self, arguments: Any, name: str, function: Any) -> Any:
        return self.system.dispatchable(arguments, module="bench", qualname=name)(function)
