"""Parameters stay the same objects when their module moves to the device, or away from it.

Between the CPU and CUDA, PyTorch changes the parameters of a module themselves. Where either side
is a device like this one, it makes new parameters: weights that modules share become several, and
an optimizer keeps those that nothing uses any more. Its switch
`torch.__future__.set_swap_module_params_on_conversion` is for all modules of the process, and for
`load_state_dict` too; it refuses parameters that a graph holds, as those of `weight_norm`.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

if TYPE_CHECKING:
    from collections.abc import Callable


def keep_parameters(name: str) -> None:
    """Let modules keep their parameters when these move to a device, or away from it."""
    kind: Any = nn.Module
    original = kind._apply

    @functools.wraps(original)
    def apply(module: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(module._parameters.items())
        try:
            return original(module, *args, **kwargs)
        finally:  # also of a module with a parameter that cannot move
            if not torch.__future__.get_overwrite_module_params_on_conversion():
                for key, old in before.items():
                    new = module._parameters[key]
                    if new is not old and name in (old.device.type, new.device.type):
                        _become(old, new)
                        module._parameters[key] = old

    kind._apply = apply


def _become(old: Any, new: Any) -> None:
    """Exchange what two parameters are, and keep what the program has put on the old one."""
    is_lazy = nn.parameter.is_lazy(old)
    if old.requires_grad and not (
        is_lazy or old.is_inference() or torch.is_inference_mode_enabled()
    ):  # else no graph holds it
        # A live graph refers to what the old parameter was: its gradient would be lost there.
        node: Any = torch.autograd.graph.get_gradient_edge(old).node
        node.register_prehook(_refusing(str(old.device), str(new.device)))
    gradient, new_gradient = old.grad, new.grad
    torch._C._swap_tensor_impl(old, new)
    if gradient is not None and new_gradient is not None:
        torch._C._swap_tensor_impl(gradient, new_gradient)
    for hooks in ("_backward_hooks", "_post_accumulate_grad_hooks"):
        if getattr(old, hooks) is not None:
            setattr(old, hooks, getattr(old, hooks))  # tells autograd, which has exchanged them


def _refusing(old: str, new: str) -> Callable[..., Any]:
    def refuse(gradients: Any) -> Any:
        raise RuntimeError(
            f"a parameter has moved from {old!r} to {new!r} after the forward pass, and its "
            "gradient would be lost: move the module before the forward pass"
        )

    return refuse
