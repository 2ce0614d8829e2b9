"""Errors of steps that are compiled, which name the operator and the line of the program."""

from __future__ import annotations

import os
import traceback

import jax
import torch

import spatch_core
import torch_device


class HostReadError(RuntimeError):
    """A step that is compiled reads values, which only its later runs have."""


_LIBRARIES = tuple(
    os.path.dirname(os.path.abspath(str(each))) + os.sep
    for each in (*(m.__file__ for m in (torch, jax, spatch_core, torch_device)), __file__)
)


def line_of(stack: list[traceback.FrameSummary] | None = None) -> str:
    """Return the innermost line that is not of PyTorch, of JAX or of this package."""
    own = [
        each
        for each in stack or traceback.extract_stack()
        if not each.filename.startswith((*_LIBRARIES, "<kernel of"))
    ]
    if not own:
        return "in a thread"
    text = f": {own[-1].line}" if own[-1].line else ""
    return f"line {own[-1].lineno} of {own[-1].filename}{text}"


def refuse_host_read(identity: str) -> None:
    """Raise the error of an operator that gives values to the host."""
    raise HostReadError(
        f"{identity} reads values, {line_of()}\n"
        "A step that is compiled has none. Leave the value on the device, or read it after the step"
    )


def explained(error: Exception) -> HostReadError:
    """Return the error for an implementation that needs values of what JAX traces."""
    # Below the caller's lines, for a step that has no line of its own, such as `torch.nonzero`.
    stack = [*traceback.extract_stack(), *traceback.extract_tb(error.__traceback__)]
    kernels = [each.filename for each in stack if each.filename.startswith("<kernel of ")]
    identity = kernels[-1][11:-1] if kernels else "the step"
    return HostReadError(
        f"{identity} needs values, {line_of(stack)}\n"
        "A step that is compiled has none: neither shapes nor branches can depend on them"
    )
