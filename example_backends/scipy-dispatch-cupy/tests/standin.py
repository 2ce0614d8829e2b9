"""A stand-in for CuPy: packages `cupy` and `cupyx` in a folder, based on NumPy and SciPy.

It tests how calls are passed on, not the numbers: arguments reach CuPy's functions under CuPy's
names and as CuPy arrays only, and results, ``output=`` and deferrals come back. Its functions
have CuPy's signatures, taken from the map, and call SciPy's functions. As with CuPy, arrays are
not converted to NumPy arrays implicitly.

Environment variables simulate problems. ``STANDIN_DEVICES=0``: there is no GPU.
``STANDIN_FREE=1000``: the GPU has little free memory; CuPy's pool holds another ``STANDIN_POOL``
unused bytes. ``STANDIN_FULL=1``: the GPU has no memory for results. ``STANDIN_REFUSES=text``:
each function raises an exception of the class named by ``STANDIN_RAISES``. ``STANDIN_WARNS=1``:
the import issues a FutureWarning.
"""

from __future__ import annotations

import json
from pathlib import Path

FILE = Path(__file__).with_name("signatures.json")
SIGNATURES: dict[str, str] = json.loads(FILE.read_text(encoding="utf-8"))["signatures"]

_CUPY = """
import os

import numpy as np

from . import cuda

__version__ = "0.0.standin"
float64 = np.float64
pi = np.pi
made = []  # what was copied to the device


class ndarray:
    def __init__(self, host):
        self.host = host

    dtype = property(lambda self: self.host.dtype)
    shape = property(lambda self: self.host.shape)
    ndim = property(lambda self: self.host.ndim)
    size = property(lambda self: self.host.size)
    nbytes = property(lambda self: self.host.nbytes)
    flags = property(lambda self: self.host.flags)

    def __array__(self, *args, **kwargs):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def __len__(self):
        return len(self.host)

    def __getitem__(self, key):
        return ndarray(self.host[getattr(key, "host", key)])

    def __setitem__(self, key, value):
        if not isinstance(value, (ndarray, int, float)):
            raise TypeError(f"no array of the device: {type(value)}")
        self.host[key] = getattr(value, "host", value)

    def __add__(self, other):
        return ndarray(self.host + other.host)

    def __bool__(self):
        return bool(self.host)

    def astype(self, dtype, copy=True):
        return ndarray(self.host.astype(dtype, copy=copy))

    def copy(self):
        return ndarray(self.host.copy())

    def item(self):
        return self.host.item()

    def tolist(self):
        return self.host.tolist()

    def get(self):
        return self.host.copy()


def _method(name):
    def method(self, *args):
        args = [getattr(each, "host", each) for each in args]
        return ndarray(np.asarray(getattr(self.host, name)(*args)))

    return method


_OPERATORS = ("__mul__", "__sub__", "__truediv__")
for _name in ("ravel", "reshape", "mean", "std", "min", "max", "round", *_OPERATORS):
    setattr(ndarray, _name, _method(_name))


def asarray(value):
    if isinstance(value, ndarray):
        return value
    host = np.array(value)
    if host.dtype.kind not in "biufc":
        raise ValueError(f"Unsupported dtype {host.dtype}")
    made.append(host.shape)
    return ndarray(host)


def ascontiguousarray(values):
    return ndarray(np.ascontiguousarray(values.host))


def may_share_memory(first, second):
    return np.may_share_memory(first.host, second.host)


def stack(arrays):
    return ndarray(np.stack([each.host for each in arrays]))  # NumPy's are none of the device


def unique(values, return_inverse):
    return tuple(map(ndarray, np.unique(values.host, return_inverse=return_inverse)))


def pad(values, width):
    return ndarray(np.pad(values.host, width))


def trunc(values):
    return ndarray(np.trunc(values.host))


def copysign(size, signs):
    return ndarray(np.copysign(size, signs.host))


def clip(values, least, most):
    return ndarray(np.clip(values.host, least, most))


def greater(first, second):
    if isinstance(first, ndarray):
        return ndarray(np.greater(first.host, second.host))
    return np.greater(first, second)  # SciPy asks


class _Pool:
    def free_bytes(self):
        return int(os.environ.get("STANDIN_POOL", 0))

    def free_all_blocks(self):
        cuda.freed.append(True)


def get_default_memory_pool():
    return _Pool()
"""

