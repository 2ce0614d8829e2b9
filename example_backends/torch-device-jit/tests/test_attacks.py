"""What must not end the process, in a step that is compiled and around one: results or errors."""

import copy
import gc
import io
import pickle
import threading

import pytest
import torch
from torch import nn

from torch_device_jit import jax_jit

ERRORS = (
    *(RuntimeError, TypeError, ValueError, NotImplementedError, BufferError, AttributeError),
    *(LookupError, AssertionError),
)
VALUES = [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


@pytest.fixture
def x(environment):
    return torch.arange(6.0).reshape(2, 3).to("jax")


def survives(function, *args):
    """Call what may raise an ordinary error, or not."""
    try:
        repr(function(*args))
    except ERRORS:
        return


def compiled(step, *args):
    """Return a step after its first run, which is no compiled one."""
    made = jax_jit(step)
    made(*args)
    return made


STEPS = {
    "data_ptr": lambda x: x.data_ptr() and x,
    "memoryview": memoryview,
    "dlpack": lambda x: x.__dlpack__(),
    "share": lambda x: x.share_memory_(),
    "file": lambda x: torch.save(x, io.BytesIO()) or x,
    "deepcopy": lambda x: copy.deepcopy(x) * 2,
    "resize": lambda x: x.clone().resize_(5),
    "resize-argument": lambda x: x.resize_(1, 2) + 1,
    "set": lambda x: x.set_(x.clone()),
    "views": lambda x: x.view(-1)[::2].mul_(2) and x.T[1:].add_(1),
    "beyond": lambda x: x.as_strided((9, 9), (1, 1)),
    "layout": lambda x: x.t_(),
    "data": lambda x: setattr(x, "data", x.clone() + 1) or x,
    "requires_grad": lambda x: x.requires_grad_().sum().backward(),
    "swap": lambda x: torch.utils.swap_tensors(x, x.clone()) or x,
    "vmap": torch.func.vmap(torch.func.grad(lambda y: y.sin().sum())),
    "seed": lambda x: torch.manual_seed(0) and torch.rand(2, device="jax") + x[0, :2],
    "results": lambda x: [x, x.T, None, 3, "text", object()],
}


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_odd_steps(x, step):
    given = x.clone()
    survives(lambda: [compiled(step, given)(given) for _ in range(2)])
    survives(repr, given)
    assert x.cpu().tolist() == VALUES


def test_what_a_step_leaks(x):
    """A tensor of the trace that outlives it raises, and holds nothing up."""
    leaked = []

    def step(y):
        leaked.extend([y * 2, (y * 2).T])
        return y + 1

    survives(lambda: compiled(step, x)(x))
    gc.collect()
    for each in leaked:
        for use in (repr, copy.deepcopy, pickle.dumps, torch.sum, lambda y: y.add_(1),
                    lambda y: y.cpu(), lambda y: y + x, lambda y: y.resize_(1)):  # fmt: skip
            survives(use, each)
    assert x.cpu().tolist() == VALUES


@pytest.mark.parametrize("error", [ValueError("1"), KeyboardInterrupt(), SystemExit(3)], ids=repr)
def test_errors_in_a_step(x, error):
    """They are raised; what the step had changed before is as it was, and steps compile again."""
    weight = torch.ones(3, device="jax")
    runs = []

    def step(y):
        weight.mul_(2)
        runs.append(1)
        if len(runs) > 1:
            raise error
        return y + weight

    made = compiled(step, x)
    with pytest.raises(type(error)):
        made(x)
    assert weight.cpu().tolist() == [2, 2, 2]
    step = compiled(lambda y: y + 1, x)
    assert step(x).cpu().tolist() == [[1, 2, 3], [4, 5, 6]]


CALLS = {
    "step": lambda inner, x: compiled(lambda y: inner(y) + 1, x)(x),
    "deepcopy": lambda inner, x: copy.deepcopy(inner),
    "pickle": lambda inner, x: pickle.dumps(inner),
    "vmap": lambda inner, x: torch.func.vmap(inner)(x),
    "gradient": lambda inner, x: torch.func.grad(lambda y: inner(y).sum())(x),
    "backward": lambda inner, x: inner(x.clone().requires_grad_()).sum().backward(),
    "dynamo": lambda inner, x: torch.compile(inner, backend="eager")(x),
    "nothing": lambda inner, x: inner(),
    "number": lambda inner, x: inner(3),
    "cpu": lambda inner, x: inner(x.cpu()),
    "meta": lambda inner, x: inner(x.to("meta")),
    "mixture": lambda inner, x: inner(x, x.cpu()),
    "list": lambda inner, x: inner([x]),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_odd_calls(x, call):
    survives(call, compiled(lambda y: y * 2, x), x)


CHANGES = {
    "resize": lambda w: w.resize_(2, 2),
    "dtype": lambda w: setattr(w, "data", w.data.double()),
    "shape": lambda w: setattr(w, "data", torch.ones(5, device="jax")),
    "device": lambda w: setattr(w, "data", w.data.cpu()),
    "set": lambda w: w.set_(),
    "gradient": lambda w: setattr(w, "grad", torch.ones(3, 3, device="jax")),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_parameters_that_change_between_runs(x, change):
    net = nn.Linear(3, 3).to("jax")

    def step(y):
        net.zero_grad()
        loss = net(y).square().sum()
        loss.backward()
        with torch.no_grad():
            net.weight.sub_(net.weight.grad * 0.01)
        return loss.detach()

    made = compiled(step, x)
    made(x)
    with torch.no_grad():
        survives(change, net.weight)
    for use in (lambda: made(x), lambda: made(x[:1]), lambda: repr(net.weight)):
        survives(use)


def test_threads(x):
    """Steps that are compiled beside others, and beside gradients, are as they are alone."""
    weight, problems = torch.ones(3, device="jax"), []
    one = compiled(lambda y: (y + weight).sin(), x)
    one(x)

    def work(number):
        try:
            for _ in range(5):
                one(x)
                weight.add_(0)
                survives(lambda: compiled(lambda y: y * number, x)(x))
                (x.clone().requires_grad_() * 2).sum().backward()
        except BaseException as error:  # noqa: BLE001
            problems.append(error)

    workers = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert not problems, problems
    assert compiled(lambda y: y * weight, x)(x).cpu().tolist() == VALUES
