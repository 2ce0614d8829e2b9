"""A class and two conversions are enough to be a device, and what such a backend may register."""

import re
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn

from torch_device import BackendEnvironment

aten = torch.ops.aten
F = nn.functional


class Box:
    """Data that have neither a shape nor a dtype."""

    __slots__ = ("hidden",)

    def __init__(self, hidden):
        self.hidden = hidden


def to_box(tensor):
    return Box(tensor.detach().numpy().copy())


def from_box(box):
    return torch.from_numpy(np.array(box.hidden))


@pytest.fixture(scope="session")
def made():
    environment = BackendEnvironment("box", Box, to_box, from_box)
    environment.register_default_decompositions()
    return environment


@pytest.fixture(autouse=True)
def environment(made):
    made.report().reset()
    return made


def run_on(device, compute, *tensors):
    """Return results and gradients on a device, as tensors of the CPU."""
    given = [each.detach().to(device).requires_grad_() for each in tensors]
    found = compute(*given)
    gradients = torch.autograd.grad(found.sum(), given) if found.requires_grad else ()
    return [each.detach().cpu() for each in (found, *gradients)]


POSITIVE = torch.tensor([[0.1, 0.4, 0.6], [0.2, 0.9, 0.3]])
COMPUTATIONS = {
    "silu": F.silu,
    "log1p": torch.log1p,
    "tan": torch.tan,
    "asin": torch.asin,
    "expm1": torch.expm1,
    "logaddexp": lambda x: torch.logaddexp(x, x.flip(0)),
    "rms_norm": lambda x: F.rms_norm(x, (3,)),
    "isclose": lambda x: torch.isclose(x, x.flip(0)),
    "pairwise_distance": lambda x: F.pairwise_distance(x, x.flip(0)),
    "complex": lambda x: torch.complex(x[0, 0], x[0, 1]).abs(),
    "views": lambda x: (x.T[1:] @ x[:, ::2]).relu(),
    "double": lambda x: x.to(torch.float64).sum(1),
    "conv1d": lambda x: F.conv1d(x[None], x[None, :, :2], padding=1),
    "conv2d": lambda x: F.conv2d(x[None, None], x[None, None, :, :2], x[0, :1]),
    "conv3d": lambda x: F.conv3d(x[None, None, None], x[None, None, None, :1]),
    "conv_transpose2d": lambda x: F.conv_transpose2d(x[None, None], x[None, None], stride=2),
    "batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
    "avg_pool": lambda x: F.avg_pool2d(x[None], 2, 1, 1),
    "avg_pool-elements": lambda x: F.avg_pool2d(x[None], 2, 2, 1, True, False),
    "avg_pool3d": lambda x: F.avg_pool3d(x[None, None], (1, 2, 2), 2, (0, 1, 1), True),
    "kthvalue": lambda x: x.kthvalue(2, 1).values,
    "median": lambda x: x.median(0, keepdim=True).values,
    "nanmedian": lambda x: (x.log() / 0).nanmedian(),
}


@pytest.mark.parametrize("compute", COMPUTATIONS.values(), ids=COMPUTATIONS)
def test_operators_and_gradients(compute):
    """All run on the CPU without the backend's help, also what PyTorch composes for devices."""
    torch.testing.assert_close(
        run_on("box", compute, POSITIVE), run_on("cpu", compute, POSITIVE), equal_nan=True
    )


def test_writes_through_views():
    x = torch.arange(6.0, device="box").reshape(2, 3)
    x[1:, 0] = 7
    x[:, 2].mul_(2)
    x.view(torch.int32)[0, 1] = 0
    assert x.cpu().tolist() == [[0, 0, 4], [7, 4, 10]]
    assert x[1, 2].item() == 10
    assert torch.equal(x, x.clone())


@pytest.fixture
def registered(environment):
    """Implementations of this test, after which the operators run on the CPU again."""
    names = []

    def register(operator, function):
        names.append(operator)
        return environment.register_op(operator, function)

    yield register
    for each in names:
        environment.register_op(each, lambda *args, **options: NotImplemented)


