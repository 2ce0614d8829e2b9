"""Checkpoints: what is computed again draws the random numbers of the first time."""

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint, checkpoint_sequential


@pytest.fixture(params=[False, True], ids=["saved-by-hooks", "reentrant"])
def reentrant(request):
    return request.param


def dropout(x):
    return functional.dropout(x, 0.5)


def test_dropout(device, reentrant):
    """The gradient has the mask of the output, and the numbers go on after it."""
    x = torch.ones(100, device=device, requires_grad=True)
    y = checkpoint(dropout, x, use_reentrant=reentrant)
    after = dropout(torch.ones(100, device=device))
    y.sum().backward()
    assert torch.equal(x.grad.cpu(), y.detach().cpu())
    assert not torch.equal(after.cpu(), y.detach().cpu())
    assert not torch.equal(dropout(torch.ones(100, device=device)).cpu(), after.cpu())


def test_a_state_that_is_not_preserved(device, reentrant):
    """On request the second computation draws other numbers."""
    x = torch.ones(100, device=device, requires_grad=True)
    y = checkpoint(dropout, x, use_reentrant=reentrant, preserve_rng_state=False)
    y.sum().backward()
    assert not torch.equal(x.grad.cpu(), y.detach().cpu())


def test_tensors_of_two_devices(device, reentrant):
    """Numbers of the device and of the CPU are those of the first time."""
    x = torch.ones(100, device=device, requires_grad=True)
    z = torch.ones(100, device=device, requires_grad=True)
    w = torch.ones(100, requires_grad=True)
    found = checkpoint(lambda *each: tuple(map(dropout, each)), x, z, w, use_reentrant=reentrant)
    # In two threads PyTorch would compute the same checkpoint twice at a time.
    with torch.autograd.set_multithreading_enabled(False):
        sum(each.sum().cpu() for each in found).backward()
    for leaf, each in zip((x, z, w), found, strict=True):
        assert torch.equal(leaf.grad.cpu(), each.detach().cpu())


@pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad")  # of the inner one
def test_nested(device, reentrant):
    """Also of a checkpoint in a checkpoint."""
    masks = []

    def inner(x):
        y = dropout(x)
        masks.append((y != 0).cpu())
        return y.sin()

    def outer(x):
        return dropout(checkpoint(inner, dropout(x), use_reentrant=reentrant).cos())

    x = torch.rand(100, device=device, requires_grad=True)
    y = checkpoint(outer, x, use_reentrant=reentrant)
    before = len(masks)
    y.sum().backward()
    assert len(masks) > before
    assert all(torch.equal(each, masks[0]) for each in masks)
    dropped = y.detach().cpu() == 0
    assert dropped.any()
    assert torch.equal(x.grad.cpu()[dropped], torch.zeros(int(dropped.sum())))


def test_layers_in_segments(device, reentrant):
    """A network of PyTorch gets the gradients that it has without checkpoints."""
    net = nn.Sequential(*(nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.4)) for _ in range(4)))
    net.to(device)
    found = []
    for segments in (None, 2):
        torch.manual_seed(5)
        x = torch.ones(3, 8, device=device, requires_grad=True)
        y = (
            net(x)
            if segments is None
            else checkpoint_sequential(net, segments, x, use_reentrant=reentrant)
        )
        net.zero_grad()
        y.sum().backward()
        found.append([each.grad.cpu() for each in (x, *net.parameters())])
    torch.testing.assert_close(found[1], found[0])


@pytest.mark.parametrize("fork", [
    lambda device: torch.random.fork_rng(),
    lambda device: torch.random.fork_rng(device_type=device),
    lambda device: torch.random.fork_rng([0], device_type=device),
], ids=["accelerator", "named", "index"])  # fmt: skip
def test_forks(device, fork):
    """After a fork the numbers are as if none had been drawn in it."""
    with fork(device):
        first = torch.rand(4, device=device).cpu()
    assert torch.equal(torch.rand(4, device=device).cpu(), first)


def test_a_device_is_entered(device):
    """PyTorch enters the device whose state it wants."""
    module = torch.get_device_module(device)
    for each in (0, device, f"{device}:0", torch.device(device), None):
        with module.device(each):
            assert module.current_device() == 0
    with pytest.raises(RuntimeError, match="index 0 alone, not 1"):
        module.device(1)
