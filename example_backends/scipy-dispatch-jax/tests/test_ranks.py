"""Selection by rank, compared with sorting, and its slopes."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

from scipy_dispatch import ndimage

SHAPES = [
    *((kind, (3, 5)) for kind in ("?", "i1", "u2", "i4", "f2", "f4", "f8")),
    *((kind, (10, 13)) for kind in ("?", "u1", "i4", "i8", "f2", "f8")),
    *(("u1", (17, 17)), ("f4", (1, 530)), ("u1", (601, 1))),
]


@pytest.mark.parametrize(("kind", "shape"), SHAPES)
def test_ranks_of_any_bits(kind: str, shape: tuple[int, int], double: bool) -> None:
    """Windows of few elements, of more than 128 and of more than 255; longer than the lines."""
    random = np.random.default_rng(shape[0])
    x = random.integers(0, 256, (19, 23, 8), dtype=np.uint8).view(kind)[..., 0]
    x = random.random((19, 23)) < 0.5 if kind == "?" else x
    x = x // 16 if kind == "u1" else x  # more elements than a byte can count are below a bound
    if x.dtype.kind == "f":
        x = np.nan_to_num(x, nan=-0.0)
        x[random.random(x.shape) < 0.1] = -np.inf
        x[random.random(x.shape) < 0.1] = np.inf
    around = np.pad(x, [(n // 2, (n - 1) // 2) for n in shape], mode="symmetric")
    windows = np.lib.stride_tricks.sliding_window_view(around, shape)
    expected = np.sort(windows.reshape(*x.shape, -1), axis=-1)
    for rank in (1, expected.shape[-1] // 3):
        result = ndimage.rank_filter(jnp.asarray(x), rank, shape)
        assert isinstance(result, jax.Array)
        np.testing.assert_array_equal(result, expected[..., rank].astype(result.dtype))


@pytest.mark.parametrize("shape", [(1, 5), (3, 43), (1, 129)])
def test_nan_is_last_and_zeros_keep_their_signs(shape: tuple[int, int]) -> None:
    """NaN may have either sign. Negative zeros come first."""
    x = np.random.default_rng(0).random(shape[0] * shape[1]).astype(np.float32)
    x[:2], x[2] = np.nan, -np.nan
    expected = np.sort(x)
    for rank in (1, x.size - 4, x.size - 3):
        result = ndimage.rank_filter(jnp.asarray(x.reshape(shape)), rank, shape, mode="wrap")
        np.testing.assert_array_equal(result, np.full(shape, expected[rank]))
    few = x.size // 3
    zeros = jnp.asarray(np.where(np.arange(x.size) < few, -0.0, 0.0).reshape(shape), np.float32)
    for rank in (few - 1, few):
        result = ndimage.rank_filter(zeros, rank, shape, mode="wrap")
        np.testing.assert_array_equal(np.signbit(result), np.full(shape, rank < few))


@pytest.mark.parametrize(("size", "rank"), [(3, 0), (3, 4), (3, -1), (12, 70)])
def test_the_gradient_of_a_rank(size: int, rank: int, double: bool) -> None:
    x = jnp.asarray(np.random.default_rng(0).permutation(20).reshape(4, 5) / 3)
    function = jax.jit(partial(ndimage.rank_filter, rank=rank, size=size))
    check_grads(function, (x,), order=1, modes=["fwd", "rev"], eps=0.01)
