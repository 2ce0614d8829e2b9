"""Emulated arrays: the interface of `cupy.ndarray` over the memory of NumPy arrays."""

from __future__ import annotations

import functools
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_KINDS = "?biufc"
_SCALARS = (np.generic, bool, int, float, complex)


class ndarray(np.lib.mixins.NDArrayOperatorsMixin):  # noqa: N801 - CuPy's name
    """An emulated CuPy array: no implicit conversion to NumPy, no mixing with NumPy arrays.

    Parameters
    ----------
    shape, dtype, memptr, strides, order
        As in `cupy.ndarray`; `memptr` is the ``data`` of another array.
    """

    __slots__ = ("host",)
    __array_priority__ = 100

    def __init__(
        self,
        shape: Any,
        dtype: Any = float,
        memptr: Any = None,
        strides: Any = None,
        order: Any = "C",
    ) -> None:
        if memptr is None:
            self.host = np.ndarray(shape, dtype, strides=strides, order=order)
        else:
            # Other types and strides for the same memory; the caller is responsible for the
            # bounds.
            start = np.lib.stride_tricks.as_strided(memptr.host, (1,) * memptr.host.ndim)
            start = start.reshape(1).view(dtype)
            steps = np.ndarray(shape, dtype, order=order).strides if strides is None else strides
            self.host = np.lib.stride_tricks.as_strided(start, shape, steps)

    dtype = property(lambda self: self.host.dtype)
    ndim = property(lambda self: self.host.ndim)
    size = property(lambda self: self.host.size)
    nbytes = property(lambda self: self.host.nbytes)
    itemsize = property(lambda self: self.host.itemsize)
    strides = property(lambda self: self.host.strides)
    flags = property(lambda self: self.host.flags)
    data = property(lambda self: SimpleNamespace(ptr=self.host.ctypes.data, host=self.host))
    device = property(lambda _: None)
    T = property(lambda self: wrapped(self.host.T))
    base = property(lambda self: wrapped(self.host.base))

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.host.shape)

    @shape.setter
    def shape(self, shape: Any) -> None:
        # Reshape a view, because NumPy deprecates assigning the shape.
        view = self.host.reshape(shape)
        if not np.may_share_memory(view, self.host):
            raise AttributeError("incompatible shape")
        self.host = view

    @property
    def real(self) -> ndarray:
        return _view(np.real(self.host))

    @real.setter
    def real(self, value: Any) -> None:
        self.host.real = unwrapped(value)

    @property
    def imag(self) -> ndarray:
        return _view(np.imag(self.host))

    @imag.setter
    def imag(self, value: Any) -> None:
        self.host.imag = unwrapped(value)

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. "
            "Please use `.get()` to construct a NumPy array explicitly."
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return _called(getattr(ufunc, method), inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        import cupy

        if not hasattr(cupy, function.__name__):
            return NotImplemented
        return _called(function, args, kwargs)

    def __matmul__(self, other: Any) -> Any:
        return _called(np.matmul, (self, other), {})

    def __getitem__(self, key: Any) -> ndarray:
        result: ndarray = wrapped(self.host[_index(key)])
        return result

    def __setitem__(self, key: Any, value: Any) -> None:
        refuse_host_arrays((value,))
        self.host[_index(key)] = unwrapped(value)

    def __iter__(self) -> Iterator[ndarray]:
        return (self[number] for number in range(len(self)))

    def __len__(self) -> int:
        return len(self.host)

    def __bool__(self) -> bool:
        return bool(self.host)

    def __int__(self) -> int:
        return int(self.host)

    def __float__(self) -> float:
        return float(self.host)

    def __complex__(self) -> complex:
        return complex(self.host)

    def __index__(self) -> int:
        return int(self.host.__index__())

    def __contains__(self, value: Any) -> bool:
        return unwrapped(value) in self.host

    def __repr__(self) -> str:
        return repr(self.host)

    def __str__(self) -> str:
        return str(self.host)

    def __format__(self, specification: str) -> str:
        return format(self.host, specification)

    def get(self, stream: Any = None, order: Any = "C", out: Any = None, **_: Any) -> Any:
        if out is None:
            return np.array(self.host, order=order)
        out[...] = self.host
        return out

    def set(self, values: np.ndarray, stream: Any = None) -> None:
        self.host[...] = values

    def argsort(self, axis: int | None = -1, kind: str | None = None) -> ndarray:
        # CuPy's only sort is stable.
        return _view(self.host.argsort(axis, kind="stable"))

    def item(self, *args: Any) -> Any:
        return self.host.item(*args)

    def tolist(self) -> Any:
        return self.host.tolist()

    def astype(
        self,
        dtype: Any,
        order: Any = "K",
        casting: Any = None,
        subok: Any = None,
        copy: bool = True,
    ) -> ndarray:
        if not copy and self.dtype == np.dtype(dtype) and order == "K":
            return self
        return _view(self.host.astype(dtype, order=order, casting=casting or "unsafe"))


_METHODS = (
    *("all", "any", "argmax", "argmin", "argpartition", "choose", "clip", "compress"),
    *("conj", "conjugate", "copy", "cumprod", "cumsum", "diagonal", "dot", "fill", "flatten"),
    *("max", "mean", "min", "nonzero", "partition", "prod", "put", "ravel", "repeat", "reshape"),
    *("round", "searchsorted", "sort", "squeeze", "std", "sum", "swapaxes", "take", "tobytes"),
    *("trace", "transpose", "var", "view"),
)


def _method(name: str) -> Callable[..., Any]:
    function = getattr(np.ndarray, name)

    @functools.wraps(function)
    def method(self: ndarray, *args: Any, **kwargs: Any) -> Any:
        return _called(function, (self, *args), kwargs)

    return method


for _name in _METHODS:
    setattr(ndarray, _name, _method(_name))


def _view(host: np.ndarray) -> ndarray:
    array = object.__new__(ndarray)
    array.host = host
    return array


def wrapped(value: Any) -> Any:
    """Return the value with NumPy arrays and scalars replaced by CuPy arrays."""
    if isinstance(value, np.ndarray | np.generic):
        return _view(np.asarray(value))
    if isinstance(value, tuple | list):
        items = [wrapped(each) for each in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


def unwrapped(value: Any) -> Any:
    """Return the value with CuPy arrays replaced by NumPy arrays that share their memory."""
    if isinstance(value, ndarray):
        return value.host
    if isinstance(value, tuple | list) and not hasattr(value, "_fields"):
        return type(value)([unwrapped(each) for each in value])
    return value


def refuse_host_arrays(values: Any) -> None:
    """Raise CuPy's error if there are NumPy arrays, which CuPy does not copy implicitly."""
    for each in values:
        if isinstance(each, np.ndarray) and each.ndim:
            raise TypeError(f"Unsupported type {type(each)}")


def _called(function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    refuse_host_arrays((*args, *kwargs.values()))
    out = kwargs.get("out")
    keywords = {key: unwrapped(each) for key, each in kwargs.items()}
    result = function(*unwrapped(tuple(args)), **keywords)
    if out is None:
        return wrapped(result)
    return out[0] if isinstance(out, tuple) and len(out) == 1 else out


def _index(key: Any) -> Any:
    return tuple(map(_index, key)) if isinstance(key, tuple) else unwrapped(key)


def as_cupy(function: Callable[..., Any], host_arrays: bool = False) -> Callable[..., Any]:
    """Return a NumPy function as a function of CuPy arrays.

    Parameters
    ----------
    function : callable
        A function of NumPy arrays.
    host_arrays : bool, optional
        Whether CuPy's function accepts NumPy arrays too.
    """

    @functools.wraps(function)
    def of_cupy(*args: Any, **kwargs: Any) -> Any:
        if host_arrays:
            keywords = {key: unwrapped(each) for key, each in kwargs.items()}
            return wrapped(function(*unwrapped(args), **keywords))
        return _called(function, args, kwargs)

    of_cupy.__module__ = "cupy"
    if isinstance(function, np.ufunc):
        for name in ("accumulate", "at", "outer", "reduce", "reduceat"):
            setattr(of_cupy, name, as_cupy(getattr(function, name)))
        for name in ("nin", "nout", "types"):
            setattr(of_cupy, name, getattr(function, name))
    return of_cupy


def with_out(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a NumPy function with the parameter ``out`` that CuPy's function has."""

    @functools.wraps(function)
    def of_cupy(*args: Any, out: ndarray | None = None) -> Any:
        result = as_cupy(function)(*args)
        if out is None:
            return result
        out[...] = result
        return out

    return of_cupy


def array(
    value: Any,
    dtype: Any = None,
    copy: bool | None = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: int = 0,
    **_: Any,
) -> ndarray:
    """Copy to the emulated device."""
    host = np.array(unwrapped(value), dtype=dtype, copy=True, order=order, ndmin=ndmin)
    if host.dtype.kind not in _KINDS:
        raise ValueError(f"Unsupported dtype {host.dtype}")
    return _view(host)


def asarray(value: Any, dtype: Any = None, order: Any = None, **_: Any) -> ndarray:
    """Copy to the emulated device unless the array is already there."""
    if not isinstance(value, ndarray):
        return array(value, dtype, order=order or "K")
    host = np.asarray(value.host, dtype=dtype, order=order)
    return value if host is value.host else _view(host)


def ascontiguousarray(value: Any, dtype: Any = None) -> ndarray:
    """Copy unless the array is contiguous in C order."""
    return asarray(value, dtype, order="C")


def argsort(a: ndarray, axis: int | None = -1, kind: str | None = None) -> ndarray:
    """Return the indices of a stable sort."""
    return a.argsort(axis, kind)


def asnumpy(value: Any, *args: Any, **kwargs: Any) -> np.ndarray:
    """Copy from the emulated device."""
    return value.get() if isinstance(value, ndarray) else np.asarray(value)


def can_cast(source: Any, target: Any, casting: Any = "safe") -> bool:
    """Return whether data types, or those of arrays, can be cast."""
    return np.can_cast(getattr(source, "dtype", source), target, casting)


def shares_memory(first: Any, second: Any, max_work: Any = None) -> bool:
    """Return whether the memory bounds overlap; CuPy ignores `max_work` too."""
    return np.may_share_memory(unwrapped(first), unwrapped(second))


def elementwise_copy(source: ndarray, target: ndarray) -> None:
    """Copy between arrays of any types."""
    np.copyto(target.host, source.host, casting="unsafe")


def is_scalar(value: Any) -> bool:
    """Return whether a kernel takes the argument by value."""
    return isinstance(value, _SCALARS) or (isinstance(value, np.ndarray) and not value.ndim)
