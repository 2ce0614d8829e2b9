"""All modules of PyTorch, on PyTorch's own inputs of them, forward and backward."""

import copy
from itertools import islice

import pytest
import torch
from torch.testing._internal.common_modules import module_db
from torch.utils._pytree import tree_leaves, tree_map_only

INPUTS = 3
"""How many inputs of a module run: the first ones, as some modules have hundreds."""

MODULES = {
    f"{info.name.removeprefix('nn.')}-{'training' if training else 'evaluation'}": (info, training)
    for info in module_db
    for training in ((True, False) if info.train_and_eval_differ else (True,))
}


def results(module, given, place, seed=0):
    """Return a module's results on a device, and all gradients."""

    def leaf(tensor):
        return tensor.detach().to(place, copy=True).requires_grad_(tensor.requires_grad)

    module = copy.deepcopy(module).to(place)
    args, kwargs = tree_map_only(torch.Tensor, leaf, (given.args, given.kwargs))
    torch.manual_seed(seed)
    found = tree_leaves(module(*args, **kwargs))
    outputs = [each for each in found if isinstance(each, torch.Tensor) and each.requires_grad]
    if outputs:
        torch.autograd.backward(outputs, [torch.ones_like(each) for each in outputs])
    inputs = [each for each in tree_leaves((args, kwargs)) if isinstance(each, torch.Tensor)]
    found += [*(each.grad for each in (*inputs, *module.parameters())), *module.buffers()]
    return [each.detach().cpu() if isinstance(each, torch.Tensor) else each for each in found]


# PyTorch's own warnings, of some of the inputs.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.long
@pytest.mark.parametrize(("info", "training"), MODULES.values(), ids=MODULES)
def test_modules(device, environment, info, training):
    """Results and gradients are those of the CPU; of random modules, the shapes are."""
    environment.conversions = True
    given = info.module_inputs_func(
        info, device="cpu", dtype=torch.float64, requires_grad=True, training=training
    )
    for each in islice(given, INPUTS):
        if each.forward_input is None:
            continue
        made = each.constructor_input
        module = info.module_cls(*made.args, **made.kwargs).double().train(training)
        if info.is_lazy:  # its parameters would be drawn by the device
            module(*each.forward_input.args, **each.forward_input.kwargs)
        wanted, other = (results(module, each.forward_input, "cpu", seed) for seed in (0, 1))
        found = results(module, each.forward_input, device)
        is_random = not all(
            torch.equal(a, b) or a.isnan().any()
            for a, b in zip(wanted, other, strict=True)
            if isinstance(a, torch.Tensor)
        )
        if is_random:
            wanted, found = ([getattr(a, "shape", a) for a in each] for each in (wanted, found))
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5, equal_nan=True)
