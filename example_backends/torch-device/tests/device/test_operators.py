"""Results of single operators in which array libraries differ from PyTorch."""

import pytest
import torch

SMALL = (torch.bool, torch.uint8, torch.int8, torch.int16)
FUNCTIONS = ("sin", "exp2", "atan", "log1p", "sqrt", "rad2deg")


@pytest.mark.parametrize("dtype", SMALL, ids=str)
def test_functions_of_small_integers_are_of_single_precision(agree, dtype):
    """NumPy computes them in float16."""

    def compute(place):
        x = torch.tensor([0, 1, 3, 7]).to(place, dtype)
        return torch.atan2(x, x.flip(0)), *(getattr(torch, name)(x) for name in FUNCTIONS)

    agree(compute, atol=0, rtol=1e-6)


def test_integers_and_booleans(agree, device):
    """Signs of booleans are themselves, negative powers 0 or ±1; unsigned integers wrap around."""

    def compute(place):
        x = torch.tensor([-2, -1, -1, 0, 1, 2, 3]).to(place)
        y = torch.tensor([-1, -1, -2, -1, -3, -1, 2]).to(place)
        index, nines = torch.tensor([1]).to(place), torch.tensor([9, 9], dtype=torch.uint8)
        added = nines.to(place).index_add(0, index, nines.to(place)[:1], alpha=-2)
        return torch.pow(x, y), torch.pow(-1, y), added, torch.sign(x > 0), torch.sgn(x > 0)

    agree(compute)
    with pytest.raises(RuntimeError, match="negative integer powers"):
        torch.pow(torch.tensor([2]).to(device), -1)


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
    "numbers-that-are-bool": lambda x: torch.arange(True, 3, device=x.device),
    "one-row": lambda x: torch.nn.functional.multi_margin_loss(x, torch.tensor(1).to(x.device)),
}


def test_the_gradient_of_ignored_classes_is_zero(device):
    """Also if all classes of a batch are ignored, whose mean is NaN."""
    x = torch.ones(2, 3, device=device, requires_grad=True)
    torch.nn.functional.cross_entropy(x, torch.tensor([1, 1]).to(device), ignore_index=1).backward()
    assert x.grad.tolist() == [[0, 0, 0], [0, 0, 0]]


def test_a_result_that_would_grow_over_an_argument_is_refused(device):
    """As on the CPU, where PyTorch makes the tensor for the result larger in its place."""
    x, index = torch.arange(3).to(device), torch.tensor([0, 1, 2]).to(device)
    with pytest.raises(RuntimeError, match="single memory location"):
        torch.gather(x, 0, index[1:], out=index[:1])


@pytest.mark.parametrize("function", EDGES.values(), ids=EDGES)
def test_edges(agree, environment, function):
    """Empty indices, masks of more dimensions, bool numbers, losses of one row."""
    environment.conversions = True
    agree(lambda place: function(torch.tensor([-1.0, 2.0, 3.0]).to(place)))