def test_the_conversion_says_the_shape_of_a_result(environment, registered):
    """Data need no shape and no dtype; the result of an implementation has PyTorch's dtype."""
    registered(aten.mul.Tensor, lambda x, y: Box(x.hidden * getattr(y, "hidden", y)))
    x = torch.arange(6, device="box").reshape(2, 3).clone()
    environment.report().reset()
    assert (x * x).shape == (2, 3)
    assert (x * 2).cpu().tolist() == [[0, 2, 4], [6, 8, 10]]
    found = x.clone()
    found *= 3
    assert found.dtype is torch.int64
    assert "aten:mul" not in str(environment.report())
    assert (x * 0.5).cpu().dtype is torch.float32


WRITING = {
    aten.mul_.Tensor: "aten.mul.Tensor",
    aten.sin.out: "aten.sin.default",
    aten.index_put_.default: "aten.index_put.default",
    aten.normal_.default: "aten.normal_functional.default",
    aten._foreach_add_.List: "aten._foreach_add.List",
    aten._native_batch_norm_legit.default: "aten._native_batch_norm_legit_functional.default",
    aten.native_batch_norm.default: "aten._native_batch_norm_legit_functional.default",
    aten._cummax_helper.default: "register_kernel",
    aten.mul_: "aten.mul.Tensor",
}


@pytest.mark.parametrize(("operator", "instead"), WRITING.items(), ids=map(str, WRITING))
def test_writing_operators_are_refused(environment, operator, instead):
    """Their result would be lost; the message names the functional operator."""
    with pytest.raises(ValueError, match=f"writes into a tensor.*{re.escape(instead)}"):
        environment.register_op(operator, lambda *args: args[0])


OWN = {
    aten.copy_.default: "aten._to_copy.default",
    aten.copy.default: "aten._to_copy.default",
    aten._copy_from.default: "the device itself",
    aten.empty.memory_format: "aten.full.default",
    aten.empty_strided.default: "aten.full.default",
    aten.set_.source_Tensor: "the device itself",
    aten.set.source_Tensor: "the device itself",
    aten.resize_.default: "the device itself",
    aten.resize.default: "the device itself",
    aten.resize_as.default: "the device itself",
    aten.t_.default: "the device itself",
    aten.is_pinned.default: "the device itself",
    aten.view.default: "aten.as_strided.default",
    aten.transpose.int: "aten.as_strided.default",
    aten.detach.default: "aten.as_strided.default",
    aten.alias.default: "aten.as_strided.default",
    aten.split.Tensor: "aten.as_strided.default",
}


@pytest.mark.parametrize(("operator", "instead"), OWN.items(), ids=map(str, OWN))
def test_operators_of_the_device_itself_are_refused(environment, operator, instead):
    """They move data, or share storages: an implementation in terms of data cannot."""
    with pytest.raises(ValueError, match=re.escape(instead)):
        environment.register_op(operator, lambda *args: args[0])
    assert torch.arange(4.0, device="box").reshape(2, 2).T.cpu().tolist() == [[0, 2], [1, 3]]


def test_an_implementation_of_what_is_decomposed(registered):
    """It is called, with PyTorch's own gradient, also after the decompositions are registered."""
    called = []

    def distances(x, y, p, mode=None):
        called.append(p)
        return NotImplemented

    def compute(x):
        return torch.cdist(x, 2 * x, p=3.0)

    wanted = run_on("cpu", compute, POSITIVE)
    torch.testing.assert_close(run_on("box", compute, POSITIVE), wanted)
    registered(aten._cdist_forward.default, distances)
    torch.testing.assert_close(run_on("box", compute, POSITIVE), wanted)
    assert called == [3.0]


def test_copies_with_an_implementation_of_casts(environment, registered):
    """An implementation of `_to_copy` casts within the device; copies between devices remain."""
    dtypes = []

    def to_copy(x, dtype=None):
        dtypes.append(dtype)
        return Box(x.hidden.astype(str(dtype)[6:]))

    registered(aten._to_copy.default, to_copy)
    x = torch.arange(3.0, device="box")
    assert x.cpu().tolist() == [0, 1, 2]
    assert x.to("cpu", torch.int64).tolist() == [0, 1, 2]
    assert torch.ones(2).to("box").cpu().tolist() == [1, 1]
    dtypes.clear()
    environment.report().reset()
    assert x.to(torch.float64).dtype is torch.float64
    assert x.double().requires_grad_().float().cpu().tolist() == [0, 1, 2]
    assert dtypes == [torch.float64, torch.float64, torch.float32]
    assert not environment.report().conversions


