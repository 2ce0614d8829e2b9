"""The modules called `cupy` and `cupyx`: which are CuPy's own, and which stand in for others."""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import math
import operator
import sys
from contextlib import AbstractContextManager, nullcontext
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np

from . import _arrays, _kernels, _transforms
from ._arrays import as_cupy, wrapped
from ._compiler import compiler, why_no_compiler
from ._errors import Missing, NotEmulated, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

OWN_SOURCES = (
    "cupy.fft",
    *(f"cupyx.scipy.{name}" for name in ("ndimage", "signal", "fft", "_lib")),
)
"""Packages of which CuPy's own, unchanged sources run."""

_NO_COUNTERPART = "nothing of NumPy's stands in for it yet, in tools/emulator/_modules.py"
_PLANS = (
    *("clear_plan_cache", "get_plan_cache_max_memsize", "get_plan_cache_size"),
    *("set_plan_cache_max_memsize", "set_plan_cache_size", "show_plan_cache_info"),
)
_AS_THEY_ARE = {
    *("broadcast_shapes", "finfo", "format_float_positional", "iinfo", "isscalar"),
    *("min_scalar_type", "printoptions", "promote_types", "typename", "mintypecode"),
}
_TAKE_HOST_ARRAYS = {"result_type", "ndim", "shape", "size", "iscomplexobj", "isrealobj"}
_WITH_OUT = {"dot", "i0", "sinc"}


class StandIn(ModuleType):
    """A module in the place of one that needs a GPU.

    Parameters
    ----------
    name : str
        Of the module.
    contents : mapping
        What it has.
    names : iterable of str, optional
        What it has in CuPy too; to use such a thing raises `NotEmulated`.
    needs : str, optional
        What that would take.
    folder : Path, optional
        Where modules below it are.
    """

    def __init__(
        self,
        name: str,
        contents: dict[str, Any],
        names: Iterable[str] = (),
        needs: str = _NO_COUNTERPART,
        folder: Path | None = None,
    ) -> None:
        super().__init__(name, "Stands in for a module of CuPy: see `emulator`.")
        self.__spec__ = ModuleSpec(name, None, is_package=True)
        self.__path__ = [] if folder is None else [str(folder)]
        self._names = frozenset(names)
        self._needs = needs
        self.__dict__.update(contents)

    def __getattr__(self, name: str) -> Any:
        if name in self._names:
            return Missing(f"{self.__name__}.{name}", self._needs)
        if name.startswith("_") and not name.startswith("__"):
            # CuPy's own business, which this would have if anything had needed it before.
            raise NotEmulated(f"{self.__name__}.{name}", _NO_COUNTERPART)
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._names})


