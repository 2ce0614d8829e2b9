"""The device of NumPy's arrays."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from functools import wraps
from typing import Any

import numpy as np
import torch

from ..environment import BackendEnvironment
from . import register
from .linear import register_factors

aten = torch.ops.aten


def make_environment(name: str = "npy", *, conversions: bool = True) -> BackendEnvironment:
    """Return the device of NumPy's arrays.

    Parameters
    ----------
    name : str, default: "npy"
        The name of the device.
    conversions : bool, default: True
        Whether operators without an implementation run on the CPU.
    """
    environment = BackendEnvironment(
        name, np.ndarray, to_data, to_torch, settle=np.asarray, around=quiet,
        conversions=conversions,
    )  # fmt: skip

    @environment.register_op(aten.as_strided.default)
    def as_strided(x: Any, size: Any, stride: Any, offset: int = 0) -> Any:
        if 0 in size:
            return np.empty(size, x.dtype)
        if not x.size:  # NumPy checks no bounds then
            raise RuntimeError("setStorage: the sizes and strides are out of bounds of the storage")
        if not x.flags.c_contiguous:
            x = np.ascontiguousarray(x)
        step = x.itemsize
        return np.ndarray(size, x.dtype, x, offset * step, [each * step for each in stride])

    @environment.register_op(aten.as_strided_scatter.default)
    def as_strided_scatter(x: Any, source: Any, size: Any, stride: Any, offset: int = 0) -> Any:
        x = np.array(x, order="C")
        as_strided(x, size, stride, offset)[...] = source
        return x

    register(environment, np)
    _register_linear(environment)
    environment.register_default_decompositions()
    return environment


_contexts: list[Context] = []


def quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let NumPy not warn of what PyTorch computes silently.

    A context that is entered again costs less than `numpy.errstate`; each thread takes its own.
    """

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            context = _contexts.pop()
        except IndexError:
            context = Context()
            context.run(np.seterr, all="ignore")
        try:
            return context.run(function, *args, **kwargs)
        finally:
            _contexts.append(context)

    return call


def to_data(tensor: torch.Tensor) -> Any:
    """Return a tensor of the CPU as an array, which shares nothing with it."""
    if tensor.dtype is torch.bfloat16:
        raise NotImplementedError("NumPy has no bfloat16")
    return tensor.detach().numpy().copy()


def to_torch(array: Any) -> torch.Tensor:
    """Return an array as a tensor of the CPU, which shares nothing with it."""
    return torch.from_numpy(np.array(array))


def _register_linear(environment: Any) -> None:
    """Register them; some need SciPy."""
    op = environment.register_op
    linalg = np.linalg

    op(aten._linalg_eigvals.default)(linalg.eigvals)

    @op(aten.linalg_cholesky_ex.default)
    def cholesky(x: Any, upper: bool = False, check_errors: bool = False) -> Any:
        found, info = np.full_like(x, np.nan), np.zeros(x.shape[:-2], np.int32)
        for index in np.ndindex(x.shape[:-2]):
            try:
                found[index] = linalg.cholesky(x[index])
            except linalg.LinAlgError:
                info[index] = 1
        return np.conj(np.swapaxes(found, -1, -2)) if upper else found, info

    def check(info: torch.Tensor, name: str, *, is_matrix: bool) -> None:
        if np.any(environment.data.read(info)):
            error: Any = torch.linalg.LinAlgError  # type: ignore[attr-defined]
            raise error(f"{name}: a matrix is singular or not positive-definite")

    environment.register_kernel(aten._linalg_check_errors.default, check)

    try:
        import scipy.linalg as scipy
    except ImportError:
        return

    def factor(x: Any) -> Any:
        (getrf,) = scipy.lapack.get_lapack_funcs(("getrf",), (x,))
        outer = x.shape[:-2]
        lu, pivots = np.empty_like(x), np.empty((*outer, min(x.shape[-2:])), np.int32)
        for index in np.ndindex(outer):
            lu[index], pivots[index], _ = getrf(x[index])
        return lu, pivots

    register_factors(environment, np, factor)
    op(aten.linalg_matrix_exp.default)(lambda x: scipy.expm(x) if x.size else x)

    @op(aten.linalg_solve_triangular.default)
    def triangular(
        x: Any, y: Any, upper: bool, left: bool = True, unitriangular: bool = False
    ) -> Any:
        k = int(unitriangular)  # with ones on the diagonal, whatever is there
        x = np.triu(x, k) if upper else np.tril(x, -k)
        if unitriangular:
            x = x + np.eye(x.shape[-1], dtype=x.dtype)
        if left:
            return linalg.solve(x, y)
        return np.swapaxes(linalg.solve(np.swapaxes(x, -1, -2), np.swapaxes(y, -1, -2)), -1, -2)
