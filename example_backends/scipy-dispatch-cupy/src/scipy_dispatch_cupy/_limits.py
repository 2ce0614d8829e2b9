"""What CuPy's functions do otherwise than SciPy's: a call that meets it is left to SciPy.

Each rule says why, in one sentence, or returns None. The source of most is SciPy's own
test suite, which runs against CuPy and names the issue in CuPy's tracker.
"""

from __future__ import annotations

from operator import index

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeAlias

    from ._call import Call

    Rule: TypeAlias = Callable[[Call], str | None]

LEFT_OUT: dict[str, dict[str, str]] = {
    "ndimage": {},
    "signal": {
        "abcd_normalize": "takes other arguments than SciPy's",
        "choose_conv_method": "what is quicker on a GPU, which is another question",
        "cwt": "SciPy has it no more since 1.15",
        "hilbert2": "weights the quadrants of the spectrum otherwise (cupy#9396)",
        "lfilter_zi": "the state has another shape than SciPy's (cupy#8677)",
        "lfiltic": "the state has another shape than SciPy's (cupy#8677)",
        "place_poles": "an iteration that ends elsewhere, and a result of a class of CuPy's",
        "qmf": "SciPy has it no more since 1.15",
        "sosfilt_zi": "the state has another shape than SciPy's (cupy#8677)",
        "symiirorder1": "sums that do not converge as SciPy's do, and no integers",
        "symiirorder2": "sums that do not converge as SciPy's do, and no integers",
    },
    "fft": {},
}
"""Functions that CuPy has, and this backend does not offer, with the reason."""


def why_not(call: Call) -> str | None:
    """Say why CuPy cannot honour `call`; None if it can.

    Parameters
    ----------
    call : Call
        The call, with arrays of NumPy's or of CuPy's.
    """
    unknown = call.unknown_to_cupy()
    if unknown:
        return f"CuPy's {call.name} has no {unknown[0]}="
    for rule in (*_EVERYWHERE, *RULES.get((call.module, call.name), ())):
        reason = rule(call)
        if reason:
            return reason
    return None


def _data_types(call: Call) -> str | None:
    for name in call.arrays:
        value = call[name]
        dtype = getattr(value, "dtype", None)
        if not isinstance(dtype, np.dtype) or not getattr(value, "ndim", 0):
            continue
        if not _known(dtype):
            return f"CuPy has no arrays of {dtype}, the type of {name}=, or rounds them otherwise"
    return None


def _known(dtype: np.dtype[Any]) -> bool:
    """Whether CuPy has the type, and computes with it as SciPy does."""
    size = dtype.itemsize // (2 if dtype.kind == "c" else 1)
    known = dtype.kind in "biufc" and size <= 8 and dtype.isnative  # 8 bytes: double precision
    return known and dtype != np.float16


def is_array(value: Any) -> bool:
    """Whether `value` is an array, of NumPy's or CuPy's; the types of scalars are none."""
    return hasattr(value, "dtype") and hasattr(value, "shape") and not isinstance(value, type)


def _output_type(call: Call) -> str | None:
    output = call["output"]
    if call.module != "ndimage" or output is None or is_array(output):
        return None
    try:
        dtype = np.dtype(output)
    except TypeError:
        return None  # SciPy's to report
    if not _known(dtype):
        return f"CuPy has no arrays of {dtype}, the type of output=, or rounds them otherwise"
    return None


def _symbolic_window(call: Call) -> str | None:
    window = call["window"]
    name = window[0] if isinstance(window, tuple) and window else window
    if call.is_default("window") or not isinstance(name, str):
        return None
    if name.endswith(("_periodic", "_symmetric")):
        return f"CuPy has no window {name!r}"
    if name == "dpss":
        return "CuPy has no window 'dpss'"
    return None


_EVERYWHERE: tuple[Rule, ...] = (_data_types, _output_type, _symbolic_window)


def _modes(call: Call) -> list[Any]:
    mode = call["mode"]
    return [mode] if isinstance(mode, str) or mode is None else list(mode)


def _filter_mode(call: Call) -> str | None:
    if "grid-constant" in _modes(call):
        return "CuPy's filters have no mode='grid-constant'; mode='constant' means the same"
    return None


def _several_modes(call: Call) -> str | None:
    if not isinstance(call["mode"], str):
        return "CuPy mixes up the modes if there is one for each axis (cupy#9760)"
    return None


