"""Hooks of autograd that raise: the backward pass ends with their errors, as on the CPU."""

import pytest
import torch
from torch.autograd.graph import get_gradient_edge, saved_tensors_hooks
from torch.utils.checkpoint import CheckpointError, checkpoint


def wrong(*_):
    raise ArithmeticError("wrong")


def before_a_tensor(x):
    y = x * 2
    y.register_hook(wrong)
    return y.sin()


def before_a_leaf(x):
    x.register_hook(wrong)
    return x.sin()


def after_a_leaf(x):
    x.register_post_accumulate_grad_hook(wrong)
    return x.sin()


def before_a_node(x):
    y = x.sin() * 1
    y.grad_fn.register_prehook(wrong)
    return y


def after_a_node(x):
    y = x.sin() * 1
    y.grad_fn.register_hook(wrong)
    return y


def before_the_gradient(x):
    node = get_gradient_edge(x).node
    node.register_prehook(wrong)
    y = x.sin()
    y.kept = node
    return y


def at_a_saved_tensor(x):
    with saved_tensors_hooks(lambda each: each, wrong):
        return x.sin()


@pytest.mark.parametrize("threads", [True, False], ids=["thread", "caller"])
@pytest.mark.parametrize("f", [
    before_a_tensor, before_a_leaf, after_a_leaf, before_a_node, after_a_node, before_the_gradient,
    at_a_saved_tensor,
], ids=lambda each: each.__name__)  # fmt: skip
def test_errors_of_hooks(device, f, threads):
    """The error is that of the hook, in each thread; then all goes on."""
    x = torch.ones(3, device=device, requires_grad=True)
    y = f(x)
    with torch.autograd.set_multithreading_enabled(threads):
        with pytest.raises(ArithmeticError, match="wrong") as caught:
            y.sum().backward()
        assert caught.traceback[-1].name == "wrong"
        other = torch.ones(3, device=device, requires_grad=True)
        assert torch.autograd.grad(other.square().sum(), other)[0].cpu().tolist() == [2, 2, 2]


def test_a_checkpoint_that_computes_something_else(device):
    """PyTorch says so."""
    sizes = iter([3, 2])
    x = torch.ones(3, device=device, requires_grad=True)
    y = checkpoint(lambda x: (x[: next(sizes)] * 2).sin().sum(), x, use_reentrant=False)
    with pytest.raises(CheckpointError, match="different metadata"):
        y.backward()
