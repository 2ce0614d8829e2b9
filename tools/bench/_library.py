"""A minimal library with backends for the benchmark, so that only the cost of calls counts.

Its functions return their arguments, packed: about the least that a useful function does.
Versions of spatch_core are compared with it, so it uses public names, and passes arguments by
position where their names have changed.
"""

from __future__ import annotations

from typing import Any

from spatch_core import BackendSystem


class Array:
    """The library's own type."""


class Device:
    """A backend's type."""


TYPES = [type(f"Array{number}", (), {"__module__": __name__}) for number in range(12)]
globals().update({cls.__name__: cls for cls in TYPES})


def one(x: Any) -> Any:
    return (x,)


def two(x: Any, y: Any) -> Any:
    return x, y


def three(x: Any, y: Any, z: Any) -> Any:
    return x, y, z


def device_two(x: Any, y: Any) -> Any:
    return x, y


def declining(x: Any, y: Any) -> Any:
    return NotImplemented


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
    return BackendSystem(None, "BENCH", OWN_TYPES, backends=backends)


def make_library() -> tuple[BackendSystem, dict[str, Any]]:
    """Return a library's system, and its functions by the names of the measurements."""
    names: dict[str, Any] = {
        "one": one,
        "two": two,
        "three": three,
        "asking": two,
        "deferring": two,
    }
    implementations: dict[str, Any] = {f"bench:{name}": {"function": DEVICE_TWO} for name in names}
    implementations["bench:asking"]["should_run"] = identify(always)
    others = {"bench:deferring": {"function": DEVICE_TWO}}
    implementations["bench:deferring"] = {"function": identify(declining)}
    types = [identify(Device)]
    system = make_system(
        [describe("device", implementations, types), describe("other", others, types)]
    )
    functions: dict[str, Any] = {}
    for name, function in {**names, "alone": two}.items():
        arguments = list("xyz")[: function.__code__.co_argcount]
        decorate = system.dispatchable(arguments, module="bench", qualname=name)
        functions[name] = decorate(function)
    return system, functions


def to_array(device: Device) -> Array:
    return Array()


def from_array(array: Array) -> Device:
    return Device()


def make_fallbacks() -> dict[str, Any]:
    """Return the calls that no backend takes, and those with special dispatch arguments.

    The result is empty for versions without fallback policies.
    """
    pair = {"to_default": identify(to_array), "from_default": identify(from_array)}
    implementation = {"function": identify(device_any)}
    functions = {"bench:special": implementation, "bench:inside": implementation}
    device = {**describe("device", functions, [identify(Device)]), **pair}
    try:
        system: Any = BackendSystem(None, "BENCHFALLBACK", OWN_TYPES, backends=[device])
        made: dict[str, Any] = {
            policy: system.dispatchable(
                ("x", "y"), module="bench", qualname=policy, fallback=policy
            )(adding)
            for policy in ("raise", "convert")
        }
        special = system.dispatchable(like="like", module="bench", qualname="special")(creating)
        inside = system.dispatchable(inside="xs", module="bench", qualname="inside")(one_of_many)
    except TypeError:
        return {}

    def refused(x: Any, y: Any) -> None:
        try:  # faster than contextlib.suppress
            made["raise"](x, y)
        except TypeError:
            return

    return {
        "refused": refused,
        "converted": made["convert"],
        "like": lambda x, y: special(3, like=x),
        "inside": lambda x, y: inside([x, y]),
    }


def adding(x: Any, y: Any) -> Any:
    return Array()


def creating(size: int, *, like: Any = None) -> Any:
    return size


def one_of_many(xs: Any) -> Any:
    return xs


def device_any(*args: Any) -> Any:
    return args


def make_methods() -> dict[str, Any]:
    """Return an object with a dispatchable and a bare method, and objects of overriding types.

    Versions without protocols have no overriding types.
    """
    implementations = {"bench:method": {"function": DEVICE_TWO}}
    system = make_system([describe("device", implementations, [identify(Device)])])

    class Methods(Array):
        @system.dispatchable("x", module="bench", qualname="method")
        def method(self, x: Any) -> Any:
            return (x,)

        def bare(self, x: Any) -> Any:
            return (x,)

    found: dict[str, Any] = {"array": Methods()}
    try:
        from spatch_core.protocols import library_functions

        other = BackendSystem(None, "BENCHPROTOCOL", OWN_TYPES, protocol="__bench_function__")
    except (ImportError, TypeError):
        return found

    class Own(library_functions(other)):  # type: ignore[misc]  # a class made at run time
        def as_subclass(self, cls: Any) -> Any:
            return cls()

    class Subclass(Own):
        """Keeps the generic implementation."""

    class Overriding:
        @classmethod
        def __bench_function__(cls, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
            return args

    function = other.dispatchable("x", module="bench", qualname="protocol")(lambda x: Own())
    return {**found, "function": function, "own": Overriding(), "subclass": Subclass()}