def _kind(value: Any) -> str:
    return value.dtype.kind if hasattr(value, "dtype") else ""


def _complex_constant(call: Call) -> str | None:
    complex_numbers = any(_kind(call[name]) == "c" for name in ("input", "weights"))
    if isinstance(call["cval"], complex) or (complex_numbers and call["cval"]):
        return "CuPy takes no cval= with complex numbers (cupy#8405)"
    return None


def _whole_constant(call: Call) -> str | None:
    result = _result_type(call["output"], call["input"])
    if result.kind in "biu" and not np.isfinite(call["cval"]):
        return f"cval={call['cval']} is no number of {result}"
    return None


def _ordered_constant(call: Call) -> str | None:
    if np.isnan(call["cval"]):
        return "CuPy compares nothing with a cval= that is not a number"
    return None


def _unsigned_sums(call: Call) -> str | None:
    output = call["output"]
    result = _result_type(output, call["input"])
    if result.kind == "u" and result.itemsize >= 4:
        return f"a sum below 0 becomes another number of {result} with CuPy than with SciPy"
    return None


def _result_type(output: Any, x: Any) -> np.dtype[Any]:
    if output is None:
        return np.dtype(getattr(x, "dtype", float))
    dtype: np.dtype[Any] = np.dtype(output.dtype if is_array(output) else output)
    return dtype


def _boolean_image(call: Call) -> str | None:
    if _kind(call["input"]) == "b":
        return "CuPy interpolates no booleans as SciPy does"
    return None


def _not_a_number(name: str) -> Rule:
    """Refuse a plain number where CuPy needs an array."""

    def rule(call: Call) -> str | None:
        if np.isscalar(call[name]):
            return f"CuPy takes no plain number as {name}="
        return None

    return rule


def _only(name: str, allowed: Iterable[Any], means: str) -> Rule:
    """Refuse all values of `name` but some."""
    allowed = list(allowed)

    def rule(call: Call) -> str | None:
        if not any(call[name] is each or _equal(call[name], each) for each in allowed):
            return f"CuPy has {means}, not {name}={call[name]!r}"
        return None

    return rule


def _equal(value: Any, other: Any) -> bool:
    return type(value) is type(other) and bool(value == other)


def _given(name: str, why: str) -> Rule:
    """Refuse an argument that is not None."""

    def rule(call: Call) -> str | None:
        return None if call[name] is None else f"{name}= is given: {why}"

    return rule


def _true(name: str, why: str) -> Rule:
    def rule(call: Call) -> str | None:
        return f"{name}={call[name]!r}: {why}" if call[name] else None

    return rule


def _kernel_function(call: Call) -> str | None:
    if type(call["function"]).__module__.partition(".")[0] not in ("cupy", "cupyx"):
        return (
            "function= is a Python function, which no GPU can run; "
            "pass a cupy.RawKernel or a cupy.ReductionKernel"
        )
    return None


def _some_dimensions(*allowed: int) -> Rule:
    def rule(call: Call) -> str | None:
        ndim = np.ndim(call[call.first])
        if ndim not in allowed:
            ways = " and ".join(map(str, allowed))
            return f"CuPy's {call.name} is for {ways} dimensions, not {ndim}"
        return None

    return rule


def _filled_elsewhere(call: Call) -> str | None:
    for name in ("distances", "indices"):
        if isinstance(call[name], np.ndarray):
            return f"{name}= is an array of NumPy's, which CuPy cannot fill"
    return None


def _fourier_ellipsoid(call: Call) -> str | None:
    if np.ndim(call["input"]) > 3 or np.size(call["input"]) == 0:
        return "CuPy's fourier_ellipsoid is for 1 to 3 dimensions and at least one element"
    return None


def _fewer_coordinates(call: Call) -> str | None:
    matrix = call["matrix"]
    shape = np.shape(matrix)
    ndim = np.ndim(call["input"])
    if len(shape) == 2 and (shape[0] not in (ndim, ndim + 1) or shape[1] < ndim):
        return "CuPy keeps the number of dimensions (cupy#8394)"
    return None


def _no_zoom(call: Call) -> str | None:
    if np.all(np.asarray(call["zoom"]) == 1):
        return "SciPy copies an image for zoom=1, and CuPy interpolates it"
    return None


