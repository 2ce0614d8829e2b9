"""Selection by rank, compared with sorting."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

from scipy_dispatch import ndimage
from scipy_dispatch_jax._selection import as_ordered, from_ordered, selected


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 9, 25, 33])
def test_every_rank_of_zeros_and_ones_is_right(count: int) -> None:
    """A network that sorts all sequences of zeros and ones sorts all sequences (0-1 principle)."""
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
    """NaN comes last, as in NumPy's sort."""
    x = np.random.default_rng(0).random((9, 500)).astype(np.float32)
    x[x < 0.3] = np.nan
    x[x > 0.9] = -np.inf
    ordered = list(as_ordered(jnp.asarray(x)))
    for rank in range(9):
        np.testing.assert_array_equal(
            from_ordered(selected(ordered, rank), x.dtype), np.sort(x, axis=0)[rank]
        )


SHAPES = [
    *((kind, (10, 13)) for kind in ("?", "i1", "u2", "i4", "f2", "f4", "f8")),
    *((kind, (1, 530)) for kind in ("u1", "i2", "u4", "i8", "f4")),
    *(("u1", shape) for shape in [(3, 5), (17, 17), (601, 1)]),
]


@pytest.mark.parametrize(("kind", "shape"), SHAPES)
def test_ranks_of_any_bits(kind: str, shape: tuple[int, int], double: bool) -> None:
    """Windows of few elements, of more than 128 and of more than 255, and 1-d windows."""
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
    count = expected.shape[-1]
    result = ndimage.rank_filter(jnp.asarray(x), count // 3, shape)
    assert isinstance(result, jax.Array)
    np.testing.assert_array_equal(result, expected[..., count // 3].astype(result.dtype))


@pytest.mark.parametrize("shape", [(3, 43), (1, 129)])
def test_of_many_elements_those_that_are_no_numbers_come_last(shape: tuple[int, int]) -> None:
    """NaN may have either sign."""
    x = np.random.default_rng(0).random(129).astype(np.float32)
    x[:20], x[20:30] = np.nan, -np.nan
    expected = np.sort(x)
    for rank in (1, 98, 99, 127):
        result = ndimage.rank_filter(jnp.asarray(x.reshape(shape)), rank, shape, mode="wrap")
        np.testing.assert_array_equal(result, np.full(shape, expected[rank]))


@pytest.mark.parametrize("shape", [(1, 5), (3, 43), (1, 129)])
def test_zeros_keep_their_signs(shape: tuple[int, int]) -> None:
    """Negative zeros come first; NumPy's sort treats zeros as equal."""
    count = shape[0] * shape[1]
    signs = np.random.default_rng(0).permutation(np.where(np.arange(count) < count // 3, -1, 1))
    zeros = jnp.asarray((0.0 * signs).astype(np.float32).reshape(shape))
    for rank in (1, count // 3 - 1, count // 3, count - 2):
        result = ndimage.rank_filter(zeros, rank, shape, mode="wrap")
        np.testing.assert_array_equal(np.signbit(result), np.full(shape, rank < count // 3))


@pytest.mark.parametrize("length", [1, 2, 3, 64, 65, 200])
def test_ranks_of_lines_of_any_length(length: int) -> None:
    """SciPy 1.18 reads out of bounds for windows longer than the line."""
    x = np.random.default_rng(length).integers(0, 9, length).astype(np.int32)
    for size, rank in ((129, 64), (130, 1), (300, 298)):
        around = np.pad(x, (size // 2, (size - 1) // 2), mode="symmetric")
        expected = np.sort(np.lib.stride_tricks.sliding_window_view(around, size))[:, rank]
        np.testing.assert_array_equal(ndimage.rank_filter(jnp.asarray(x), rank, size), expected)


def test_the_gradient_along_a_long_line(double: bool) -> None:
    x = jnp.asarray(np.random.default_rng(0).permutation(9) / 3)
    median = jax.jit(partial(ndimage.median_filter, size=131))
    check_grads(median, (x,), order=1, eps=0.01)
    np.testing.assert_array_equal(jax.vmap(median)(jnp.stack([-x, x]))[1], median(x))


@pytest.mark.parametrize("kind", ["u1", "f4"])
def test_an_array_is_extended_before_it_is_compared(kind: str) -> None:
    """XLA of JAX 0.4 takes minutes to compile both together, even for small arrays."""
    x = jnp.zeros((2, 7), kind)
    median = jax.jit(partial(ndimage.median_filter, size=(5, 5)))
    for computation in median.lower(x).compile().as_text().split("\n\n"):
        assert not ("minimum(" in computation and "concatenate(" in computation)


def test_many_elements_take_memory_for_a_few_arrays() -> None:
    x = jnp.zeros((200, 200), np.float32)
    median = partial(ndimage.median_filter, size=25)
    for function in (median, jax.grad(lambda x: median(x).sum())):
        compiled = jax.jit(function).lower(x).compile()
        assert compiled.memory_analysis().temp_size_in_bytes < 20 * x.nbytes


@pytest.mark.parametrize("rank", [0, 4, -1])
def test_the_gradient_of_a_rank(rank: int, double: bool) -> None:
    x = jnp.asarray(np.random.default_rng(0).permutation(20).reshape(4, 5) / 3)
    function = jax.jit(partial(ndimage.rank_filter, rank=rank, size=3))
    check_grads(function, (x,), order=1, modes=["fwd", "rev"], eps=0.01)


@pytest.mark.parametrize("name", ["minimum_filter", "maximum_filter", "median_filter"])
def test_the_gradient_is_one_where_the_element_came_from(name: str, double: bool) -> None:
    """If several elements are equal, the gradient belongs to the first."""
    function = getattr(ndimage, name)
    gradient = jax.grad(lambda x: function(x, 3)[2, 3])(jnp.ones((9, 7)))
    np.testing.assert_array_equal(np.argwhere(gradient), [[1, 2]])
    assert gradient[1, 2] == 1


def test_gradients_of_windows(double: bool) -> None:
    """Gradients are 1 at chosen elements. Differentiating comparisons would compile slowly."""
    x = jnp.asarray(np.random.default_rng(0).random((7, 7))).at[2, 3].set(jnp.nan)

    def total(y: Any) -> Any:
        return ndimage.median_filter(y, 5, mode="constant").sum()

    gradient = np.asarray(jax.jit(jax.grad(total))(x))
    result = ndimage.median_filter(x, 5, mode="constant")
    np.testing.assert_array_equal(
        gradient, [[(result == each).sum() for each in np.asarray(row)] for row in x]
    )


def test_gradients_where_there_is_no_number() -> None:
    """The gradient is that of the chosen element, as for other values."""
    x = jnp.full((5, 5), jnp.nan)
    assert jax.grad(lambda x: ndimage.median_filter(x, 3)[2, 2])(x).sum() == 1


def test_second_derivatives(double: bool) -> None:
    x = jnp.arange(12.0).reshape(3, 4) ** 2 % 7
    hessian = jax.jit(jax.hessian(lambda x: (ndimage.rank_filter(x, 2, (1, 3)) ** 2).sum()))(x)
    assert hessian.sum() == 2 * 12


def test_integers_are_not_differentiated() -> None:
    """Other arguments of floating point still are."""
    x = jnp.arange(12).reshape(3, 4)
    slope = jax.grad(lambda y: (y * ndimage.median_filter(x, (3, 1))).sum())(1.0)
    assert slope == ndimage.median_filter(np.arange(12).reshape(3, 4), (3, 1)).sum()


@pytest.mark.parametrize("size", [3, 9])
def test_slopes_of_sums(size: int, double: bool) -> None:
    """Derivatives by array, weights and fill value, forward and reverse, unrolled and in loops."""
    random = np.random.default_rng(size)
    x, weights = jnp.asarray(random.normal(size=(4, 5))), jnp.asarray(random.normal(size=(size, 2)))

    @jax.jit
    def correlated(x: Any, weights: Any, cval: Any) -> Any:
        return ndimage.correlate(x, weights, mode="constant", cval=cval)

    check_grads(correlated, (x, weights, 0.5), order=1, modes=["fwd", "rev"])
    check_grads(jax.jit(partial(ndimage.uniform_filter, size=size)), (x,), order=1)
    bent = jax.jit(lambda x: ndimage.gaussian_filter(x, size / 4)[1:3, 1] ** 3)
    check_grads(bent, (x,), order=2, modes=["rev"], rtol=1e-3)
