"""What must not end a process: statements that give results, or an ordinary error.

    python tests/attacks.py npy              # all groups, each in a process that is forked
    python tests/attacks.py jax dlpack       # one of them

Each line is executed by itself; ``x`` is a new tensor of the device with 2 rows of 3 elements. A
group fails if its process dies by a signal, or if a line raises anything but an ordinary error.
Results of what is supported are for other tests, and so are the kinds of tensors, the mixtures of
devices and the indices that are refused.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import signal
import sys
import tempfile
import time
import warnings
from typing import Any

ORDINARY = (
    *(RuntimeError, TypeError, ValueError, NotImplementedError, BufferError, AttributeError),
    *(LookupError, AssertionError, ImportError, EOFError, MemoryError),
)
START = """
import atexit, copy, ctypes, gc, io, pickle, threading, weakref
import numpy as np, torch
from torch import nn
from torch.utils import dlpack
"""
ATTACKS = {
    "deepcopy": """
        copy.deepcopy([x, x.T, x[1], x.detach()])[0].zero_()
        y = copy.deepcopy(x.untyped_storage()); del x; gc.collect(); copy.deepcopy(y)
        copy.deepcopy(x.clone().requires_grad_() * 2)
        copy.copy(x).add_(1)
    """,
    "pickles": """
        [pickle.loads(pickle.dumps([x, x.T], n)) for n in range(6)]
        pickle.loads(pickle.dumps(x.untyped_storage()))
        pickle.loads(pickle.dumps(x.storage()))
        pickle.dumps(copy.deepcopy(x.untyped_storage()))
        [pickle.loads(pickle.dumps(y)) for y in (nn.Parameter(x), x[1:, ::2], x.expand(4, 2, 3))]
    """,
    "files": """
        file = io.BytesIO(); torch.save({"x": x, "t": x.T}, file)
        file.seek(0); torch.load(file, map_location="cpu")
        file.seek(0); torch.load(file, map_location="meta")
        file.seek(0); torch.load(file, weights_only=True)
        file.seek(0); torch.load(file, map_location=lambda storage, place: storage)
        torch.load(io.BytesIO(file.getvalue()[:200]))
        torch.load(io.BytesIO(file.getvalue()[:-30]))
    """,
    "set": """
        y = torch.empty(0, device=d); y.set_(x.untyped_storage(), 1, (2, 2), (2, 1)); y + 1
        y.set_(x.untyped_storage(), 0, (100,), (1,))
        y.set_(x.untyped_storage(), 0, (2,), (-1,))
        y.set_(x.untyped_storage(), -1, (2,), (1,))
        x.set_(torch.zeros(3)); x + 1
        x.set_(torch.zeros(3).untyped_storage()); x + 1
        x.set_(torch.UntypedStorage(16)); x + 1
        torch.zeros(3).set_(x) + 1
        torch.zeros(3).set_(x.untyped_storage()) + 1
        torch.zeros(3).set_(x.untyped_storage(), 0, (6,), (1,)) + 1
        x.data = torch.zeros(3); x + x
        z = torch.zeros(3); z.data = x; z + z
    """,
    "resize": """
        x.resize_(3, 4) + 1
        x.resize_(0).resize_as_(torch.ones(2, device=d)) + 1
        x.resize_(-1)
        x.resize_(2**40)
        x.T.resize_(2, 2) + 1
        x.requires_grad_().resize_(7, 7)
        x.view(2, 3).resize_(1, 2, 3)
    """,
    "views": """
        x.t_().transpose_(0, 1).unsqueeze_(0).squeeze_() + 1
        x.as_strided_((100,), (1,), 0) + 1
        x.as_strided((100, 100), (100, 1)).fill_(3)
        x.as_strided((2,), (1,), 1000) + 1
        x.as_strided((2,), (-1,), 0) + 1
        x.as_strided((2, 2), (2**40, 1)).cpu()
        x.unfold(0, 5, 1)
        x.view(2**50)
        x[1:].as_strided((6,), (1,)).fill_(3)
    """,
    "storages": """
        x.untyped_storage()[100]
        x.untyped_storage()[2:5]
        list(x.untyped_storage()), bytes(x.untyped_storage())
        x.untyped_storage()[0] = 1
        x.untyped_storage().fill_(1)
        x.untyped_storage().resize_(0)
        x.untyped_storage().resize_(100)
        x.untyped_storage().copy_(torch.UntypedStorage(24))
        torch.UntypedStorage(24).copy_(x.untyped_storage())
        x.untyped_storage().share_memory_()
        x.untyped_storage().pin_memory()
        x.untyped_storage().cuda()
        x.untyped_storage().to(device="cpu")
        x.untyped_storage().to(device="meta")
        x.untyped_storage().float()
        x.untyped_storage().is_pinned()
        x.untyped_storage().is_shared()
        type(x.untyped_storage())(4, device=d)
        torch.UntypedStorage(4, device=d)[0]
        torch.UntypedStorage(4, device=d).fill_(1)
        torch.tensor([], device=d).set_(torch.UntypedStorage(4, device=d))
        hash(x.untyped_storage()), x.data_ptr(), x.untyped_storage().data_ptr()
    """,
    "arrays": """
        x.numpy(), x.numpy(force=True)
        np.asarray(x), np.array(x, copy=False)
        np.ones((2, 3)) + x, np.ones((2, 3)) @ x.T
        memoryview(x)
        bytes(x)
        np.frombuffer(x, np.float32)
        ctypes.c_float.from_buffer(x)
        torch.frombuffer(x, dtype=torch.float32)
        x.__array_interface__
        x.__cuda_array_interface__
        torch.asarray(np.ones(2), device=d) + torch.from_numpy(np.ones(2)).to(d)
        torch.tensor([x[0, 0], 2.0], device=d), torch.as_tensor([x[0, 0], x[0, 1]])
        x.const_data_ptr()
    """,
    "dlpack": """
        dlpack.to_dlpack(x)
        torch.from_dlpack(x) + 1
        torch.from_dlpack(x.T) + 1
        torch.from_dlpack(x[:0])
        np.from_dlpack(x)
        x.__dlpack__(stream=1)
        x.__dlpack__(max_version=(1, 0), copy=True)
        x.__dlpack_device__()
    """,
    "subclasses": """
        y = x.as_subclass(type("Mine", (torch.Tensor,), {})); copy.deepcopy(y + 1); repr(y)
        y = type("Mine", (torch.Tensor,), {}); torch.Tensor._make_subclass(y, x, True) + 1
        y = type("Mine", (torch.Tensor,), {}); y._make_wrapper_subclass(y, (2,), device=d) + 1
        torch.utils.swap_tensors(x, x.clone()); x + 1
        x.new(2, 3), x.new_tensor([1.0]) + 1
        torch.Tensor(x)
        torch.Tensor(2, 3, device=d)
        torch.FloatTensor(x)
    """,
    "autograd": """
        y = x.requires_grad_() * 2; y.sum().backward(); y.sum().backward()
        x.requires_grad_().add_(1)
        y = x.requires_grad_().exp(); y.data.mul_(0); y.sum().backward()
        x.requires_grad_().register_hook(lambda g: g.cpu()); (x * 2).sum().backward()
        torch.autograd.grad(x.requires_grad_().cpu().sum(), x)
        x.requires_grad_().to("meta").sum().backward()
        torch.autograd.functional.hessian(lambda x: (x**3).sum(), x)
        y = x.requires_grad_(); [y := y + 1 for _ in range(3000)]; y.sum().backward()
        y = x.requires_grad_(); y.me = y; y.untyped_storage().me = y; del x, y; gc.collect()
    """,
    "contexts": """
        torch.autocast(d).__enter__(); x @ x.T
        torch.amp.GradScaler(d).scale(x)
        torch.device(d).__enter__(); torch.zeros(2) + torch.rand(2)
        torch.set_default_device(d); torch.zeros(2)
        torch.accelerator.synchronize()
        torch.accelerator.set_device_index(5)
        torch.accelerator.current_stream()
        torch.accelerator.memory_allocated()
        torch.Stream(device=d), torch.Event(device=d).record()
        torch.Generator(device=d)
        torch.rand(2, generator=torch.Generator(), device=d)
        torch.profiler.profile().__enter__().__exit__(None, None, None)
        getattr(torch, d).set_device(4)
        getattr(torch, d).set_rng_state(torch.zeros(3, dtype=torch.uint8))
        torch.use_deterministic_algorithms(True); x.index_put_((x[0].long() % 2,), x[0])
    """,
    "implementations": """
        e.register_op(torch.ops.aten.sin.default)(lambda x: None); x.sin()
        e.register_op(torch.ops.aten.sin.default)(lambda x: "text"); x.sin_()
        e.register_op(torch.ops.aten.sin.default)(lambda x: np.ones(2, object)); x.sin()
        e.register_op(torch.ops.aten.sin.default)(lambda x: np.ones(9)); torch.sin(x, out=x.clone())
        e.register_op(torch.ops.aten.sin.default)(lambda y: x.sin()); x.sin()
        e.register_op(torch.ops.aten.max.dim)(lambda x, dim, keepdim=False: (x, x, x)); x.max(0)
        e.register_op(torch.ops.aten.max.dim)(lambda x, dim, keepdim=False: x); x.max(0)
    """,
    "compilation": """
        torch.jit.script(nn.Linear(3, 2).to(d))(x)
        torch.jit.trace(lambda x: x + 1, x)(x)
        torch.fx.symbolic_trace(nn.Linear(3, 2).to(d))(x)
    """,
    "processes": """
        torch.multiprocessing.get_context("spawn").SimpleQueue().put(x)
        torch.multiprocessing.reductions.reduce_tensor(x)
        torch.multiprocessing.reductions.reduce_storage(x.untyped_storage())
        list(torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x), pin_memory=True))
    """,
    "threads": """
        y = [threading.Thread(target=work, args=(x,)) for _ in range(8)]; [t.start() for t in y]
        gc.collect()
    """,
    "the end": """
        atexit.register(lambda: (x.requires_grad_() * 2).sum().backward())
        y = x.requires_grad_() * 2; y.sum().backward(retain_graph=True); alive.append([x, y])
    """,
}


def work(shared: Any) -> None:
    """Use and change one tensor; `threads` does so in eight threads at a time."""
    import copy

    for _ in range(30):
        shared.add_(1)
        y = (shared @ shared.T).requires_grad_()
        (y * y).sum().backward()
        copy.deepcopy(y)


def run(device: str, environment: Any, name: str) -> None:
    """Run a group in this process, and end it as any program ends."""
    import torch

    from torch_device.arrays import make_environment

    signal.alarm(200)
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_CPU, (120, 120))
    environment = environment or make_environment(device)
    names: dict[str, Any] = {"d": device, "e": environment, "work": work, "alive": []}
    exec(START, names)  # noqa: S102
    for line in ATTACKS[name].strip().split("\n"):
        names["x"] = torch.arange(6.0).reshape(2, 3).to(device)
        try:
            exec(line.strip(), names)  # noqa: S102
        except ORDINARY:
            continue
        except BaseException as error:
            raise AssertionError(f"{line.strip()}: {error!r}") from error


def main() -> None:
    import torch

    from torch_device.arrays import make_environment

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    device, *names = sys.argv[1:]
    # JAX does not survive a fork, so that each process makes its device.
    environment = None
    if device == "npy":
        import torch._dynamo  # what each process would import by itself

        environment = make_environment(device)
        torch.ones(2, 2).to(device).add_(1)
    found = {}
    for name in names or ATTACKS:
        with tempfile.TemporaryFile("w+") as output:
            start, child = time.monotonic(), os.fork()
            if not child:
                os.dup2(output.fileno(), 1)
                os.dup2(output.fileno(), 2)
                run(device, environment, name)
                sys.exit()
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            output.seek(0)
            found[name] = status, output.read()[-3000:]
            sys.stderr.write(f"{name} {status} {time.monotonic() - start:.1f} s\n")
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