def _half_turn(call: Call) -> str | None:
    angle = call["angle"]
    if isinstance(angle, int | float) and angle % 90 == 0:
        return "CuPy does not turn by a multiple of 90 degrees exactly (cupy#8400)"
    return None


def _reflected_spline(call: Call) -> str | None:
    order = call["order"]
    smooth = isinstance(order, int) and order > 1 and call["prefilter"] is not False
    if smooth and call["mode"] in ("reflect", "grid-mirror") and np.ndim(call["input"]) > 1:
        return "CuPy's spline filter is not exact for mode='reflect' in several dimensions"
    return None


def _plain_convolution(call: Call) -> str | None:
    for name in ("in1", "in2"):
        if _kind(call[name]) == "b":
            return f"{name}= is boolean, which CuPy does not convolve as SciPy does"
        if np.size(call[name]) == 0:
            return f"{name}= is empty, for which SciPy's result has a data type of its own"
    if np.ndim(call["in1"]) != np.ndim(call["in2"]):
        return None  # SciPy's to report, CuPy reports the same
    if isinstance(call["fillvalue"], complex):
        return "CuPy takes no complex fillvalue="
    return None


def _real_filter(call: Call) -> str | None:
    system = call["system"]
    parts = system if isinstance(system, tuple) else ()
    if any(_kind(each) == "c" or np.iscomplexobj(each) for each in parts):
        return "CuPy's group_delay is for real coefficients"
    for each in parts:
        if np.size(each) and np.ndim(each) == 1 and not each[0]:
            return "CuPy's group_delay does not drop leading zeros (cupy#9404)"
    return None


def _double_precision(name: str) -> Rule:
    def rule(call: Call) -> str | None:
        dtype = getattr(call[name], "dtype", np.dtype(float))
        return None if dtype == np.float64 else f"CuPy's {call.name} is SciPy's for float64 only"

    return rule


def _many_roots(call: Call) -> str | None:
    return "CuPy's zpk2tf is for one polynomial" if np.ndim(call["z"]) > 1 else None


def _complex_image(call: Call) -> str | None:
    if _kind(call["Iin"]) == "c":
        return "CuPy's spline_filter is for real numbers (cupy#9758)"
    return None


def _no_real_medians(call: Call) -> str | None:
    if _kind(call[call.first]) in "bc":
        return f"CuPy's {call.name} is for real numbers"
    return None


def _complex_polynomial(call: Call) -> str | None:
    if _kind(call["x"]) == "c":
        return "SciPy drops the imaginary part, with a warning"
    return None


def _comparator(call: Call) -> str | None:
    comparator = call["comparator"]
    module = getattr(comparator, "__module__", None) or type(comparator).__module__
    if module.partition(".")[0] != "cupy":
        return "comparator= is no function of CuPy's; pass cupy.greater or cupy.less, say"
    return None


def _only_kinds(kinds: str, means: str) -> Callable[..., Rule]:
    """Return what makes rules that refuse other kinds of numbers, as SciPy does."""

    def of(*names: str) -> Rule:
        def rule(call: Call) -> str | None:
            for name in names:
                kind = _kind(call[name])
                if kind and kind not in kinds:
                    what = call[name].dtype
                    return f"{name}= is of {what}, and SciPy's {call.name} takes {means} only"
            return None

        return rule

    return of


# CuPy would drop the imaginary part, compare it, or cut off the fraction.
_real = _only_kinds("biuf", "real numbers")
_floating = _only_kinds("fc", "numbers of floating point")
_whole_numbers = _only_kinds("iu", "whole numbers")


def _both_complex(call: Call) -> str | None:
    if (_kind(call["x"]) == "c") != (_kind(call["y"]) == "c"):
        return "one of x= and y= is complex, which SciPy refuses or not, by its release"
    return None


def _of_one_type(call: Call) -> str | None:
    types = {getattr(call[name], "dtype", np.dtype(float)) for name in ("input", "hrow", "hcol")}
    return None if len(types) == 1 else "SciPy takes arrays of one type only"


def _window_size(call: Call) -> str | None:
    size = call["size"]
    if size is not None and not all(_whole(each, least=1) for each in np.ravel(size)):
        return f"size={size!r}: a window that is not of whole elements, at least one"
    return None


