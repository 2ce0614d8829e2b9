"""Runs attacks on a device in processes that are forked from one that has PyTorch.

    python tests/attacks.py jax             # names, status and last words of all as JSON
    python tests/attacks.py jax threads     # one of them
    python tests/attacks.py npy --shared 8  # eight in a process, as far as they leave it as it was

An attack fails if its process dies by a signal, or if a statement of it does.
"""

# Looking a method up is a part of the attack.
# ruff: noqa: PLW0108
from __future__ import annotations

import argparse
import contextlib
import copy
import ctypes
import faulthandler
import gc
import importlib
import io
import json
import os
import pickle
import resource
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

ATTACKS: dict[str, Callable[[str, torch.Tensor], None]] = {}
ERRORS = (RuntimeError, TypeError, ValueError, NotImplementedError, BufferError, AttributeError)


def attack(function: Any) -> Any:
    ATTACKS[function.__name__] = function
    return function


def refused(function: Any, *args: Any, **kwargs: Any) -> None:
    """Call what must raise an ordinary error."""
    try:
        found = function(*args, **kwargs)
    except ERRORS:
        return
    raise AssertionError(f"{function} was not refused: {found!r}")


def survives(function: Any, *args: Any, **kwargs: Any) -> None:
    """Call what may raise an ordinary error, or not."""
    try:
        repr(function(*args, **kwargs))
    except (*ERRORS, LookupError, AssertionError, ImportError, EOFError, MemoryError):
        return


def same(x: torch.Tensor, values: Any) -> None:
    assert x.cpu().tolist() == values, (x, values)


VALUES = [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


@attack
def deepcopy_of_tensors(device, x):
    made = copy.deepcopy([x, x.T, x[1], x.detach(), x.clone().requires_grad_()])
    same(made[1], [[0, 3], [1, 4], [2, 5]])
    made[0].zero_()
    same(made[1], [[0, 0]] * 3)
    same(x, VALUES)
    made = copy.copy(x)
    same(made, VALUES)


@attack
def deepcopy_of_storages(device, x):
    made = copy.deepcopy(x.untyped_storage())
    del x
    gc.collect()
    repr(made)
    survives(copy.deepcopy, made)


@attack
def deepcopy_of_what_autograd_made(device, x):
    leaf = x.clone().requires_grad_()
    (leaf * 2).sum().backward()
    made = copy.deepcopy(leaf)
    same(made.grad, [[2.0] * 3] * 2)
    refused(copy.deepcopy, leaf * 2)


@attack
def deepcopy_of_modules_and_optimizers(device, x):
    net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3)).to(device)
    optimizer = torch.optim.Adam(net.parameters())
    net(x).sum().backward()
    optimizer.step()
    nets, others = copy.deepcopy((net, optimizer))
    others.zero_grad()
    nets(x).sum().backward()
    others.step()
    net.load_state_dict(nets.state_dict())
    optimizer.load_state_dict(copy.deepcopy(others.state_dict()))


@attack
def pickles_of_every_protocol(device, x):
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        found = pickle.loads(pickle.dumps([x, x.T], protocol))
        same(found[1], [[0, 3], [1, 4], [2, 5]])
        assert found[0].device.type == device


@attack
def pickles_of_storages(device, x):
    survives(pickle.dumps, x.untyped_storage())
    survives(lambda: pickle.loads(pickle.dumps(x.untyped_storage())))
    survives(lambda: pickle.loads(pickle.dumps(x.storage())))
    survives(lambda: pickle.dumps(copy.deepcopy(x.untyped_storage())))


@attack
def pickles_of_parameters_and_odd_layouts(device, x):
    for each in (torch.nn.Parameter(x), x[:, 1], x[1:, ::2], x.expand(4, 2, 3), x[:0]):
        found = pickle.loads(pickle.dumps(each))
        assert torch.equal(found.cpu(), each.cpu())
        assert type(found) is type(each)


@attack
def files(device, x):
    for new in (True, False):
        file = io.BytesIO()
        torch.save({"x": x, "t": x.T, "b": x > 1}, file, _use_new_zipfile_serialization=new)
        for options in ({}, {"map_location": "cpu"}, {"map_location": device},
                        {"weights_only": True}, {"map_location": "meta"},
                        {"map_location": lambda storage, place: storage}):  # fmt: skip
            file.seek(0)
            survives(torch.load, file, **options)
        file.seek(0)
        found = torch.load(file)
        same(found["t"], [[0, 3], [1, 4], [2, 5]])


