"""`cupy.ElementwiseKernel`, `cupy.RawKernel` and `cupy.RawModule`, compiled for the processor."""

from __future__ import annotations

import ctypes
import math
import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ._arrays import is_scalar, ndarray, wrapped
from ._compiler import CompileError, Compiler
from ._errors import NotEmulated

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

_NAMES = {
    "?": "bool",
    "i1": "signed char",
    "i2": "short",
    "i4": "int",
    "i8": "long long",
    "u1": "unsigned char",
    "u2": "unsigned short",
    "u4": "unsigned int",
    "u8": "unsigned long long",
    "f2": "float16",
    "f4": "float",
    "f8": "double",
    "c8": "complex<float>",
    "c16": "complex<double>",
}
_C_TYPES = {np.dtype(code): name for code, name in _NAMES.items()}

_BEYOND = {
    r"__syncwarp|cooperative_groups": "threads of a warp or of a grid wait for each other, and "
    "here those of a block do only",
    r"extern\s+__shared__": "the memory that threads share has a size that the call decides",
    r"__shfl|__ballot|__activemask|__any_sync|__all_sync": "threads of a warp exchange values, "
    "and here they take turns",
    r"launch\w*\(&max_len_seq\b": "threads of a warp are taken to run in step",
    r"typedef float16 |launch\w*\(&[^;]*\b(half|float16)\b": "many C++ compilers "
    "have no numbers of 16 bits",
    r"cudaTextureObject_t|\btex[123]D\b": "textures are interpolated by the hardware",
}
"""Patterns in a kernel's source that cannot be emulated, with the reason."""

_settings: dict[str, Compiler] = {}


class CompileException(Exception):  # noqa: N818 - CuPy's name
    """The exception that CuPy raises when CUDA's compiler rejects a kernel."""


def use(compiler: Compiler) -> None:
    """Use `compiler` for all kernels compiled from now on."""
    _settings["compiler"] = compiler


def get_typename(dtype: Any) -> str:
    """Return the C++ name of a data type, as CuPy does."""
    return _C_TYPES[np.dtype(dtype)]


class _Parameter(NamedTuple):
    """A parameter of an elementwise kernel, such as ``raw T x``."""

    is_raw: bool
    type: str
    name: str

    @property
    def is_generic(self) -> bool:
        """Whether its type is a single letter, a placeholder for the type of the argument."""
        return len(self.type) == 1

    @classmethod
    def parse(cls, text: str) -> list[_Parameter]:
        """Return the parameters declared by a text such as ``"T x, raw float64 w"``."""
        found = []
        for each in filter(None, map(str.strip, text.split(","))):
            *words, type_, name = each.split()
            found.append(cls("raw" in words, type_, name))
        return found