class _Guard:
    """Refuses to import what is CuPy's, and neither emulated nor plain Python."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:
        if name.partition(".")[0] not in ("cupy", "cupyx", "cupy_backends"):
            return
        if not name.startswith(OWN_SOURCES):
            raise NotEmulated(f"the module {name}", _NO_COUNTERPART)


def why_unavailable() -> str | None:
    """Say why the emulator cannot be used; None if it can."""
    if why_no_compiler():
        return why_no_compiler()
    if isinstance(sys.modules.get("cupy"), StandIn) or _installed() is not None:
        return None
    return (
        "CuPy's sources are not installed: pip install cupy-cuda12x, say, which takes neither a "
        "GPU nor CUDA"
    )


def install(*, fma: bool = True) -> None:
    """Put the emulated `cupy` and `cupyx` into this process.

    Parameters
    ----------
    fma : bool, optional
        Whether kernels round ``a * b + c`` once, as CUDA's compiler makes them.

    Raises
    ------
    Unavailable
        If there is no C++ compiler, or CuPy is not installed, or was imported already.
    """
    reason = why_unavailable()
    if reason:
        raise Unavailable(reason)
    _kernels.use(compiler(fma))
    if isinstance(sys.modules.get("cupy"), StandIn):
        return
    if "cupy" in sys.modules or "cupyx" in sys.modules:
        raise Unavailable("CuPy was imported already: install the emulator before")
    folder = _installed()
    assert folder is not None
    for module in _modules(folder):
        sys.modules[module.__name__] = module
        parent, _, name = module.__name__.rpartition(".")
        if parent in sys.modules:
            setattr(sys.modules[parent], name, module)
    sys.meta_path.insert(0, _Guard)
    importlib.import_module("cupy.fft")  # as CuPy does


def _installed() -> Path | None:
    """Return the folder that `cupy` and `cupyx` are in."""
    try:
        spec = importlib.util.find_spec("cupyx")
    except ValueError:
        return None
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parents[1]
    return folder if (folder / "cupyx/scipy/ndimage/_filters_core.py").is_file() else None


def _modules(folder: Path) -> list[StandIn]:
    """Return the modules, each after the package that it is in."""
    return [
        StandIn("cupy", _cupy(folder), _names(folder / "cupy/__init__.py"), folder=folder / "cupy"),
        *_core(),
        *_cuda(),
        StandIn("cupy.exceptions", _exceptions()),
        StandIn("cupy.linalg", _of(np.linalg), _names(folder / "cupy/linalg/__init__.py")),
        StandIn("cupy.fft._cache", {"get_plan_cache": dict}, _PLANS),
        StandIn(
            "cupy.fft._callback",
            {"get_current_callback_manager": staticmethod(lambda: None)},
            ["set_cufft_callbacks"],
            "they are compiled into cuFFT",
        ),
        StandIn("cupy.random", {}, _names(folder / "cupy/random/__init__.py")),
        StandIn("cupy.polynomial", {}),
        StandIn("cupy.polynomial.polynomial", _of(np.polynomial.polynomial)),
        StandIn("cupy_backends", {}),
        StandIn("cupy_backends.cuda", {}),
        StandIn("cupy_backends.cuda.api", {}),
        StandIn("cupy_backends.cuda.api.runtime", {"is_hip": False}),
        *_cupyx(folder),
    ]


def _cupy(folder: Path) -> dict[str, Any]:
    """Return what `cupy` has under names that NumPy has too, and its kernels."""
    names = _names(folder / "cupy/__init__.py")
    contents = _of(np, names)
    contents.update({name: _arrays.with_out(getattr(np, name)) for name in _WITH_OUT})
    for function in (
        *(_arrays.argsort, _arrays.array, _arrays.asarray, _arrays.ascontiguousarray),
        *(_arrays.asnumpy, _arrays.can_cast, _arrays.shares_memory),
        *(_kernels.ElementwiseKernel, _kernels.RawKernel, _kernels.RawModule),
    ):
        contents[function.__name__] = function
    return {
        **contents,
        "__version__": _version(folder),
        "AxisError": np.exceptions.AxisError,
        "ReductionKernel": _later("cupy.ReductionKernel", "no function here has needed one"),
        "asanyarray": _arrays.asarray,
        "bool": np.bool_,
        "broadcast": _broadcast,
        "c_": _Subscripted(np.c_),
        "fuse": _fuse,
        "get_default_memory_pool": lambda: _POOL,
        "memoize": _memoize,
        "ndarray": _arrays.ndarray,
        "ogrid": _Subscripted(np.ogrid),
        "mgrid": _Subscripted(np.mgrid),
        "r_": _Subscripted(np.r_),
        "s_": np.s_,
    }


def _core() -> list[StandIn]:
    scalar = {"get_typename": _kernels.get_typename}
    internal = {
        "_normalize_axis_index": _normalize_axis_index,
        "_normalize_axis_indices": _normalize_axis_indices,
        "prod": math.prod,
    }
    # CuPy uses CUB unless it is told not to. Where sources ask, they take the way for it.
    core = {
        "ElementwiseKernel": _kernels.ElementwiseKernel,
        "elementwise_copy": _arrays.elementwise_copy,
        "get_routine_accelerators": lambda: [1],
        "ndarray": _arrays.ndarray,
    }
    return [
        StandIn("cupy._math", {}),
        StandIn("cupy._math.misc", {"_choose_conv_method": _choose_conv_method}),
        StandIn("cupy._util", {"memoize": _memoize, "PerformanceWarning": _PerformanceWarning}),
        StandIn("cupy._core", core),
        StandIn("cupy._core.internal", internal),
        StandIn("cupy._core._scalar", scalar),
        StandIn("cupy._core._accelerator", {"ACCELERATOR_CUB": 1}),
    ]


def _cuda() -> list[StandIn]:
    class OutOfMemoryError(MemoryError):
        pass

    class CUDARuntimeError(RuntimeError):
        pass

    properties = {"name": b"the processor, emulated", "major": 0, "minor": 0, "warpSize": 32}
    runtime = {
        "CUDARuntimeError": CUDARuntimeError,
        "driverGetVersion": lambda: 0,
        "getDevice": lambda: 0,
        "getDeviceCount": lambda: 1,
        "getDeviceProperties": lambda _: dict(properties),
        "is_hip": False,
        "memGetInfo": lambda: (2**40, 2**40),
        "runtimeGetVersion": lambda: 0,
    }
    attributes = {"MaxGridDimY": 65535, "MaxGridDimX": 2**31 - 1, "MultiProcessorCount": 1}
    return [
        StandIn(
            "cupy.cuda",
            {"Device": lambda *_: SimpleNamespace(attributes=attributes, id=0)},
            ("Stream", "Event", "get_current_stream"),
            "nothing runs beside anything else here",
        ),
        StandIn("cupy.cuda.runtime", runtime),
        StandIn("cupy.cuda.cufft", _transforms.contents()),
        StandIn("cupy.cuda.memory", {"OutOfMemoryError": OutOfMemoryError}),
        StandIn("cupy.cuda.compiler", {"CompileException": _kernels.CompileException}),
    ]


def _cupyx(folder: Path) -> list[StandIn]:
    import scipy.interpolate
    import scipy.linalg
    import scipy.special

    bsplines = SimpleNamespace(basis_element=_splines(scipy.interpolate.BSpline.basis_element))
    base = folder / "cupyx/scipy"
    special = {
        name: as_cupy(value)
        for name, value in vars(scipy.special).items()
        if isinstance(value, np.ufunc)
    }
    return [
        StandIn("cupyx", {"errstate": _errstate}, _names(folder / "cupyx/__init__.py")),
        StandIn("cupyx.jit", {"rawkernel": _rawkernel}),
        StandIn("cupyx._texture", {}, ["affine_transformation"], "textures are GPUs' own"),
        StandIn("cupyx.scipy", {}, folder=base),
        StandIn("cupyx.scipy.special", special, _names(base / "special/__init__.py")),
        StandIn("cupyx.scipy.linalg", _of(scipy.linalg), _names(base / "linalg/__init__.py")),
        StandIn(
            "cupyx.scipy.interpolate",
            {"make_interp_spline": _splines(scipy.interpolate.make_interp_spline)},
            _names(base / "interpolate/__init__.py"),
        ),
        StandIn("cupyx.scipy.interpolate._bspline", {"BSpline": bsplines}),
        StandIn("cupyx.scipy.sparse", {"issparse": lambda _: False}),
        StandIn("cupyx.scipy.ndimage._bbox_slices", {"create_bbox_slice_tuple": _bounding_slices}),
    ]


def _of(module: ModuleType, names: Iterable[str] | None = None) -> dict[str, Any]:
    """Return the functions of NumPy's or SciPy's as CuPy's: all, or those of the names."""
    found: dict[str, Any] = {}
    for name in dir(module) if names is None else names:
        value = getattr(module, name, None)
        if value is None and name != "newaxis":
            continue
        if name in _AS_THEY_ARE or _is_plain(value):
            found[name] = value
        elif isinstance(value, type) and module is np:
            found[name] = _class_not_emulated(f"cupy.{name}")
        elif callable(value) and not isinstance(value, type) and not name.startswith("__"):
            found[name] = as_cupy(value, host_arrays=name in _TAKE_HOST_ARRAYS)
    return found