def test_reads_and_views_with_implementations(environment, registered):
    """The kernels of the device call these implementations, and convert if they have no answer."""
    registered(aten._local_scalar_dense.default, lambda x: x.hidden.item())
    registered(aten.equal.default, lambda x, y: bool((x.hidden == y.hidden).all()))
    registered(aten.as_strided.default, lambda x, size, stride, offset=0: NotImplemented)
    x = torch.arange(6.0, device="box").reshape(2, 3)
    environment.report().reset()
    assert torch.equal(x, x)
    assert x[1, 1].item() == 4
    assert environment.report().host_reads == {"aten:item": 1, "aten:equal": 1}
    assert set(environment.report().conversions) == {"aten:as_strided"}


def test_new_tensors_if_the_implementation_has_no_answer(registered):
    """They come from the CPU, as for other operators."""
    registered(aten.full.default, lambda size, value, dtype=None: NotImplemented)
    assert torch.empty(2, device="box").shape == (2,)
    assert torch.zeros(2, device="box").cpu().tolist() == [0, 0]


def test_batch_normalization_with_an_implementation(environment, registered):
    """The layer runs the functional operator, and writes its running statistics."""

    def batch_norm(x, weight, bias, mean, var, training, momentum, eps):
        ones = Box(np.ones(3, np.float32))
        return x, ones, ones, Box(mean.hidden + 2), Box(var.hidden * 4)

    registered(aten._native_batch_norm_legit_functional.default, batch_norm)
    net = nn.BatchNorm1d(3).to("box")
    x = torch.arange(6.0).reshape(2, 3)
    assert torch.equal(net(x.to("box")).cpu(), x)
    assert net.running_mean.cpu().tolist() == [2] * 3
    assert net.running_var.cpu().tolist() == [4] * 3


NAMES = [aten.tanh.default, aten.tanh, torch.tanh, "aten::tanh", "aten::tanh.default", [torch.tanh]]


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))  # some texts have addresses
@pytest.mark.parametrize("is_decorator", [True, False], ids=["decorator", "function"])
def test_names_of_an_operator(environment, name, is_decorator):
    """An overload, its packet, PyTorch's function and a text; as a decorator or with a function."""

    def tanh(x):
        return Box(np.full_like(x.hidden, 7))

    found = (
        environment.register_op(name)(tanh) if is_decorator else environment.register_op(name, tanh)
    )
    assert found is tanh
    assert torch.zeros(2, device="box").tanh().cpu().tolist() == [7, 7]
    environment.register_op(aten.tanh.default, lambda x: NotImplemented)
    assert torch.zeros(2, device="box").tanh().cpu().tolist() == [0, 0]


def test_functions_of_modules_are_operators(environment):
    for each in (torch.linalg.inv_ex, F.gelu, torch.special.erfcx):
        environment.register_op(each, lambda *args, **options: NotImplemented)
    assert torch.special.erfcx(torch.zeros(1, device="box")).item() == 1


WRONG = {
    "several-overloads": (aten.add, "aten.add.Scalar or aten.add.Tensor"),
    "several-overloads-of-a-function": (torch.add, "aten.add.Scalar or aten.add.Tensor"),
    "several-overloads-of-a-text": ("aten::add", "aten.add.Scalar or aten.add.Tensor"),
    "composite": (torch.matmul, "lose its gradient"),
    "composite-text": ("aten::matmul", "lose its gradient"),
    "written-in-python": (F.relu, "writes in Python"),
    "not-of-pytorch": (np.tanh, "not an operator"),
    "method": (torch.Tensor.tanh, "not an operator"),
    "no-operator": ("aten::nonsense", "no operator 'aten::nonsense'"),
    "no-overload": ("aten::add.Nonsense", "no operator 'aten::add.Nonsense'"),
    "no-name": ("tanh", "no operator 'tanh'"),
    "empty": ("", "no operator ''"),
    "no-namespace": ("::tanh", "no operator '::tanh'"),
    "other-namespace": ("nonsense::tanh", "no operator 'nonsense::tanh'"),
    "numbers": (aten.tanh.float, "takes no tensors"),
    "none": (None, "not an operator"),
}