@attack
def files_that_are_mapped(device, x):
    with tempfile.NamedTemporaryFile() as file:
        torch.save(x, file.name)
        survives(torch.load, file.name, mmap=True)
        survives(torch.load, file.name, mmap=True, map_location="cpu")


@attack
def files_cut_short(device, x):
    file = io.BytesIO()
    torch.save(x, file)
    for count in (0, 10, 200, len(file.getvalue()) - 30):
        survives(torch.load, io.BytesIO(file.getvalue()[:count]))


@attack
def set_to_storages(device, x):
    y = torch.empty(0, device=device)
    y.set_(x.untyped_storage(), 1, (2, 2), (2, 1))
    same(y, [[1, 2], [3, 4]])
    y.set_(x.untyped_storage())
    assert y.shape == (6,)
    y.set_(x)
    y.set_()
    assert y.shape == (0,)
    refused(y.set_, x.untyped_storage(), 0, (100,), (1,))
    survives(y.set_, x.untyped_storage(), 0, (2,), (-1,))
    survives(y.set_, x.untyped_storage(), -1, (2,), (1,))


@attack
def set_across_devices(device, x):
    survives(x.clone().set_, torch.zeros(3))
    survives(x.clone().set_, torch.zeros(3).untyped_storage())
    survives(x.clone().set_, torch.UntypedStorage(16))
    survives(torch.zeros(3).set_, x)
    survives(torch.zeros(3).set_, x.untyped_storage())
    survives(torch.zeros(3).set_, x.untyped_storage(), 0, (2,), (1,))
    y = torch.zeros(3)
    survives(y.set_, x.untyped_storage(), 0, (6,), (1,))
    repr(y)


@attack
def data_of_another_device(device, x):
    y, z = x.clone(), torch.zeros(3)
    survives(setattr, y, "data", torch.zeros(3))
    survives(lambda: y + y)
    repr(y)
    survives(setattr, z, "data", x)
    survives(lambda: z + z)
    repr(z)
    y = x.clone()
    y.data = x.T
    same(y, [[0, 3], [1, 4], [2, 5]])
    y.data = y.data[1:]
    same(y + 0, [[1, 4], [2, 5]])
    y.mul_(2)
    same(x, [[0, 2, 4], [3, 8, 10]])


@attack
def resize(device, x):
    y = x.clone()
    y.resize_(4)
    same(y, [0, 1, 2, 3])
    y.resize_(3, 4)
    assert (y + 1).shape == (3, 4)
    y.resize_(0)
    repr(y.resize_as_(x))
    refused(y.resize_, -1)
    survives(y.resize_, 2**40)
    z = x.T
    z.resize_(2, 2)
    repr(z + 1)
    refused(lambda: x.clone().requires_grad_().resize_(7, 7))
    survives(lambda: x.view(2, 3).resize_(1, 2, 3))


@attack
def transposed_in_place(device, x):
    y = x.clone()
    y.t_()
    same(y + 0, [[0, 3], [1, 4], [2, 5]])
    y.transpose_(0, 1)
    same(y * 1, VALUES)
    y.unsqueeze_(0).squeeze_()
    same(y, VALUES)
    y.as_strided_((2,), (3,), 1)
    same(y + 0, [1, 4])
    y.swapaxes_(0, 0)
    y.add_(1)
    same(y, [2, 5])
    survives(y.as_strided_, (100,), (1,), 0)
    survives(lambda: y + 1)
    repr(y)


@attack
def beyond_the_storage(device, x):
    for each in (
        lambda: x.as_strided((100, 100), (100, 1)),
        lambda: x.as_strided((2,), (1,), 1000),
        lambda: x.as_strided((2,), (-1,), 0),
        lambda: x.as_strided((2, 2), (2**40, 1)),
        lambda: x.unfold(0, 5, 1),
        lambda: x.view(2**50),
        lambda: x[1:].as_strided((6,), (1,)),
    ):
        survives(lambda each=each: each() + 1)
        survives(lambda each=each: each().fill_(3))
        survives(lambda each=each: each().cpu())