def _class_not_emulated(name: str) -> type:
    """Return a class that nothing is an instance of."""

    def refuse(*args: Any, **kwargs: Any) -> None:
        raise NotEmulated(name, "it would have to hold arrays of CuPy's")

    return type(name.rpartition(".")[2], (), {"__new__": refuse, "__module__": "cupy"})


def _is_plain(value: Any) -> bool:
    """Whether it is a number, a data type or an error, which CuPy takes from NumPy."""
    if isinstance(value, type):
        return issubclass(value, np.generic | np.dtype | BaseException)
    return value is None or isinstance(value, bool | int | float)


@functools.cache
def _names(path: Path) -> frozenset[str]:
    """Return the public names of a module, read from its source."""
    if not path.is_file():
        return frozenset()
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom | ast.Import):
            found.update(alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found.update(each.id for each in node.targets if isinstance(each, ast.Name))
    return frozenset(each for each in found if not each.startswith("_") and "." not in each)


def _version(folder: Path) -> str:
    tree = ast.parse((folder / "cupy/_version.py").read_text(encoding="utf-8"))
    values = [
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
    ]
    return str(values[0]) if values else "unknown"


def _exceptions() -> dict[str, Any]:
    return {name: value for name, value in vars(np.exceptions).items() if isinstance(value, type)}


class _Subscripted:
    """Such as `numpy.r_`, of CuPy's arrays."""

    def __init__(self, of_numpy: Any) -> None:
        self._of_numpy = of_numpy

    def __getitem__(self, key: Any) -> Any:
        return wrapped(self._of_numpy[_arrays.unwrapped(key)])


class _Pool:
    @staticmethod
    def free_bytes() -> int:
        return 0

    @staticmethod
    def free_all_blocks() -> None:
        """Free nothing: there is no pool."""


_POOL = _Pool()


class _PerformanceWarning(RuntimeWarning):
    """Told where CuPy knows a quicker way."""


def _memoize(for_each_device: bool = False) -> Callable[[Any], Any]:
    return functools.cache  # equal arguments are the same, as with CuPy


def _broadcast(*arrays: Any) -> np.broadcast:
    return np.broadcast(*_arrays.unwrapped(arrays))


def _splines(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that makes splines as one of CuPy's arrays."""
    return lambda *args, **kwargs: as_cupy(make(*_arrays.unwrapped(args), **kwargs))


def _fuse(*args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    """Leave the operations apart: each is rounded for itself."""
    return lambda function: function


def _errstate(**_: Any) -> AbstractContextManager[None]:
    """Change nothing: NumPy's linear algebra always raises."""
    return nullcontext()


def _rawkernel(*args: Any, **kwargs: Any) -> Callable[[Any], Missing]:
    def decorate(function: Callable[..., Any]) -> Missing:
        what = f"{function.__module__}.{function.__name__}"
        return Missing(what, "it is Python that CuPy translates to CUDA")

    return decorate


def _later(what: str, needs: str) -> Callable[..., Missing]:
    """Return a class whose instances can be made, and not be used."""
    return lambda *args, **kwargs: Missing(what, needs)


def _normalize_axis_index(axis: int, ndim: int) -> int:
    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(axis, ndim)
    return operator.index(axis) % ndim


def _normalize_axis_indices(
    axes: int | Sequence[int] | None, ndim: int, sort_axes: bool = True
) -> tuple[int, ...]:
    if axes is None:
        return tuple(range(ndim))
    given = (axes,) if isinstance(axes, int) else axes
    found = tuple(_normalize_axis_index(each, ndim) for each in given)
    if len(set(found)) != len(found):
        raise ValueError("duplicate value in 'axis'")
    return tuple(sorted(found)) if sort_axes else found


def _choose_conv_method(in1: Any, in2: Any, mode: str) -> str:
    """Choose as CuPy does, which measures nothing."""
    if in1.ndim != 1 or in2.ndim != 1:
        raise NotImplementedError("Only 1d inputs are supported currently")
    return "direct" if in1.dtype.kind in "bui" or in2.dtype.kind in "bui" else "fft"


def _bounding_slices(corners: np.ndarray, absent: int) -> list[tuple[slice, ...] | None]:
    """Return the slices of each object, from pairs of first and last positions."""
    return [
        None
        if row[0] == absent
        else tuple(slice(int(a), int(b)) for a, b in zip(row[::2], row[1::2], strict=True))
        for row in corners
    ]
