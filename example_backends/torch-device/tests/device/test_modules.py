"""All modules of PyTorch, on PyTorch's own inputs of them, forward and backward."""

import pytest

from agreement import examine_module, modules

INPUTS = 3
"""How many inputs of a module run: the first ones, as some modules have hundreds."""
MODULES = modules()


# PyTorch's own warnings, of some of the inputs.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.long
@pytest.mark.parametrize(("info", "training"), MODULES.values(), ids=MODULES)
def test_modules(environment, info, training):
    """Results and gradients are those of the CPU; of random modules, the shapes are."""
    environment.conversions = True
    outcomes = examine_module(environment, info, training, INPUTS)
    assert [reason for outcome, reason in outcomes if outcome == "fails"] == []