@attack
def storages(device, x):
    storage = x.untyped_storage()
    assert len(storage) == storage.nbytes() == storage.size() == 24
    assert storage.tolist() == x.cpu().untyped_storage().tolist()
    assert storage[5] == x.cpu().untyped_storage()[5]
    repr(storage)
    survives(lambda: storage[100])
    survives(lambda: storage[2:5])
    survives(lambda: list(storage))
    survives(lambda: bytes(storage))
    for each in (
        lambda: storage.__setitem__(0, 1),
        lambda: storage.fill_(1),
        lambda: storage.resize_(0),
        lambda: storage.resize_(100),
        lambda: storage.copy_(torch.UntypedStorage(24)),
        lambda: storage.share_memory_(),
        lambda: storage.pin_memory(),
        lambda: storage.cuda(),
        lambda: storage.byteswap(torch.float32),
        lambda: storage.to(device="cpu"),
        lambda: storage.to(device="meta"),
        lambda: storage.type("torch.FloatStorage"),
        lambda: storage.clone(),
        lambda: storage.float(),
        lambda: storage.is_pinned(),
        lambda: storage.is_shared(),
        lambda: storage.hex(),
        lambda: storage.new(),
        lambda: storage._share_fd_cpu_(),
        lambda: storage._shared_decref(),
        lambda: storage._weak_ref(),
        lambda: storage._write_file(io.BytesIO(), True, True, 4),
        lambda: storage.copy_(storage),
        lambda: torch.UntypedStorage(8).copy_(storage),
        lambda: torch.UntypedStorage(24).copy_(storage),
        lambda: type(storage)(4),
        lambda: type(storage)(4, device=device),
        lambda: torch.UntypedStorage(4, device=device),
        lambda: torch.UntypedStorage(4, device=device)[0],
        lambda: torch.UntypedStorage(4, device=device).fill_(1),
        lambda: torch.UntypedStorage(4, device=device).resize_(100),
        lambda: torch.UntypedStorage(4, device=device).tolist(),
        lambda: torch.tensor([], device=device).set_(torch.UntypedStorage(4, device=device)),
        lambda: torch.UntypedStorage._new_with_file(io.BytesIO(), 4),
        lambda: storage.mps(),
        lambda: storage.untyped(),
    ):
        survives(each)
    same(x, VALUES)


@attack
def odd_uses(device, x):
    survives(lambda: x.untyped_storage().fill_(0))
    survives(lambda: hash(x.untyped_storage()))
    survives(lambda: x.untyped_storage().is_shared())
    survives(x.type)
    survives(x.type, "torch.FloatTensor")
    survives(lambda: torch.zeros(2, device="meta").to(device))
    same(x, VALUES)