_CUDA = """
import os

freed = []


class _OutOfMemoryError(MemoryError):
    pass


class CompileException(Exception):
    pass


class memory:
    OutOfMemoryError = _OutOfMemoryError


class runtime:
    @staticmethod
    def getDeviceCount():
        if os.environ.get("STANDIN_DEVICES") == "0":
            raise RuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected")
        return 1

    @staticmethod
    def memGetInfo():
        free = int(os.environ.get("STANDIN_FREE", 2**40))
        return free, 2**40

    @staticmethod
    def getDeviceProperties(number):
        return {"name": b"stand-in", "major": 0, "minor": 0}

    @staticmethod
    def runtimeGetVersion():
        return 0

    @staticmethod
    def driverGetVersion():
        return 0
"""

_MODULE = '''
import importlib
import inspect
import os
import warnings
from math import pi

import numpy as np

import cupy

if os.environ.get("STANDIN_WARNS"):
    warnings.warn("cupyx.jit.rawkernel is experimental.", FutureWarning, stacklevel=2)

calls = []


def _call(name, arguments):
    """Call SciPy's function, on the host arrays; refuse what CuPy would refuse."""
    more = arguments.pop("kwargs", {})
    calls.append((name, {**arguments, **more}))
    if os.environ.get("STANDIN_FULL"):
        raise cupy.cuda.memory.OutOfMemoryError("Out of memory allocating 8 bytes")
    arguments = {**arguments, **more}
    refused = os.environ.get("STANDIN_REFUSES")
    if refused:
        module, _, error = os.environ.get("STANDIN_RAISES", "builtins:ValueError").partition(":")
        raise getattr(importlib.import_module(module), error)(refused)
    output = arguments.get("output")
    if "MODULE" == "ndimage" and isinstance(output, (np.dtype, str)):
        raise RuntimeError("output shape not correct")
    function = getattr(importlib.import_module("scipy.MODULE"), name)
    given = {key: _host(value) for key, value in arguments.items()}
    first = next(iter(given))
    host = given.pop(first)
    # What only CuPy knows, or spells otherwise.
    ours = CUPY_ONLY & set(given)
    given = {key: value for key, value in given.items() if key not in ours}
    if inspect.isbuiltin(function):  # in C, which takes nothing by name
        return _device(function(host, *given.values()))
    known = inspect.signature(function).parameters
    if "args" not in known and "kwargs" not in known:
        # An older SciPy does not know them either, so that nobody gave them.
        given = {key: value for key, value in given.items() if key in known}
    if name in ("firls", "firwin", "firwin2"):
        given.pop("fs", None)
    result = function(host, **given)
    if isinstance(output, cupy.ndarray) and result is given.get("output"):
        return output
    return _device(result)


CUPY_ONLY = {
    *("texture_memory", "float64_coords", "adaptive_index_dtype", "block_params", "nyq"),
    *("float64_distances", "precenter"),
}


def _host(value):
    if isinstance(value, np.ndarray) and value.ndim:
        raise TypeError(f"Unsupported type {type(value)}")
    if isinstance(value, cupy.ndarray):
        return value.host
    if isinstance(value, (tuple, list)):
        return type(value)(_host(each) for each in value)
    return value


def _device(value):
    if isinstance(value, (np.ndarray, np.generic)):
        return cupy.ndarray(np.asarray(value))
    if isinstance(value, (tuple, list)):
        items = [_device(each) for each in value]
        return tuple(items) if isinstance(value, tuple) else items
    if isinstance(value, dict):
        return {key: _device(each) for key, each in value.items()}
    return value
'''


def write_standin(folder: Path) -> Path:
    """Write the packages into `folder`, for the front of `sys.path`."""
    files = {
        "cupy/__init__.py": _CUPY,
        "cupy/cuda.py": _CUDA,
        "cupyx/__init__.py": "",
        "cupyx/scipy/__init__.py": "",
    }
    for module in ("ndimage", "signal", "fft"):
        lines = [_MODULE.replace("MODULE", module)]
        lines += [
            f"def {name}{signature}:\n    return _call({name!r}, locals())\n"
            for name, signature in _signatures(module)
        ]
        files[f"cupyx/scipy/{module}.py"] = "\n".join(lines)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def _signatures(module: str) -> list[tuple[str, str]]:
    named = [(*name.split("."), text) for name, text in SIGNATURES.items()]
    return [(name, text) for owner, name, text in named if owner == module]
