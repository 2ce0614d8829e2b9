"""Results of single operators in which array libraries differ from PyTorch."""

import pytest
import torch

SMALL = (torch.bool, torch.uint8, torch.int8, torch.int16)
FUNCTIONS = ("sin", "exp2", "atan", "log1p", "sqrt", "rad2deg")


@pytest.mark.parametrize("dtype", SMALL, ids=str)
def test_functions_of_small_integers_are_of_single_precision(device, dtype):
    """NumPy computes them in float16."""
    x = torch.tensor([0, 1, 3, 7]).to(dtype)
    for name in FUNCTIONS:
        function = getattr(torch, name)
        torch.testing.assert_close(function(x.to(device)).cpu(), function(x), atol=0, rtol=1e-6)
    found = torch.atan2(x.to(device), x.to(device).flip(0))
    torch.testing.assert_close(found.cpu(), torch.atan2(x, x.flip(0)), atol=0, rtol=1e-6)


def test_signs_of_booleans_are_themselves(device):
    x = torch.tensor([True, False])
    assert torch.equal(torch.sign(x.to(device)).cpu(), x)
    assert torch.equal(torch.sgn(x.to(device)).cpu(), x)


def test_negative_powers_of_integers(device):
    """They are those of PyTorch: 0, or a power of 1 or -1; by a number, PyTorch's error."""
    x, y = torch.tensor([-2, -1, -1, 0, 1, 2, 3]), torch.tensor([-1, -1, -2, -1, -3, -1, 2])
    assert torch.equal(torch.pow(x.to(device), y.to(device)).cpu(), torch.pow(x, y))
    assert torch.equal(torch.pow(-1, y.to(device)).cpu(), torch.pow(-1, y))
    with pytest.raises(RuntimeError, match="negative integer powers"):
        torch.pow(x.to(device), -1)


def test_negative_multiples_are_added_to_unsigned_integers(device):
    x, index, values = (
        torch.tensor(each, dtype=dtype)
        for each, dtype in (([9, 9], torch.uint8), ([1], torch.int64), ([2], torch.uint8))
    )
    found = x.to(device).index_add(0, index.to(device), values.to(device), alpha=-1)
    assert torch.equal(found.cpu(), x.index_add(0, index, values, alpha=-1))


def test_operators_whose_dtype_has_a_default(device, environment):
    """The schema has a number for it."""
    environment.conversions = True
    for function in (torch.triu_indices, torch.tril_indices):
        found = function(3, 4, device=device)
        assert found.dtype is torch.int64
        assert torch.equal(found.cpu(), function(3, 4))


OUT_OF_BOUNDS = {
    "get": (lambda x, index: x[index], [0.0, 2.0]),
    "gather": (lambda x, index: x.gather(0, index), [0.0, 2.0]),
    "select": (lambda x, index: x.index_select(0, index), [0.0, torch.nan]),
    "embedding": (
        lambda x, index: torch.nn.functional.embedding(index, x[:, None])[:, 0],
        [0.0, torch.nan],
    ),
    "scatter": (lambda x, index: x.scatter(0, index, 7.0), [7.0, 1.0, 2.0]),
    "classes": (
        lambda x, index: torch.nn.functional.cross_entropy(x.expand(2, 3), index),
        torch.nan,
    ),
}


@pytest.mark.parametrize(("function", "of_jax"), OUT_OF_BOUNDS.values(), ids=OUT_OF_BOUNDS)
def test_indices_out_of_bounds(device, function, of_jax):
    """They are an error of NumPy's arrays; JAX takes the nearest or NaN, and writes none."""
    x, index = torch.arange(3.0).to(device), torch.tensor([0, 9]).to(device)
    if device == "npy":
        with pytest.raises(IndexError, match="out of bounds"):
            function(x, index)
    else:
        assert torch.equal(
            function(x, index).cpu().nan_to_num(-1), torch.tensor(of_jax).nan_to_num(-1)
        )


EDGES = {
    "gather-nothing": lambda x: x.gather(0, torch.zeros(2, 0, dtype=torch.int64, device=x.device)),
    "wider-mask": lambda x: x.masked_scatter(x.expand(2, 3) > 0, torch.arange(6.0).to(x.device)),
    "one-row-of-labels": lambda x: torch.nn.functional.multilabel_margin_loss(
        x, torch.tensor([0, 1, -1]).to(x.device), reduction="none"
    ),
    "one-row": lambda x: torch.nn.functional.multi_margin_loss(x, torch.tensor(1).to(x.device)),
}


def test_the_gradient_of_ignored_classes_is_zero(device):
    """Also if all classes of a batch are ignored, whose mean is NaN."""
    x = torch.ones(2, 3, device=device, requires_grad=True)
    torch.nn.functional.cross_entropy(x, torch.tensor([1, 1]).to(device), ignore_index=1).backward()
    assert x.grad.tolist() == [[0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize("function", EDGES.values(), ids=EDGES)
def test_edges(device, environment, function):
    """Empty indices, masks of more dimensions and losses of one row are as on the CPU."""
    environment.conversions = True
    x = torch.tensor([-1.0, 2.0, 3.0])
    torch.testing.assert_close(function(x.to(device)).cpu(), function(x))