@attack
def typed_storages(device, x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        storage = x.storage()
        for each in (
            lambda: storage[0],
            lambda: storage.__setitem__(0, 4.0),
            lambda: storage.tolist(),
            lambda: storage.data_ptr(),
            lambda: storage.fill_(1),
            lambda: storage.resize_(100),
            lambda: storage.size(),
            lambda: storage.clone(),
            lambda: storage.cpu(),
            lambda: storage.double(),
            lambda: storage.to(device="cpu"),
            lambda: copy.deepcopy(storage),
            lambda: storage.share_memory_(),
            lambda: torch.FloatStorage(wrap_storage=x.untyped_storage()),
            lambda: torch.TypedStorage(4, dtype=torch.float32, device=device),
            lambda: torch.TypedStorage(4, dtype=torch.float32, device=device)[0],
        ):
            survives(each)


@attack
def storages_outlive_tensors(device, x):
    storage = (x + 1).untyped_storage()
    gc.collect()
    assert storage.nbytes() == 24
    y = torch.empty(0, device=device).set_(storage)
    del storage
    gc.collect()
    same(y.view(-1), [1, 2, 3, 4, 5, 6])
    reference = weakref.ref(y.untyped_storage())
    del y
    gc.collect()
    repr(reference())


@attack
def storage_without_its_cell(device, x):
    y = x.clone()
    survives(delattr, y.untyped_storage(), "cell")
    survives(lambda: y + 1)
    survives(lambda: y.add_(1))
    survives(lambda: y.cpu())
    survives(lambda: repr(y))
    y = x.clone()
    survives(setattr, y.untyped_storage(), "__class__", torch.UntypedStorage)
    survives(lambda: y + 1)
    survives(lambda: y.untyped_storage()[0])
    survives(lambda: y.untyped_storage().tolist())
    survives(lambda: y.untyped_storage().fill_(1))
    survives(lambda: repr(y))
    y = x.clone()
    y.untyped_storage().__dict__.clear()
    survives(lambda: y + 1)
    survives(lambda: y.untyped_storage().nbytes())
    survives(lambda: pickle.dumps(y))
    survives(lambda: copy.deepcopy(y))


@attack
def addresses(device, x):
    assert x.data_ptr() == 0
    survives(lambda: x.untyped_storage().data_ptr())
    survives(lambda: x.const_data_ptr())
    survives(lambda: x.__cuda_array_interface__)
    survives(lambda: torch._C._get_tensor_metadata(x))
    survives(lambda: torch._C._construct_storage_from_data_pointer(0, x.device, 16))


@attack
def arrays(device, x):
    refused(x.numpy)
    survives(lambda: x.numpy(force=True))
    survives(np.asarray, x)
    survives(np.array, x, copy=False)
    survives(lambda: x.__array__())
    survives(lambda: np.add(x, 1))
    survives(lambda: np.ones((2, 3)) + x)
    survives(lambda: np.ones((2, 3)) @ x.T)
    survives(memoryview, x)
    survives(bytes, x)
    survives(lambda: np.frombuffer(x, np.float32))
    survives(lambda: ctypes.c_float.from_buffer(x))
    survives(lambda: torch.frombuffer(x, dtype=torch.float32))
    survives(lambda: x.__array_interface__)
    survives(lambda: torch.asarray(np.ones(2), device=device))
    survives(lambda: torch.from_numpy(np.ones(2)).to(device) + 1)
    survives(lambda: torch.tensor(x))
    survives(lambda: torch.as_tensor([x[0, 0], x[0, 1]]))
    survives(lambda: torch.tensor([x[0, 0], 2.0], device=device))


@attack
def dlpack(device, x):
    for each in (x, x.T, x[:0], x.clone().requires_grad_(), x > 1):
        survives(torch.utils.dlpack.to_dlpack, each)
        survives(lambda each=each: torch.utils.dlpack.from_dlpack(each))
        survives(lambda each=each: torch.from_dlpack(each))
        survives(lambda each=each: np.from_dlpack(each))
        survives(lambda each=each: each.__dlpack__())
        survives(lambda each=each: each.__dlpack__(stream=1))
        survives(lambda each=each: each.__dlpack__(max_version=(1, 0), copy=True))
        survives(lambda each=each: each.__dlpack_device__())
        survives(lambda each=each: torch._C._to_dlpack(each))
        survives(lambda each=each: torch.from_dlpack(torch._C._to_dlpack(each)) + 1)


@attack
def printing(device, x):
    names = (
        *("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"),
        *("bfloat16", "complex32", "complex64", "complex128", "uint16", "uint32", "uint64"),
        *("float8_e4m3fn", "float8_e5m2", "quint8", "qint32", "bits8", "uint4", "int4"),
    )
    for name in names:
        dtype = getattr(torch, name)
        survives(lambda dtype=dtype: torch.zeros(2, dtype=dtype, device=device))
        survives(lambda dtype=dtype: torch.empty(2, dtype=dtype, device=device))
        survives(lambda dtype=dtype: torch.ones(2, dtype=dtype).to(device))
        survives(lambda dtype=dtype: x.to(dtype))
        survives(lambda dtype=dtype: x.view(dtype))
        survives(lambda dtype=dtype: x.view(dtype).fill_(1))
    for each in (
        x[:0], x[0, 0], x.expand(1000, 2, 3), x * float("nan"), x / 0, x.T, x.requires_grad_(),
        torch.nn.Parameter(x), torch.zeros(3, 0, 2, device=device), x.to("meta"),
        torch.nn.Linear(2, 2).to(device), x.untyped_storage(), x.dtype, x.device, x.shape,
    ):  # fmt: skip
        repr(each), str(each), f"{each}"
    torch.set_printoptions(precision=2, sci_mode=True)
    repr(x)


@attack
def other_layouts(device, x):
    for each in (
        lambda: x.to_sparse(),
        lambda: x.to_sparse_csr(),
        lambda: x.to_sparse(1),
        lambda: x.to_mkldnn(),
        lambda: torch.sparse_coo_tensor([[0, 1]], [1.0, 2.0], device=device),
        lambda: torch.sparse_coo_tensor(torch.zeros(1, 2, dtype=torch.int64), x[0, :2]),
        lambda: torch.sparse_csr_tensor([0, 1], [0], [1.0], device=device),
        lambda: torch.zeros(2, layout=torch.sparse_coo, device=device),
        lambda: torch.quantize_per_tensor(x, 0.1, 0, torch.quint8),
        lambda: torch.quantize_per_channel(x, x[0], x[0], 1, torch.quint8),
        lambda: torch._empty_affine_quantized([2], scale=1.0, dtype=torch.quint8, device=device),
        lambda: torch.fake_quantize_per_tensor_affine(x, 0.1, 0, 0, 255),
        lambda: torch.nested.nested_tensor([x[0], x[1]]),
        lambda: torch.nested.nested_tensor([x[0], x[1]], layout=torch.jagged),
        lambda: torch.nested.nested_tensor([[1.0], [2.0, 3.0]], device=device),
        lambda: torch.nested.as_nested_tensor([x[0], x[1]]) * 2,
        lambda: x.rename("a", "b"),
        lambda: x.rename("a", "b") + 1,
        lambda: x.refine_names("a", "b").sum("a"),
        lambda: x.to(memory_format=torch.channels_last),
        lambda: torch.ones(1, 2, 3, 4, device=device).to(memory_format=torch.channels_last) + 1,
        lambda: torch.ones(1, 2, 3, 4, device=device).contiguous(memory_format=torch.channels_last),
        lambda: x.pin_memory(),
        lambda: torch.zeros(2, pin_memory=True, device=device),
        lambda: x.share_memory_(),
        lambda: x.is_shared(),
        lambda: x.is_pinned(),
        lambda: x.cuda(),
        lambda: x.to("meta") + 1,
        lambda: x.to(f"{device}:1"),
        lambda: torch.zeros(2, device=f"{device}:7"),
        lambda: x.to("cuda"),
        lambda: x.to("xla"),
        lambda: x.record_stream(None),
        lambda: torch.sparse.mm(x, x.T),
        lambda: torch.masked.masked_tensor(x, x > 1),
    ):
        survives(each)


@attack
def subclasses(device, x):
    class Mine(torch.Tensor):
        pass

    y = x.as_subclass(Mine)
    assert type(y + 1) is Mine
    repr(y)
    survives(copy.deepcopy, y)
    survives(lambda: pickle.dumps(y))
    survives(torch.Tensor._make_subclass, Mine, x, True)
    survives(torch.Tensor._make_wrapper_subclass, Mine, (2, 3), device=device)
    survives(lambda: torch.Tensor._make_wrapper_subclass(Mine, (2, 3), device=device) + 1)
    survives(lambda: torch.utils.swap_tensors(x, x.clone()))
    survives(lambda: x.new())
    survives(lambda: x.new(2, 3))
    survives(lambda: x.new_tensor([1.0]) + 1)
    survives(lambda: torch.Tensor(x))
    survives(lambda: torch.Tensor(2, 3, device=device))
    survives(lambda: torch.FloatTensor(x))
    survives(lambda: type(x).__new__(torch.Tensor))
    survives(lambda: x.__setstate__((1, 2)))
    survives(lambda: x.__reduce_ex__(2))
    survives(lambda: torch._utils._rebuild_tensor_v2(x.untyped_storage(), 0, (90,), (1,), 0, {}))


@attack
def mixed_with_the_cpu(device, x):
    z = torch.ones(2, 3)
    for each in (
        lambda: x + z,
        lambda: z + x,
        lambda: x.add_(z),
        lambda: z.add_(x),
        lambda: x @ z.T,
        lambda: z.T @ x,
        lambda: torch.cat([x, z]),
        lambda: torch.cat([z, x]),
        lambda: torch.stack([z, x]),
        lambda: torch.where(z > 0, x, x),
        lambda: torch.add(z, z, out=x.clone()),
        lambda: torch.add(x, x, out=z),
        lambda: torch.nn.functional.linear(x, z),
        lambda: torch.addmm(z, x, x.T),
        lambda: torch.nn.functional.embedding(torch.tensor([0]), x),
        lambda: z[x > 0],
        lambda: z.index_select(0, torch.zeros(1, dtype=torch.int64, device=device)),
        lambda: torch.gather(z, 0, torch.zeros(1, 1, dtype=torch.int64, device=device)),
        lambda: z.index_put_((torch.zeros(1, dtype=torch.int64, device=device),), z[0]),
        lambda: z.masked_fill_(x > 0, 1.0),
        lambda: torch._foreach_add([x, z], [z, x]),
        lambda: torch.equal(x, z),
        lambda: torch.equal(z, x),
        lambda: torch.allclose(z, x),
        lambda: z.copy_(x),
        lambda: torch.lerp(z, x, 0.5),
        lambda: torch.nn.functional.conv2d(z[None, None], x[None, None]),
        lambda: torch.nn.LSTM(3, 2)(x[None]),
        lambda: z.is_set_to(x),
        lambda: torch.searchsorted(z, x),
        lambda: torch.bucketize(x, z[0]),
        lambda: torch.nn.functional.grid_sample(z[None, None], x[None, :, :2][None]),
    ):
        survives(each)


@attack
def indices_out_of_range(device, x):
    index = torch.tensor([5, -7], device=device)
    for each in (
        lambda: x[index],
        lambda: x[:, index],
        lambda: x.index_select(0, index),
        lambda: x.gather(0, index[None]),
        lambda: x.clone().scatter_(0, index[None], 1.0),
        lambda: x.clone().index_add_(0, index, x),
        lambda: x.clone().index_put_((index,), x[0]),
        lambda: x.take(index),
        lambda: torch.nn.functional.embedding(index, x),
        lambda: torch.nn.functional.one_hot(index, 2),
        lambda: torch.nn.functional.nll_loss(x, index),
        lambda: torch.bincount(index),
        lambda: x.unfold(0, 3, 1),
        lambda: x.narrow(0, 1, 5),
        lambda: x.select(0, 9),
        lambda: x[9],
        lambda: x.diagonal(9),
        lambda: x.index_copy(0, index, x),
        lambda: x.repeat_interleave(index),
        lambda: x.split([5, 5]),
        lambda: torch.tensor_split(x, index),
        lambda: x.put_(index, x[0, :2]),
    ):
        survives(each)


@attack
def threads(device, x):
    shared = x.clone()
    problems = []

    def work():
        try:
            for _ in range(50):
                shared.add_(1)
                y = (shared @ shared.T).requires_grad_()
                (y * y).sum().backward()
                copy.deepcopy(y)
                pickle.dumps(shared[0])
        except BaseException as error:  # noqa: BLE001
            problems.append(error)

    workers = [threading.Thread(target=work) for _ in range(8)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert not problems, problems


@attack
def forks(device, x):
    if device == "jax":
        return  # JAX itself does not survive it
    leaf = x.clone().requires_grad_()
    child = os.fork()
    if not child:
        try:
            (leaf * x).sum()
            same(x + 1, [[1, 2, 3], [4, 5, 6]])
            torch.manual_seed(0)
            torch.rand(2, device=device)
        except BaseException:  # noqa: BLE001
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


@attack
def queues_of_processes(device, x):
    import torch.multiprocessing as multiprocessing

    for method in ("fork", "spawn"):
        queue = multiprocessing.get_context(method).SimpleQueue()
        survives(queue.put, x)
    survives(lambda: multiprocessing.reductions.reduce_tensor(x))
    survives(lambda: multiprocessing.reductions.reduce_storage(x.untyped_storage()))
    survives(lambda: multiprocessing.reductions.ForkingPickler.dumps(x))


@attack
def loaders(device, x):
    data = torch.utils.data.TensorDataset(x, x[:, 0])
    for a, b in torch.utils.data.DataLoader(data, batch_size=2):
        same(a, VALUES)
        same(b, [0, 3])
    if device != "jax":
        survives(lambda: list(torch.utils.data.DataLoader(data, num_workers=1)))
    survives(lambda: list(torch.utils.data.DataLoader(data, pin_memory=True)))


@attack
def autograd_in_anger(device, x):
    leaf = x.clone().requires_grad_()
    y = leaf * 2
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    refused(y.sum().backward)
    refused(lambda: leaf.add_(1))
    z = leaf.exp()
    with torch.no_grad():
        z.mul_(0)
    refused(z.sum().backward)
    y = (leaf**2).sum()
    y.register_hook(lambda g: g + torch.ones(()))
    y.backward()

    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x + 1

        @staticmethod
        def backward(ctx, g):
            return g.cpu()

    survives(Wrong.apply(leaf).sum().backward)

    class Raises(Wrong):
        @staticmethod
        def backward(ctx, g):
            raise ValueError("mine")

    survives(Raises.apply(leaf).sum().backward)
    survives(lambda: torch.autograd.grad(leaf.cpu().sum(), leaf))
    survives(lambda: leaf.to("meta").sum().backward())
    survives(lambda: leaf.sum().backward(torch.ones(())))
    survives(lambda: torch.autograd.gradcheck(torch.sin, leaf.double().detach().requires_grad_()))
    survives(lambda: torch.autograd.functional.hessian(lambda x: (x**3).sum(), leaf))
    with torch.autograd.detect_anomaly(check_nan=True):
        survives((leaf / 0).log().sum().backward)
    with torch.autograd.graph.save_on_cpu():
        (leaf * leaf).sum().backward()
    with torch.autograd.graph.save_on_cpu(pin_memory=True):
        survives(lambda: (leaf * leaf).sum().backward())
    survives(
        lambda: torch.utils.checkpoint.checkpoint(
            lambda x: x.sin().cos(), leaf, use_reentrant=False
        ).sum().backward()
    )  # fmt: skip
    leaf.grad = None
    survives(setattr, leaf, "grad", torch.ones(2, 3))
    survives(setattr, leaf, "grad", x.double())


@attack
def cycles(device, x):
    class Node:
        pass

    for _ in range(20):
        node = Node()
        node.x = x.clone().requires_grad_()
        node.x.me = node
        node.y = node.x * 2
        node.y.register_hook(lambda g, node=node: None)
        node.x.untyped_storage().node = node
        del node
    gc.collect()
    gc.collect()


def profiled(function):
    # One that is never left ends the process on the CPU as well.
    with torch.profiler.profile():
        return function()


@attack
def contexts(device, x):
    for each in (
        lambda: torch.autocast(device).__enter__(),
        lambda: torch.autocast(device, dtype=torch.bfloat16).__enter__(),
        lambda: torch.amp.GradScaler(device).scale(x),
        lambda: torch.device(device).__enter__(),
        lambda: torch.zeros(2),
        lambda: torch.set_default_device(device),
        lambda: torch.zeros(2) + torch.rand(2),
        lambda: torch.accelerator.current_accelerator(),
        lambda: torch.accelerator.synchronize(),
        lambda: torch.accelerator.device_count(),
        lambda: torch.accelerator.set_device_index(0),
        lambda: torch.accelerator.set_device_index(5),
        lambda: torch.accelerator.current_stream(),
        lambda: torch.accelerator.memory_allocated(),
        lambda: torch.Stream(device=device),
        lambda: torch.Event(device=device),
        lambda: torch.Event(device=device).record(),
        lambda: torch.Generator(device=device),
        lambda: torch.rand(2, generator=torch.Generator(device=device), device=device),
        lambda: torch.rand(2, generator=torch.Generator(), device=device),
        lambda: profiled(lambda: x + 1),
        lambda: torch.random.fork_rng(device_type=device).__enter__(),
        lambda: getattr(torch, device).set_device(4),
        lambda: getattr(torch, device).nonsense,
        lambda: getattr(torch, device).set_rng_state(torch.zeros(3, dtype=torch.uint8)),
        lambda: torch.get_device_module(device).synchronize(),
        lambda: torch.use_deterministic_algorithms(True),
        lambda: x.clone().index_put_((x[0].long() % 2,), x[0], accumulate=True),
    ):
        survives(each)


@attack
def kernels_that_misbehave(device, x):
    from torch_device.environment import BackendEnvironment

    made = next(each for each in gc.get_objects() if isinstance(each, BackendEnvironment))
    answers = (None, 3, "text", object(), [x], np.ones(9), np.ones(2, object), x)
    for answer in answers:
        made.register_op(torch.ops.aten.sin.default)(lambda x, answer=answer: answer)
        survives(x.sin)
        survives(x.clone().sin_)
        survives(torch.sin, x, out=x.clone())

    def recursive(x):
        return recursive(x)

    made.register_op(torch.ops.aten.sin.default)(recursive)
    with contextlib.suppress(RecursionError):
        x.sin()

    def stops(x):
        raise KeyboardInterrupt

    made.register_op(torch.ops.aten.sin.default)(stops)
    with contextlib.suppress(KeyboardInterrupt):
        x.sin()
    made.register_op(torch.ops.aten.max.dim)(lambda x, dim, keepdim=False: (x, x, x))
    survives(x.max, 0)
    made.register_op(torch.ops.aten.max.dim)(lambda x, dim, keepdim=False: x)
    survives(x.max, 0)


@attack
def compiled_and_scripted(device, x):
    survives(torch.jit.script, torch.nn.Linear(2, 2).to(device))
    survives(lambda: torch.jit.trace(lambda x: x + 1, x)(x))
    survives(lambda: torch.jit.script(torch.nn.Linear(3, 2).to(device))(x))
    survives(lambda: torch.fx.symbolic_trace(torch.nn.Linear(3, 2).to(device))(x))


@attack
def deep_graphs(device, x):
    y = x.clone().requires_grad_()
    z = y
    for _ in range(3000):
        z = z + 1
    z.sum().backward()
    same(y.grad, [[1.0] * 3] * 2)


@attack
def the_end_of_the_interpreter(device, x):
    # With tensors, graphs, threads and hooks alive.
    leaf = x.clone().requires_grad_()
    globals()["alive"] = [leaf, (leaf * 2).sum(), leaf.untyped_storage(), x.T]
    globals()["alive"][1].backward(retain_graph=True)
    import atexit

    atexit.register(lambda: (leaf * 2).sum().backward())


ALONE = {"contexts", "kernels_that_misbehave", "storage_without_its_cell", "compiled_and_scripted",
         "the_end_of_the_interpreter", "errors_in_a_step"}  # fmt: skip
"""Attacks after which a process is not what it was."""


def units(names: list[str], size: int) -> list[list[str]]:
    """Return which attacks share a process."""
    shared = [each for each in names if each not in ALONE]
    alone = [[each] for each in names if each in ALONE]
    return [shared[i : i + size] for i in range(0, len(shared), size)] + alone


def run(device: str, names: list[str]) -> None:
    """Run some attacks in this process, and end it as any program ends."""
    signal.alarm(300 * len(names))
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_CPU, (60 * len(names),) * 2)
    failed = False
    make_environment(device)
    for name in names:
        sys.stderr.write(f"{name}\n")
        try:
            ATTACKS[name](device, torch.arange(6.0).reshape(2, 3).to(device))
        except BaseException:  # noqa: BLE001
            failed = True
            traceback.print_exc()
    sys.stderr.flush()
    if failed:
        os._exit(1)
    sys.exit()


def make_environment(device: str) -> Any:
    if device == "npy":
        from torch_device.arrays import numpy_device as made
    else:
        from torch_device.arrays import jax_device as made
    return made.make_environment()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("device", choices=("npy", "jax"))
    parser.add_argument("names", nargs="*")
    parser.add_argument("--shared", type=int, default=1, help="attacks that share a process")
    options = parser.parse_intermixed_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    # What each child would import by itself.
    modules = ["scipy.linalg", "scipy.special", "torch._decomp", "torch._dynamo", "torch.func"]
    modules.append(f"torch_device.arrays.{'numpy' if options.device == 'npy' else 'jax'}_device")
    for module in modules:
        with contextlib.suppress(ImportError):
            importlib.import_module(module)
    if options.device == "jax":
        from compiled_attacks import ATTACKS as COMPILED

        ATTACKS.update(COMPILED)
    found = {}
    for names in units(options.names or list(ATTACKS), options.shared):
        with tempfile.TemporaryFile("w+") as output:
            child = os.fork()
            if not child:
                os.dup2(output.fileno(), 1)
                os.dup2(output.fileno(), 2)
                run(options.device, names)
            start = time.monotonic()
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            output.seek(0)
            found[" ".join(names)] = status, output.read()[-3000:]
            sys.stderr.write(f"{' '.join(names)} {status} {time.monotonic() - start:.1f} s\n")
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
