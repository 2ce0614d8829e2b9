"""Warning filters, which belong to the whole process, are not changed."""

from __future__ import annotations

import importlib
import inspect
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scipy_dispatch_jax
from scipy_dispatch import ndimage
from scipy_dispatch_jax._arrays import has_64_bits, narrowed

by_jax_itself = pytest.mark.skipif(
    "catch_warnings" in inspect.getsource(jnp.astype), reason="this release of JAX changes them"
)


@by_jax_itself
def test_filters_of_warnings_are_as_they_were() -> None:
    """All threads share the filters of `catch_warnings`, which may remain changed."""
    x = jnp.ones((8, 8))
    before = list(warnings.filters)
    with ThreadPoolExecutor(4) as threads:
        for each in [threads.submit(ndimage.sobel, x, output=np.float32) for _ in range(60)]:
            each.result()
    assert warnings.filters == before


def test_no_filter_is_set_in_the_package() -> None:
    for path in Path(scipy_dispatch_jax.__file__).parent.glob("*.py"):
        assert "catch_warnings" not in path.read_text(encoding="utf-8"), path


@by_jax_itself
def test_what_was_warned_of_once_is_not_warned_of_again() -> None:
    """Any change of the filters makes Python forget which warnings it has shown."""
    x = jnp.ones((8, 8))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            warnings.warn("told once", UserWarning, stacklevel=1)
            ndimage.sobel(x)
    assert len(caught) == 1


def test_data_types_are_those_of_jax(precision: bool) -> None:
    for name in ("bool", "int8", "uint64", "int64", "float16", "float64", "complex128", "bfloat16"):
        dtype = jnp.dtype(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert narrowed(dtype) == jnp.zeros((), dtype).dtype
    for other in ("S3", "M8[s]", ">f4", object, np.longdouble):
        with pytest.raises(TypeError):
            narrowed(other)


def test_double_precision_for_a_while() -> None:
    """Double precision is enabled for a block of code only."""
    experimental = importlib.import_module("jax.experimental")
    enable_x64 = getattr(experimental, "enable_x64", None) or jax.enable_x64
    with enable_x64(True):
        assert has_64_bits()
        assert ndimage.sobel(jnp.ones((3, 3))).dtype == np.float64
    assert not has_64_bits()