@pytest.mark.parametrize(("name", "text"), WRONG.values(), ids=WRONG)
def test_wrong_names_are_refused(environment, name, text):
    with pytest.raises((TypeError, ValueError), match=text):
        environment.register_op(name, lambda x: x)


@pytest.mark.parametrize("function", [aten.sinh.default, 3], ids=["operator", "number"])
def test_what_is_no_implementation_is_refused(environment, function):
    with pytest.raises(TypeError, match="several operators come in a list"):
        environment.register_op(aten.sinh.default, function)


def without_alpha(x, y):
    return Box(x.hidden - getattr(y, "hidden", y))


@pytest.mark.parametrize(
    "compute",
    [lambda x: x - x, lambda x: x - 1, lambda x: x.sub_(x), lambda x: torch.sub(x, x)],
    ids=["tensors", "number", "in-place", "function"],
)
def test_a_type_error_names_the_implementation(registered, compute):
    """PyTorch takes a TypeError of a kernel for NotImplemented, and says nothing of the cause."""
    registered(aten.sub.Tensor, without_alpha)
    with pytest.raises(RuntimeError) as caught:
        compute(torch.ones(2, device="box"))
    text = str(caught.value)
    assert "aten:sub.Tensor" in text
    assert "without_alpha(x, y)" in text
    assert "(self, other, *, alpha=1)" in text
    assert "unexpected keyword argument 'alpha'" in text
    assert isinstance(caught.value.__cause__, TypeError)


def test_a_type_error_of_a_function_without_signature(registered):
    registered(aten.mul.Tensor, np.multiply)
    with pytest.raises(RuntimeError, match=r"aten:mul.Tensor .*<ufunc 'multiply'>"):
        _ = torch.ones(2, device="box") * 2


def test_a_result_that_is_no_data(registered):
    """Also the error of such a result names the operator."""
    registered(aten.mul.Tensor, lambda x, y: None)
    with pytest.raises(RuntimeError, match=r"aten:mul.Tensor .* returned None"):
        _ = torch.ones(2, device="box") * 2


def test_a_type_error_of_a_conversion():
    """An operator without an implementation says so as well."""
    code = """
import torch
from torch_device import BackendEnvironment

def refuse(data):
    raise TypeError("no such values")

BackendEnvironment("listed", list, lambda t: [t], refuse)
x = torch.zeros(2).to("listed")
try:
    x - x
except RuntimeError as error:
    assert "aten:sub" in str(error) and "no such values" in str(error), error
else:
    raise AssertionError
"""
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert not found.returncode, found.stderr


SHARING = """
import numpy as np, torch
from torch_device import BackendEnvironment

environment = BackendEnvironment(
    "twin", np.ndarray, lambda tensor: tensor.detach().numpy(), torch.from_numpy
)
environment.register_default_decompositions()
before = torch.zeros(3)
moved = before.to("twin")
before.add_(1)
print(moved.cpu().tolist())
"""


def test_conversions_may_share_memory():
    """A tensor that moves to the device is a copy, as on other devices."""
    command = [sys.executable, "-c", SHARING]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "[0.0, 0.0, 0.0]\n", done.stderr


@pytest.mark.parametrize(
    "make", [nn.LSTM, nn.GRU, nn.LSTMCell, nn.GRUCell], ids=lambda each: each.__name__
)
def test_recurrent_layers(environment, make):
    """PyTorch calls each cell as one operator, which the CPU does not have."""
    found = []
    for device in ("cpu", "box"):
        torch.manual_seed(0)
        net = make(4, 3).to(device)
        x = torch.randn(5, 4, generator=torch.Generator().manual_seed(1)).to(device)
        x.requires_grad_()
        result = net(x)
        result = result if isinstance(result, torch.Tensor) else result[0]
        result.square().sum().backward()
        gradients = [each.grad.cpu() for each in (x, *net.parameters())]
        found.append([result.detach().cpu(), *gradients])
    torch.testing.assert_close(*found)