def _width(call: Call) -> str | None:
    if np.any(np.asarray(call["sigma"]) < 0):
        return f"sigma={call['sigma']!r} is negative"
    return None


def _length(call: Call) -> str | None:
    n = call["n"]
    if n is not None and not _whole(n, least=1):
        return f"n={n!r} is no length of SciPy's, and CuPy cuts elements off for a negative one"
    return None


def _lengths(call: Call) -> str | None:
    """Refuse lengths and axes that SciPy refuses, or takes otherwise."""
    x, s, axes = call[call.first], call["s"], call["axes"]
    if s is not None:
        lengths = list(np.atleast_1d(s))
        if not all(_whole(each, least=1) or (_whole(each) and each == -1) for each in lengths):
            return f"s={s!r} has what is no length of SciPy's"
        if axes is None and len(lengths) > np.ndim(x):
            return f"s={s!r} has more lengths than the array has dimensions"
    if axes is None:
        return None
    numbers = list(np.atleast_1d(axes))
    if not numbers:
        return "without axes= SciPy transforms nothing, and its result has another data type"
    if not all(_whole(each, least=-np.ndim(x)) and each < np.ndim(x) for each in numbers):
        return f"axes={axes!r} are not the array's"
    if len({index(each) % np.ndim(x) for each in numbers}) < len(numbers):
        return f"axes={axes!r} has an axis twice, which SciPy refuses"
    return None


def _whole(value: Any, least: float = -np.inf) -> bool:
    try:
        return index(value) >= least
    except TypeError:
        return False


_DCT_TYPES = _only("type", (2, 3), "types 2 and 3")
_PLAN = _given("plan", "SciPy takes none")
_ITERATIVE = _given("zi", "CuPy's filter state has another shape than SciPy's (cupy#8677)")
_ANALOG = _true("analog", "CuPy pairs analog sections otherwise (cupy#9376)")
_NYQUIST = _true("include_nyquist", "CuPy's frequencies may differ from SciPy's")
_CLIP = _only("mode", ("clip", "wrap"), "mode='clip' and mode='wrap'")
_SPLINE = (_boolean_image, _whole_constant, _complex_constant, _reflected_spline)
_WEIGHTED = (_filter_mode, _complex_constant, _whole_constant, _unsigned_sums)
_RANKED = (_real("input"), _window_size, _filter_mode, _whole_constant, _ordered_constant)


def _table(*entries: tuple[str, str, tuple[Rule, ...]]) -> dict[tuple[str, str], tuple[Rule, ...]]:
    rules: dict[tuple[str, str], tuple[Rule, ...]] = {}
    for module, names, more in entries:
        for name in names.split():
            rules[module, name] = (*rules.get((module, name), ()), *more)
    return rules