class ElementwiseKernel:
    """A kernel that applies an operation to every element.

    Parameters
    ----------
    in_params, out_params, operation, name, preamble, loop_prep, after_loop
        As in `cupy.ElementwiseKernel`. Other parameters affect the speed only.
    """

    def __init__(
        self,
        in_params: str,
        out_params: str,
        operation: str,
        name: str = "kernel",
        reduce_dims: bool = True,
        preamble: str = "",
        no_return: bool = False,
        return_tuple: bool = False,
        loop_prep: str = "",
        after_loop: str = "",
        **_: Any,
    ) -> None:
        self.name = name
        self._inputs = _Parameter.parse(in_params)
        self._outputs = _Parameter.parse(out_params)
        self._operation = operation
        self._preamble = preamble
        self._before = loop_prep
        self._after = after_loop
        self._return_tuple = return_tuple

    def __call__(self, *args: Any, size: int | None = None, **_: Any) -> Any:
        """Run the kernel and return the outputs, which are allocated if not given."""
        inputs = args[: len(self._inputs)]
        outputs = args[len(self._inputs) :]
        if len(inputs) < len(self._inputs) or len(outputs) not in (0, len(self._outputs)):
            raise TypeError(f"Wrong number of arguments for {self.name!r}")
        for each in args:
            if not isinstance(each, ndarray) and not is_scalar(each):
                raise TypeError(f"Unsupported type {type(each)}")
        types = self._types(inputs, outputs)
        shape = self._shape(inputs, outputs, size)
        outputs = outputs or tuple(
            wrapped(np.empty(shape, _dtype(each, types))) for each in self._outputs
        )
        self._run((*inputs, *outputs), types, shape)
        return outputs[0] if len(outputs) == 1 and not self._return_tuple else outputs

    def _types(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> dict[str, np.dtype[Any]]:
        """Return the data type of each placeholder letter; arrays must agree about it."""
        types: dict[str, np.dtype[Any]] = {}
        pairs = [
            *zip(self._outputs, outputs, strict=False),
            *zip(self._inputs, inputs, strict=True),
        ]
        for parameter, value in pairs:
            if not isinstance(value, ndarray):
                continue
            known = types.setdefault(parameter.type, value.dtype)
            wanted = known if parameter.is_generic else np.dtype(parameter.type)
            if value.dtype != wanted:
                raise TypeError(
                    f"Type is mismatched. {parameter.name} of {self.name} is {value.dtype}, "
                    f"not {wanted}"
                )
        for parameter, value in pairs:
            if parameter.type not in types and not isinstance(value, ndarray):
                types[parameter.type] = np.asarray(value).dtype
        return {letter: dtype for letter, dtype in types.items() if len(letter) == 1}

    def _shape(
        self, inputs: Sequence[Any], outputs: Sequence[Any], size: int | None
    ) -> tuple[int, ...]:
        if size is not None:
            return (size,)
        shapes = [
            value.shape
            for parameter, value in [
                *zip(self._inputs, inputs, strict=True),
                *zip(self._outputs, outputs, strict=False),
            ]
            if isinstance(value, ndarray) and not parameter.is_raw
        ]
        if not shapes:
            raise ValueError(f"Loop size is undecided: {self.name} takes no array as a whole")
        return np.broadcast_shapes(*shapes)

    def _run(
        self, args: Sequence[Any], types: dict[str, np.dtype[Any]], shape: tuple[int, ...]
    ) -> None:
        parameters = [*self._inputs, *self._outputs]
        by_value = [not isinstance(each, ndarray) for each in args]
        hosts = []
        for parameter, value in zip(parameters, args, strict=True):
            if isinstance(value, ndarray):
                host = value.host if parameter.is_raw else np.broadcast_to(value.host, shape)
            else:
                host = np.asarray(value).astype(_dtype(parameter, types))
            hosts.append(host)
        library = _library(self.name, self._source(types, by_value))
        library.run(
            ctypes.c_ssize_t(math.prod(shape)),
            (ctypes.c_void_p * len(hosts))(*[each.ctypes.data for each in hosts]),
            _table(each.shape for each in hosts),
            _table(each.strides for each in hosts),
            (ctypes.c_int * len(hosts))(*[each.ndim for each in hosts]),
        )

    def _source(self, types: dict[str, np.dtype[Any]], by_value: Sequence[bool]) -> str:
        names = [f"typedef {get_typename(dtype)} {letter};" for letter, dtype in types.items()]
        before, each_time = [], []
        for number, parameter in enumerate((*self._inputs, *self._outputs)):
            c_type = get_typename(_dtype(parameter, types))
            if by_value[number]:
                value = f"*({c_type}*)data[{number}]"
                before.append(f"const {c_type} {parameter.name} = {value};")
                continue
            if number < len(self._inputs):
                c_type = f"const {c_type}"
            array = parameter.name if parameter.is_raw else f"_raw_{parameter.name}"
            fields = f"({c_type}*)data[{number}], shapes[{number}], strides[{number}]"
            before.append(f"CArray<{c_type}> {array}{{{fields}, dimensions[{number}]}};")
            if not parameter.is_raw:
                each_time.append(f"{c_type}& {parameter.name} = {array}[i];")
        return "\n".join(
            [
                *names,
                _without_headers(self._preamble),
                'extern "C" void run(ptrdiff_t length, void** data, const ptrdiff_t** shapes,',
                "                    const ptrdiff_t** strides, const int* dimensions) {",
                "const CIndexer _ind{length};",
                *before,
                # One thread for each element, as CuPy has for arrays that fit in the grid.
                "for (ptrdiff_t i = 0; i < length; ++i) {",
                f"{self._before};",
                *each_time,
                self._body(),
                f"{self._after};",
                "}",
                "}",
            ]
        )

    def _body(self) -> str:
        """Return the operation; a return statement in it continues with the next element."""
        if not re.search(r"\breturn\b", self._operation):
            return f"{self._operation};"
        return f"[&]() {{ {self._operation}; }}();"


_THREADS = 1024
"""The largest number of threads in a CUDA block."""
_BLOCKS = 65_535
"""The largest number of blocks along the second and third axis of a grid."""


class RawKernel:
    """A kernel that is launched with a grid of thread blocks.

    Parameters
    ----------
    code, name
        As in `cupy.RawKernel`. `name` may be an instance of a template.
    """

    def __init__(self, code: str, name: str, options: Any = (), **_: Any) -> None:
        self.code = code
        self.name = name
        self.options = options
        self.kernel = self
        self.attributes: dict[str, Any] = {}

    def __call__(self, grid: Any, block: Any, args: Any, **_: Any) -> None:
        """Run all threads in sequence, or let them take turns if they synchronize.

        Raises
        ------
        RuntimeError
            If there are more threads or blocks than CUDA allows; see the table of technical
            specifications in the CUDA C++ Programming Guide.
        """
        threads, blocks = _three(block), _three(grid)
        if math.prod(threads) > _THREADS or max(blocks[1:]) > _BLOCKS:
            raise RuntimeError(f"CUDA_ERROR_INVALID_VALUE: {blocks} blocks of {threads} threads")
        for each in args:
            if not isinstance(each, ndarray) and not is_scalar(each):
                raise TypeError(f"Unsupported type {type(each)}")
        has_barriers = re.search("__syncthreads|__shared__", _as_compiled(self.code))
        launch = "launch_in_turns" if has_barriers else "launch"
        code = f"""{_without_headers(self.code)}
extern "C" void run(const unsigned* grid, const unsigned* block, void** given) {{
  {launch}(&{self.name}, grid, block, given);
}}
"""
        held = [
            np.array(each.host.ctypes.data, np.uintp)
            if isinstance(each, ndarray)
            else np.asarray(each)
            for each in args
        ]
        library = _library(self.name, code)
        library.run(
            (ctypes.c_uint * 3)(*_three(grid)),
            (ctypes.c_uint * 3)(*_three(block)),
            (ctypes.c_void_p * len(held))(*[each.ctypes.data for each in held]),
        )


class RawModule:
    """A source that contains several kernels.

    Parameters
    ----------
    code, name_expressions
        As in `cupy.RawModule`; modules cannot be loaded from a file.
    """

    def __init__(self, code: str | None = None, path: str | None = None, **_: Any) -> None:
        self._code = code
        self._path = path

    def get_function(self, name: str) -> RawKernel:
        """Return the kernel with a given name, which may be an instance of a template."""
        if self._code is None:
            raise NotEmulated(f"the kernel {name} of {self._path}", "it is compiled for a GPU")
        return RawKernel(self._code, name)


def _dtype(parameter: _Parameter, types: dict[str, np.dtype[Any]]) -> np.dtype[Any]:
    if not parameter.is_generic:
        return np.dtype(parameter.type)
    if parameter.type not in types:
        raise TypeError(f"the type of {parameter.name} follows from no argument")
    return types[parameter.type]


def _library(name: str, source: str) -> ctypes.CDLL:
    for pattern, reason in _BEYOND.items():
        if re.search(pattern, _as_compiled(source)):
            raise NotEmulated(f"the kernel {name}", reason)
    try:
        return _settings["compiler"].library(source)
    except CompileError as error:
        message = f"the kernel {name} does not compile, here at least: {error}"
        raise CompileException(message) from None


def _as_compiled(source: str) -> str:
    """Return the source without comments and without code for AMD GPUs."""
    source = re.sub(r"#ifdef __HIP_DEVICE_COMPILE__.*?#endif", "", source, flags=re.DOTALL)
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", source, flags=re.DOTALL)


def _without_headers(source: str) -> str:
    """Return the source without CuPy's headers, which `device.hpp` replaces."""
    source = re.sub(r'^\s*#include\s*[<"]cupy/.*$', "", source, flags=re.MULTILINE)
    # Remove CuPy's type traits of 16-bit numbers, which one of those headers defines.
    return re.sub(r"^\s*template<> struct std::is_.*float16.*$", "", source, flags=re.MULTILINE)


def _table(rows: Iterable[Sequence[int]]) -> Any:
    """Return rows of numbers as a C array of pointers, which keeps the rows alive."""
    made = [(ctypes.c_ssize_t * max(1, len(row)))(*row) for row in rows]
    pointer = ctypes.POINTER(ctypes.c_ssize_t)
    return (pointer * len(made))(*[ctypes.cast(each, pointer) for each in made])


def _three(lengths: Any) -> list[int]:
    lengths = lengths if isinstance(lengths, tuple | list) else (lengths,)
    return [*map(int, lengths), 1, 1][:3]
