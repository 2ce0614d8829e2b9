"""Choosing by rank, beside sorting."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

from scipy_dispatch import ndimage
from scipy_dispatch_jax._selection import selected


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 9, 25, 33])
def test_every_rank_of_zeros_and_ones_is_right(count: int) -> None:
    """A network that sorts all sequences of zeros and ones sorts all (the 0-1 principle)."""
    random = np.random.default_rng(count)
    cases = (
        np.array(np.meshgrid(*[[0, 1]] * count, indexing="ij")).reshape(count, -1)
        if count <= 9
        else random.integers(0, 2, (count, 3000))
    )
    expected = np.sort(cases, axis=0)
    for rank in range(count):
        np.testing.assert_array_equal(selected(list(map(jnp.asarray, cases)), rank), expected[rank])


def test_what_is_no_number_comes_last() -> None:
    """As NumPy sorts."""
    x = np.random.default_rng(0).random((9, 500)).astype(np.float32)
    x[x < 0.3] = np.nan
    x[x > 0.9] = -np.inf
    for rank in range(9):
        np.testing.assert_array_equal(
            selected(list(jnp.asarray(x)), rank), np.sort(x, axis=0)[rank]
        )


def test_the_gradient_is_one_where_the_element_came_from() -> None:
    """Also where others are equal to it."""
    x = jnp.asarray(np.random.default_rng(0).permutation(45).reshape(9, 5).astype(np.float32))
    check_grads(lambda x: selected(list(x), 4), (x,), order=1, modes=["rev"], eps=0.1)
    gradient = jax.grad(lambda x: selected(list(x), 4).sum())(jnp.ones((9, 5)))
    np.testing.assert_array_equal(gradient.sum(axis=0), np.ones(5))


def test_gradients_of_windows(double: bool) -> None:
    """Ones where elements came from; to follow the comparisons would take long to compile."""
    x = jnp.asarray(np.random.default_rng(0).random((7, 7))).at[2, 3].set(jnp.nan)

    def total(y: Any) -> Any:
        return ndimage.median_filter(y, 5, mode="constant").sum()

    gradient = np.asarray(jax.jit(jax.grad(total))(x))
    result = ndimage.median_filter(x, 5, mode="constant")
    np.testing.assert_array_equal(
        gradient, [[(result == each).sum() for each in np.asarray(row)] for row in x]
    )


def test_second_derivatives() -> None:
    arrays = jnp.arange(12.0).reshape(3, 4) ** 2 % 7
    hessian = jax.jit(jax.hessian(lambda x: (selected(list(x), 1) ** 2).sum()))(arrays)
    assert hessian.sum() == 2 * 4


def test_integers_are_not_differentiated() -> None:
    """But what is beside them is."""
    x = jnp.arange(12).reshape(3, 4)
    slope = jax.grad(lambda y: (y * selected(list(x), 1)).sum())(1.0)
    assert slope == 4 + 5 + 6 + 7
