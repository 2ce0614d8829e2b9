"""Attacks on `jax_jit`: what must not happen in a step that is compiled, and around one."""

# ruff: noqa: PLW0108, BLE001
from __future__ import annotations

import copy
import gc
import io
import pickle
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
from attacks import refused, same, survives
from torch import nn

ATTACKS: dict[str, Callable[[str, torch.Tensor], None]] = {}


def attack(function: Any) -> Any:
    ATTACKS[function.__name__] = function
    return function


def compiled(step: Any, *args: Any) -> Any:
    """Return a step after its first run, which is no compiled one."""
    from torch_device import jax_jit

    made = jax_jit(step)
    made(*args)
    return made


@attack
def host_reads_in_a_step(device, x):
    file = io.BytesIO()
    for step in (
        lambda x: x.sum().item() + x,
        lambda x: x if x.sum() > 0 else -x,
        lambda x: x.tolist() and x,
        lambda x: repr(x) and x,
        lambda x: x[x > 2],
        lambda x: x.cpu(),
        lambda x: torch.equal(x, x) and x,
        lambda x: pickle.dumps(x) and x,
        lambda x: torch.save(x, file) or x,
        lambda x: list(x.untyped_storage()) and x,
        lambda x: x.storage().tolist() and x,
        lambda x: x.untyped_storage().cpu() and x,
        lambda x: torch.unique(x),
        lambda x: torch.nonzero(x),
        lambda x: x[0].repeat_interleave(x[0].long()),
        lambda x: torch.geqrf(x)[0],
    ):
        made = compiled(step, x)
        for _ in range(2):
            refused(made, x)
        same(x, [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    for step in (
        lambda x: x.numpy(),
        lambda x: memoryview(x),
        lambda x: x.__dlpack__(),
        lambda x: x.data_ptr() and x,
        lambda x: x.untyped_storage().data_ptr() and x,
        lambda x: int(x.sum()) * x,
        lambda x: range(9)[x[0, 0].long()] * x,
        lambda x: x.share_memory_(),
        lambda x: hash(x) and x,
    ):
        survives(lambda step=step: compiled(step, x)(x))
    same(x, [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])


@attack
def changes_of_tensors_in_a_step(device, x):
    for step in (
        lambda x: copy.deepcopy(x) * 2,
        lambda x: copy.deepcopy(x.untyped_storage()) and x,
        lambda x: x.clone().resize_(5),
        lambda x: x.resize_(1, 2) + 1,
        lambda x: x.clone().resize_(4, 4),
        lambda x: x.set_(x.clone()),
        lambda x: x.clone().set_(x.untyped_storage(), 0, (2,), (1,)),
        lambda x: x.T[1:].add_(1) and x,
        lambda x: x.view(-1)[::2].mul_(2),
        lambda x: x.as_strided((9, 9), (1, 1)),
        lambda x: x.clone().as_strided_((2, 2), (1, 2)),
        lambda x: x.t_(),
        lambda x: x.squeeze_(),
        lambda x: setattr(x, "data", x.clone() + 1) or x,
        lambda x: x.requires_grad_().sum().backward(),
        lambda x: torch.utils.swap_tensors(x, x.clone()) or x,
        lambda x: x.untyped_storage().resize_(0) or x,
        lambda x: torch.func.vmap(torch.func.grad(lambda y: y.sin().sum()))(x),
        lambda x: gc.collect() * 0 + x,
        lambda x: torch.manual_seed(0) and torch.rand(2, device=device) + x[0, :2],
        lambda x: [x, x, x.T, None, 3, "text"],
        lambda x: None,
        lambda x: object(),
    ):
        given = x.clone()
        survives(lambda step=step, given=given: compiled(step, given))
        survives(lambda step=step, given=given: [compiled(step, given)(given) for _ in range(3)])
        survives(repr, given)


@attack
def what_a_step_leaks(device, x):
    leaked: list[Any] = []

    def step(y):
        leaked.append(y * 2)
        leaked.append(leaked[-1].T)
        return y + 1

    survives(lambda: compiled(step, x)(x))
    gc.collect()
    for each in leaked:
        for use in (repr, copy.deepcopy, pickle.dumps, torch.sum, lambda y: y.add_(1),
                    lambda y: y.cpu(), lambda y: y + x, lambda y: y.resize_(1)):  # fmt: skip
            survives(use, each)
    leaked.clear()
    gc.collect()
    same(x, [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])


@attack
def errors_in_a_step(device, x):
    weight = torch.ones(3, device=device, requires_grad=True)
    for error in (ValueError("mine"), KeyboardInterrupt(), SystemExit(3), MemoryError()):
        runs: list[int] = []

        def step(y, error=error, runs=runs):
            with torch.no_grad():
                weight.mul_(2)
            runs.append(1)
            if len(runs) > 1:
                raise error
            return y + weight.detach()

        made = compiled(step, x)
        before = weight.detach().cpu()
        with pytest.raises(type(error)):
            made(x)
        assert torch.equal(weight.detach().cpu(), before)
        (weight * x).sum().backward()
    survives(lambda: compiled(lambda y: step_of_itself(y), x)(x))
    # After all of these, steps compile.
    same(compiled(lambda y: y + 1, x)(x), [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def step_of_itself(y: torch.Tensor) -> torch.Tensor:
    return step_of_itself(y + 1)


@attack
def steps_in_steps(device, x):
    inner = compiled(lambda y: y * 2, x)
    survives(lambda: compiled(lambda y: inner(y) + 1, x)(x))
    inner(x)
    survives(lambda: compiled(lambda y: inner(y) + 1, x)(x))
    survives(copy.deepcopy, inner)
    survives(pickle.dumps, inner)
    survives(lambda: torch.func.vmap(inner)(x))
    survives(lambda: torch.func.grad(lambda y: inner(y).sum())(x))
    survives(lambda: inner(x.clone().requires_grad_()).sum().backward())
    for given in ((), (3,), (x.cpu(),), (x.to("meta"),), (None,), (x, x.cpu()), ([x],)):
        survives(inner, *given)
    survives(lambda: torch.compile(inner, backend="eager")(x))


@attack
def parameters_that_change_between_runs(device, x):
    def change(net, what):
        weight = net.weight
        with torch.no_grad():
            what(weight)

    for what in (
        lambda w: w.resize_(2, 2),
        lambda w: setattr(w, "data", torch.ones(3, 3, device=device, dtype=torch.float64)),
        lambda w: setattr(w, "data", torch.ones(5, device=device)),
        lambda w: setattr(w, "data", w.data.cpu()),
        lambda w: w.set_(torch.ones(3, 3, device=device)),
        lambda w: w.set_(),
        lambda w: setattr(w, "grad", None),
        lambda w: setattr(w, "grad", torch.ones(3, 3, device=device)),
        lambda w: w.untyped_storage().cell.array.delete(),
        lambda w: delattr(w.untyped_storage(), "cell"),
    ):
        net = nn.Linear(3, 3).to(device)

        def step(y, net=net):
            net.zero_grad()
            loss = net(y).square().sum()
            loss.backward()
            with torch.no_grad():
                net.weight.sub_(net.weight.grad * 0.01)
            return loss.detach()

        made = compiled(step, x)
        made(x)
        survives(lambda net=net, what=what: change(net, what))
        survives(made, x)
        survives(made, x[:1])
        survives(repr, net.weight)
        survives(copy.deepcopy, net)


@attack
def steps_in_threads(device, x):
    weight = torch.ones(3, device=device)
    one = compiled(lambda y: (y + weight).sin(), x)
    one(x)
    problems: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for _ in range(10):
                one(x)
                weight.add_(0)
                survives(lambda: compiled(lambda y: y * number, x)(x))
                (x.clone().requires_grad_() * 2).sum().backward()
        except BaseException as error:
            problems.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    workers = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    sys.setswitchinterval(interval)
    assert not problems, problems
    same(compiled(lambda y: y * weight, x)(x), [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])


@attack
def deleted_arrays(device, x):
    y = x + 1  # a copy would share the array
    y.untyped_storage().cell.array.delete()
    for use in (repr, pickle.dumps, lambda y: y + 1, lambda y: y.cpu()):
        refused(use, y)
    for use in (copy.deepcopy, lambda y: y.add_(1), lambda y: y[0] * 2, lambda y: y.resize_(9)):
        survives(use, y)
    y.data = x
    same(y, [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