RULES: dict[tuple[str, str], tuple[Rule, ...]] = _table(
    ("ndimage", "convolve convolve1d correlate correlate1d sobel prewitt laplace", _WEIGHTED),
    ("ndimage", "gaussian_filter gaussian_filter1d gaussian_laplace", _WEIGHTED),
    ("ndimage", "gaussian_gradient_magnitude generic_laplace", _WEIGHTED),
    ("ndimage", "generic_gradient_magnitude uniform_filter uniform_filter1d", _WEIGHTED),
    ("ndimage", "sobel prewitt", (_several_modes,)),
    ("ndimage", "median_filter rank_filter percentile_filter", _RANKED),
    ("ndimage", "maximum_filter minimum_filter maximum_filter1d minimum_filter1d", _RANKED),
    ("ndimage", "grey_erosion grey_dilation grey_opening grey_closing", _RANKED),
    ("ndimage", "morphological_gradient morphological_laplace", (*_RANKED, _unsigned_sums)),
    ("ndimage", "white_tophat black_tophat", (*_RANKED, _unsigned_sums)),
    ("ndimage", "generic_filter generic_filter1d", (*_RANKED, _kernel_function)),
    ("ndimage", "gaussian_filter gaussian_filter1d gaussian_laplace", (_width,)),
    ("ndimage", "gaussian_gradient_magnitude", (_width,)),
    ("ndimage", "uniform_filter uniform_filter1d", (_window_size,)),
    ("ndimage", "binary_erosion binary_dilation binary_opening binary_closing", (_real("input"),)),
    ("ndimage", "binary_hit_or_miss binary_propagation label", (_real("input"),)),
    ("ndimage", "center_of_mass mean standard_deviation variance sum", (_real("input"),)),
    ("ndimage", "sum_labels", (_real("input"),)),
    ("ndimage", "map_coordinates", (_real("coordinates"),)),
    ("ndimage", "find_objects", (_whole_numbers("input"),)),
    ("ndimage", "value_indices", (_whole_numbers("arr"),)),
    ("ndimage", "fourier_ellipsoid", (_fourier_ellipsoid,)),
    ("ndimage", "affine_transform map_coordinates rotate shift zoom", _SPLINE),
    ("ndimage", "spline_filter spline_filter1d", (_boolean_image, _reflected_spline)),
    ("ndimage", "affine_transform", (_fewer_coordinates,)),
    ("ndimage", "zoom", (_no_zoom,)),
    ("ndimage", "rotate", (_half_turn,)),
    ("ndimage", "distance_transform_edt", (_some_dimensions(2, 3), _filled_elsewhere)),
    ("signal", "convolve correlate convolve2d correlate2d", (_plain_convolution,)),
    ("signal", "fftconvolve oaconvolve", (_plain_convolution,)),
    ("signal", "hilbert", (_real("x"),)),
    ("signal", "minimum_phase", (_real("h"),)),
    ("signal", "firwin2", (_real("freq"),)),
    ("signal", "coherence csd", (_both_complex,)),
    ("signal", "cspline1d_eval", (_floating("cj"), _real("newx"))),
    ("signal", "qspline1d_eval", (_real("cj", "newx"),)),
    ("signal", "peak_prominences peak_widths", (_whole_numbers("peaks"),)),
    ("signal", "sawtooth", (_real("width"),)),
    ("signal", "square", (_real("duty"),)),
    ("signal", "sepfir2d", (_real("hrow", "hcol"), _of_one_type)),
    ("signal", "spline_filter", (_floating("Iin"),)),
    ("signal", "lfilter filtfilt", (_not_a_number("b"), _not_a_number("a"))),
    ("signal", "lfilter sosfilt", (_ITERATIVE,)),
    ("signal", "medfilt medfilt2d order_filter", (_no_real_medians,)),
    (
        "signal",
        "resample_poly",
        (
            _only("padtype", (None, "constant"), "padtype='constant'"),
            _given("cval", "CuPy pads with zeros"),
        ),
    ),
    (
        "signal",
        "upfirdn",
        (
            _only("mode", (None, "constant"), "mode='constant'"),
            _only("cval", (None, 0, 0.0), "cval=0"),
        ),
    ),
    ("signal", "decimate", (_only("ftype", ("iir", "fir"), "ftype='iir' and ftype='fir'"),)),
    ("signal", "savgol_filter", (_complex_polynomial,)),
    ("signal", "argrelextrema argrelmax argrelmin", (_CLIP,)),
    ("signal", "argrelextrema", (_comparator,)),
    ("signal", "freqz freqz_sos sosfreqz", (_NYQUIST,)),
    ("signal", "group_delay", (_real_filter,)),
    ("signal", "tf2sos zpk2sos", (_ANALOG,)),
    ("signal", "zpk2tf", (_many_roots,)),
    ("signal", "spline_filter", (_complex_image,)),
    ("signal", "sawtooth square", (_double_precision("t"),)),
    ("signal", "lombscargle", (_only("normalize", (False, True), "true and false"),)),
    ("fft", "dct idct dst idst dctn idctn dstn idstn", (_DCT_TYPES,)),
    ("fft", "fft ifft rfft irfft hfft ihfft fft2 ifft2 rfft2 irfft2 hfft2 ihfft2", (_PLAN,)),
    ("fft", "fftn ifftn rfftn irfftn hfftn ihfftn", (_PLAN,)),
    ("fft", "fft ifft rfft irfft hfft ihfft dct idct dst idst", (_length,)),
    ("fft", "fft2 ifft2 rfft2 irfft2 hfft2 ihfft2", (_lengths,)),
    ("fft", "fftn ifftn rfftn irfftn hfftn ihfftn dctn idctn dstn idstn", (_lengths,)),
    ("fft", "rfft rfft2 rfftn ihfft ihfft2 ihfftn", (_real("x"),)),
    ("fft", "fht", (_real("a"),)),
    ("fft", "ifht", (_real("A"),)),
)
