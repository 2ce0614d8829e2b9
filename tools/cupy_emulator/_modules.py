"""The emulated modules `cupy` and `cupyx`: CuPy's own sources and the stand-ins for the others."""

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
"""Packages whose unchanged CuPy sources run."""

_NO_COUNTERPART = "nothing of NumPy's stands in for it yet, in tools/cupy_emulator/_modules.py"
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
    """A module that replaces a module that needs a GPU.

    Parameters
    ----------
    name : str
        The name of the module.
    contents : mapping
        The names that are emulated, with their values.
    names : iterable of str, optional
        The names that the module has in CuPy; using one that is not emulated raises
        `NotEmulated`.
    needs : str, optional
        What emulating those names would require.
    folder : Path, optional
        The folder that contains its submodules.
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
            # A private name of CuPy's that no emulated code has needed so far.
            raise NotEmulated(f"{self.__name__}.{name}", _NO_COUNTERPART)
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._names})


class _Guard:
    """An import hook that rejects modules of CuPy that are neither emulated nor plain Python."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:
        if name.partition(".")[0] not in ("cupy", "cupyx", "cupy_backends"):
            return
        if not name.startswith(OWN_SOURCES):
            raise NotEmulated(f"the module {name}", _NO_COUNTERPART)


def why_unavailable() -> str | None:
    """Return why the emulator cannot be used; None if it can."""
    if why_no_compiler():
        return why_no_compiler()
    if isinstance(sys.modules.get("cupy"), StandIn) or _installed() is not None:
        return None
    return (
        "CuPy's sources are not installed: pip install cupy-cuda12x, say, which takes neither a "
        "GPU nor CUDA"
    )


def install(*, fma: bool = True) -> None:
    """Add the emulated `cupy` and `cupyx` to this process.

    Parameters
    ----------
    fma : bool, optional
        Whether kernels round ``a * b + c`` once, as code from CUDA's compiler does.

    Raises
    ------
    Unavailable
        If there is no C++ compiler, or CuPy is not installed, or CuPy was already imported.
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
    """Return the folder that contains `cupy` and `cupyx`."""
    try:
        spec = importlib.util.find_spec("cupyx")
    except ValueError:
        return None
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parents[1]
    return folder if (folder / "cupyx/scipy/ndimage/_filters_core.py").is_file() else None


def _modules(folder: Path) -> list[StandIn]:
    """Return the modules, each after its parent package."""
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
    """Return the contents of `cupy`: the names that NumPy has too, and the kernels."""
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
    # CuPy uses CUB by default. These values select the same code path in its sources.
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
    """Return functions of a NumPy or SciPy module as CuPy's: all, or those in `names`."""
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
    """Return a class that cannot be instantiated, for `isinstance` checks."""

    def refuse(*args: Any, **kwargs: Any) -> None:
        raise NotEmulated(name, "it would have to hold arrays of CuPy's")

    return type(name.rpartition(".")[2], (), {"__new__": refuse, "__module__": "cupy"})


def _is_plain(value: Any) -> bool:
    """Return whether it is a number, data type or exception, which CuPy takes from NumPy."""
    if isinstance(value, type):
        return issubclass(value, np.generic | np.dtype | BaseException)
    return value is None or isinstance(value, bool | int | float)


@functools.cache
def _names(path: Path) -> frozenset[str]:
    """Return the public names of a module, parsed from its source."""
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
    """Return CuPy arrays for objects that are subscripted, such as `numpy.r_`."""

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
        """Do nothing: there is no pool."""


_POOL = _Pool()


class _PerformanceWarning(RuntimeWarning):
    """The warning that CuPy issues when there is a faster way."""


def _memoize(for_each_device: bool = False) -> Callable[[Any], Any]:
    return functools.cache  # equal arguments count as the same call, as in CuPy


def _broadcast(*arrays: Any) -> np.broadcast:
    return np.broadcast(*_arrays.unwrapped(arrays))


def _splines(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that creates splines as a function of CuPy arrays."""
    return lambda *args, **kwargs: as_cupy(make(*_arrays.unwrapped(args), **kwargs))


def _fuse(*args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    """Do not fuse the operations: each result is rounded separately."""
    return lambda function: function


def _errstate(**_: Any) -> AbstractContextManager[None]:
    """Do nothing: NumPy's linear algebra always raises errors."""
    return nullcontext()


def _rawkernel(*args: Any, **kwargs: Any) -> Callable[[Any], Missing]:
    def decorate(function: Callable[..., Any]) -> Missing:
        what = f"{function.__module__}.{function.__name__}"
        return Missing(what, "it is Python that CuPy translates to CUDA")

    return decorate


def _later(what: str, needs: str) -> Callable[..., Missing]:
    """Return a factory of placeholders, which can be created but not used."""
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
    """Choose a method as CuPy does, without measuring."""
    if in1.ndim != 1 or in2.ndim != 1:
        raise NotImplementedError("Only 1d inputs are supported currently")
    return "direct" if in1.dtype.kind in "bui" or in2.dtype.kind in "bui" else "fft"


def _bounding_slices(corners: np.ndarray, absent: int) -> list[tuple[slice, ...] | None]:
    """Return the slices of each object, from pairs of first and last indices."""
    return [
        None
        if row[0] == absent
        else tuple(slice(int(a), int(b)) for a, b in zip(row[::2], row[1::2], strict=True))
        for row in corners
    ]
