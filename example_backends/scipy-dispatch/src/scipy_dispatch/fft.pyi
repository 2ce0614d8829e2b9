# Written by tools/write_stubs.py from SciPy 1.18; do not edit.
# ruff: noqa: N803 -- SciPy's names
from typing import Any

from scipy.fft import fftfreq as fftfreq
from scipy.fft import fhtoffset as fhtoffset
from scipy.fft import get_workers as get_workers
from scipy.fft import next_fast_len as next_fast_len
from scipy.fft import prev_fast_len as prev_fast_len
from scipy.fft import register_backend as register_backend
from scipy.fft import rfftfreq as rfftfreq
from scipy.fft import set_backend as set_backend
from scipy.fft import set_global_backend as set_global_backend
from scipy.fft import set_workers as set_workers
from scipy.fft import skip_backend as skip_backend

from ._dispatch import system

@system.dispatchable()
def dct(
    x: Any,
    type: Any = ...,
    n: Any = ...,
    axis: Any = ...,
    norm: Any = ...,
    overwrite_x: Any = ...,
    workers: Any = ...,
    orthogonalize: Any = ...,
) -> Any: ...
@system.dispatchable()
def dctn(
    x: Any,
    type: Any = ...,
    s: Any = ...,
    axes: Any = ...,
    norm: Any = ...,
    overwrite_x: Any = ...,
    workers: Any = ...,
    *,
    orthogonalize: Any = ...,
) -> Any: ...
@system.dispatchable()
def dst(
    x: Any,
    type: Any = ...,
    n: Any = ...,
    axis: Any = ...,
    norm: Any = ...,
    overwrite_x: Any = ...,
    workers: Any = ...,
    orthogonalize: Any = ...,
) -> Any: ...
@system.dispatchable()
def dstn(
    x: Any,
    type: Any = ...,
    s: Any = ...,
    axes: Any = ...,
    norm: Any = ...,
    overwrite_x: Any = ...,
    workers: Any = ...,
    orthogonalize: Any = ...,
) -> Any: ...
@system.dispatchable()
def fft(
    x: Any,
    n: Any = ...,
    axis: Any = ...,
    norm: Any = ...,
    overwrite_x: Any = ...,
    workers: Any = ...,
    *,
    plan: Any = ...,
) -> Any: ...
@system.dispatchable()
def fft2(
    x: Any,
    s: Any = ...,
    axes: Any = ...,
    norm: Any = ...,
    overwrite_x: Any = ...,
    workers: Any = ...,
    *,
    plan: Any = ...,
) -> Any: ...
@system.dispatchable()
def fftn(
    x: Any,
    s: Any = ...,
    axes: Any = ...,
    norm: Any = ...,
    overwrite_x: Any = ...,
    workers: Any = ...,
    *,
    plan: Any = ...,
) -> Any: ...
@system.dispatchable()
def fftshift(x: Any, axes: Any = ...) -> Any: ...
@system.dispatchable()
def fht(a: Any, dln: Any, mu: Any, offset: Any = ..., bias: Any = ...) -> Any: ...
@system.dispatchable()
def hfft(
    x: Any,
    n: Any = ...,
    axis: Any = ...,
    norm: Any = ...,
    overwrite_x: Any = ...,
    workers: Any = ...,
    *,
    plan: Any = ...,
) -> Any: ...
@system.dispatchable()
def hfft2(
    x: Any,
    s: Any = ...,
    axes: Any = ...,
    norm: Any = ...,
    overwrite_x: Any = ...,
    workers: Any = ...,
    *,
    plan: Any = ...,
) -> Any: ...
@system.dispatchable()
def hfftn(
    x: Any,
    s: Any = ...,
    axes: Any = ...,
    norm: Any = ...,
    overwrite_x: Any = ...,
    workers: Any = ...,
    *,
    plan: Any = ...,
) -> Any: ...
@system.dispatchable()
def idct(
    x: Any,
    type: Any = ...,
    n: Any = ...,
    axis: Any = ...,
    norm: Any = ...,
    overwrite_x: Any = ...,
    workers: Any = ...,
    orthogonalize: Any = ...,
) -> Any: ...
@system.dispatchable()
def idctn(
    x: Any,
    type: Any = ...,
    s: Any = ...,
    axes: Any = ...,
    norm: Any = ...,
    overwrite_x: Any = ...,
    workers: Any = ...,
    orthogonalize: Any = ...,
) -> Any: ...
@system.dispatchable()
def idst(
    x: Any,
    type: Any = ...,
    n: Any = ...,
    axis: Any = ...,
    norm: Any = ...,
    overwrite_x: Any = ...,
    workers: Any = ...,
    orthogonalize: Any = ...,
) -> Any: ...
@system.dispatchable()
def idstn(
    x: Any,
    type: Any = ...,
    s: Any = ...,
    axes: Any = ...,
    norm: Any = ...,
    overwrite_x: Any = ...,
    workers: Any = ...,
    orthogonalize: Any = ...,
) -> Any: ...
@system.dispatchable()
def ifft(
    x: Any,
    n: Any = ...,
    axis: Any = ...,
    norm: Any = ...,
    overwrite_x: Any = ...,
    workers: Any = ...,
    *,
    plan: Any = ...,
) -> Any: ...
@system.dispatchable()
def ifft2(
    x: Any,
    s: Any = ...,
    axes: Any = ...,
    norm: Any = ...,
    overwrite_x: Any = ...,
    workers: Any = ...,
    *,
    plan: Any = ...,
) -> Any: ...
@system.dispatchable()
def ifftn(
    x: Any,
    s: Any = ...,
    axes: Any = ...,
    norm: Any = ...,
    overwrite_x: Any = ...,
    workers: Any = ...,
    *,
    plan: Any = ...,
) -> Any: ...
@system.dispatchable()
def ifftshift(x: Any, axes: Any = ...) -> Any: ...
@system.dispatchable()
def ifht(A: Any, dln: Any, mu: Any, offset: Any = ..., bias: Any = ...) -> Any: ...
@system.dispatchable()
def ihfft(
    x: Any,
    n: Any = ...,
    axis: Any = ...,
    norm: Any = ...,
    overwrite_x: Any = ...,
    workers: Any = ...,
    *,
    plan: Any = ...,
) -> Any: ...
@system.dispatchable()
def ihfft2(
    x: Any,
    s: Any = ...,
    axes: Any = ...,
    norm: Any = ...,
    overwrite_x: Any = ...,
    workers: Any = ...,
    *,
    plan: Any = ...,
) -> Any: ...
@system.dispatchable()
def ihfftn(
    x: Any,
    s: Any = ...,
    axes: Any = ...,
    norm: Any = ...,
    overwrite_x: Any = ...,
    workers: Any = ...,
    *,
    plan: Any = ...,
) -> Any: ...
@system.dispatchable()
def irfft(
    x: Any,
    n: Any = ...,
    axis: Any = ...,
    norm: Any = ...,
    overwrite_x: Any = ...,
    workers: Any = ...,
    *,
    plan: Any = ...,
) -> Any: ...
@system.dispatchable()
def irfft2(
    x: Any,
    s: Any = ...,
    axes: Any = ...,
    norm: Any = ...,
    overwrite_x: Any = ...,
    workers: Any = ...,
    *,
    plan: Any = ...,
) -> Any: ...
@system.dispatchable()
def irfftn(
    x: Any,
    s: Any = ...,
    axes: Any = ...,
    norm: Any = ...,
    overwrite_x: Any = ...,
    workers: Any = ...,
    *,
    plan: Any = ...,
) -> Any: ...
@system.dispatchable()
def rfft(
    x: Any,
    n: Any = ...,
    axis: Any = ...,
    norm: Any = ...,
    overwrite_x: Any = ...,
    workers: Any = ...,
    *,
    plan: Any = ...,
) -> Any: ...
@system.dispatchable()
def rfft2(
    x: Any,
    s: Any = ...,
    axes: Any = ...,
    norm: Any = ...,
    overwrite_x: Any = ...,
    workers: Any = ...,
    *,
    plan: Any = ...,
) -> Any: ...
@system.dispatchable()
def rfftn(
    x: Any,
    s: Any = ...,
    axes: Any = ...,
    norm: Any = ...,
    overwrite_x: Any = ...,
    workers: Any = ...,
    *,
    plan: Any = ...,
) -> Any: ...
