"""The description, the registry, the tolerances and the random calls contain the same functions."""

from __future__ import annotations

import importlib
import sys
from importlib.metadata import entry_points
from importlib.resources import files

from random_calls import GENERATORS
from tolerances import TOLERANCES

from scipy_dispatch import system
from scipy_dispatch_jax import _implement

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MODULES = ["scipy_dispatch_jax.ndimage", "scipy_dispatch_jax.signal", "scipy_dispatch_jax.fft"]


def registered() -> dict[str, str]:
    for module in MODULES:
        importlib.import_module(module)
    return {name: each.identifier for name, each in _implement.backend.functions.items()}


def short(identifier: str) -> str:
    return identifier.removeprefix("scipy_dispatch.").replace(":", ".")


def test_description_and_registry_agree() -> None:
    text = files("scipy_dispatch_jax").joinpath("backend.toml").read_text(encoding="utf-8")
    functions = tomllib.loads(text)["functions"]
    assert functions.pop("auto-generation")["modules"] == MODULES
    assert functions.pop("defaults") == {"uses_context": True}
    described = {name: fields["function"] for name, fields in functions.items()}
    assert described == registered()


def test_every_function_has_a_tolerance_and_random_calls() -> None:
    assert set(map(short, registered())) == set(TOLERANCES) == set(GENERATORS)


def test_every_tolerance_has_a_reason() -> None:
    assert all(each.reason for kinds in TOLERANCES.values() for each in kinds.values())


def test_the_backend_is_found_and_sound() -> None:
    (entry_point,) = entry_points(group="scipy_dispatch.backends", name="jax")
    assert entry_point.value == "scipy_dispatch_jax:backend.toml"
    assert "jax" in system.backends
    assert not [each for each in system.problems if "jax" in str(each)]


def test_all_that_jax_offers_is_there() -> None:
    """Every name of JAX's that is a function of arrays in scipy_dispatch is implemented."""
    import jax.numpy.fft
    import jax.scipy.fft
    import jax.scipy.ndimage
    import jax.scipy.signal

    offered = {
        f"scipy_dispatch.{kind}:{name}"
        for kind, modules in {
            "fft": (jax.numpy.fft, jax.scipy.fft),
            "ndimage": (jax.scipy.ndimage,),
            "signal": (jax.scipy.signal,),
        }.items()
        for module in modules
        for name in dir(module)
        if not name.startswith("_")
    }
    assert {name for name in offered if name in system.functions} <= set(registered())
