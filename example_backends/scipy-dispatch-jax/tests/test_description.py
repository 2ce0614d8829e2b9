"""The description: which arrays and tracers it takes, what it says, and that the README agrees."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from comparison import COMPARISONS
from tolerances import TOLERANCES

from scipy_dispatch import backend_opts, ndimage, system

if TYPE_CHECKING:
    from collections.abc import Callable

X = np.arange(12.0, dtype=np.float32).reshape(3, 4)
README = Path(__file__).parents[1] / "README.md"
EXPECTED = np.asarray(ndimage.sobel(X))


def sobel(x: Any) -> Any:
    """Run the backend, without the default implementation."""
    assert ndimage.sobel.explain(x).selected == "jax"
    return ndimage.sobel(x)


def scanned(x: Any) -> Any:
    return jax.lax.scan(lambda carry, each: (carry, sobel(each)), 0, jnp.stack([x, x]))[1][1]


TRANSFORMATIONS: dict[str, Callable[[Any], Any]] = {
    "none": sobel,
    "scan": scanned,
    "checkpoint": jax.checkpoint(sobel),
    "linearize": lambda x: jax.linearize(sobel, x)[1](x),
    "vjp": lambda x: jax.vjp(sobel, x)[0],
    "jit of vmap of jit": lambda x: jax.jit(jax.vmap(jax.jit(sobel)))(x[None])[0],
    "cond": lambda x: jax.lax.cond(True, sobel, lambda each: each, x),
    "while_loop": lambda x: jax.lax.while_loop(
        lambda c: c[0] < 1, lambda c: (c[0] + 1, sobel(c[1])), (0, x)
    )[1],
}


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_inside_of_transformations(name: str) -> None:
    result = TRANSFORMATIONS[name](jnp.asarray(X))
    assert isinstance(result, jax.Array)
    np.testing.assert_allclose(np.asarray(result), EXPECTED, rtol=1e-6)


def test_compiled_ahead() -> None:
    compiled = jax.jit(sobel).lower(jax.ShapeDtypeStruct(X.shape, X.dtype)).compile()
    np.testing.assert_allclose(np.asarray(compiled(X)), EXPECTED, rtol=1e-6)


def test_the_type_option() -> None:
    """NumPy arrays become JAX arrays if the user selects JAX by its public name."""
    with backend_opts(type=jax.Array):
        assert isinstance(ndimage.sobel(X), jax.Array)
    assert isinstance(ndimage.sobel(X), np.ndarray)


def test_masked_arrays_are_left_alone() -> None:
    """The mask would be lost."""
    weights = np.ma.masked_array([1.0, 2.0, 1.0], [False, True, False])
    explanation = ndimage.correlate1d.explain(jnp.asarray(X), weights)
    assert explanation.selected == "default"


def test_every_function_has_tolerances_with_reasons() -> None:
    assert COMPARISONS[True].functions == sorted(TOLERANCES)
    assert all(each.reason for kinds in TOLERANCES.values() for each in kinds.values())


def test_all_that_jax_offers_is_there() -> None:
    """Every name of JAX's that is a function of arrays in scipy_dispatch is implemented."""
    offered = {
        f"{kind}.{name}"
        for module in ("numpy.fft", "scipy.fft", "scipy.ndimage", "scipy.signal")
        for kind in [module.rpartition(".")[2]]
        for name in dir(importlib.import_module(f"jax.{module}"))
        if f"scipy_dispatch.{kind}:{name}" in system.functions
    }
    assert offered
    assert offered <= set(TOLERANCES)


def test_the_table_of_the_readme_names_every_function() -> None:
    section = README.read_text(encoding="utf-8").partition("## Functions")[2]
    rows = re.findall(r"^\| (.*?`[^|]*) \|", section.partition("\n#")[0], re.MULTILINE)
    named = set()
    for row in rows:
        functions = re.findall(r"`(\w+)`", row.partition("each with")[0])
        endings = ["", *re.findall(r"`(\w+)`", row.partition("each with")[2])]
        named |= {name + ending for name in functions for ending in endings}
    assert named - {"ndimage", "signal"} == {name.partition(".")[2] for name in TOLERANCES}
