"""Limits of CuPy's functions of `signal` and `fft`."""

from __future__ import annotations

import numpy as np

from ._image_rules import holds, left_out, solid_line
from ._recursive import sections, tame_filter, tame_quotient
from ._rules import (
    floating,
    for_real,
    given,
    kind_of,
    only,
    real,
    table,
    true,
    whole_numbers,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._call import Call
    from ._rules import Rule


def _not_of_booleans(call: Call) -> str | None:
    if kind_of(call["in1"]) == kind_of(call["in2"]) == "b":
        return "in1= and in2= are boolean, which CuPy does not convolve as SciPy does"
    return None


def _plain_convolution(call: Call) -> str | None:
    for name in ("in1", "in2"):
        if np.size(call[name]) == 0:
            return f"{name}= is empty, for which SciPy's result has a data type of its own"
    if np.ndim(call["in1"]) != np.ndim(call["in2"]):
        return None  # SciPy reports the error, and CuPy reports the same
    if isinstance(call["fillvalue"], complex):
        return "CuPy takes no complex fillvalue="
    return None


def _finite_fillvalue(call: Call) -> str | None:
    if call["boundary"] == "fill" and not np.all(np.isfinite(call["fillvalue"])):
        return left_out("fillvalue", call["fillvalue"])
    return None


def _held_fillvalue(call: Call) -> str | None:
    dtype = np.result_type(*(getattr(call[name], "dtype", float) for name in ("in1", "in2")))
    if dtype.kind in "iu" and not holds(dtype, call["fillvalue"], fractions=True):
        return f"fillvalue={call['fillvalue']!r} is no number of {dtype}, and SciPy refuses it"
    return None


def _whole_spectrum(call: Call) -> str | None:
    if kind_of(call["x"]) != "c":
        if call["domain"] == "freq":
            return "what SciPy makes of a real spectrum depends on its release; pass complex x="
        return None
    if call["num"] == 2:
        return "CuPy leaves out a frequency for num=2, if the numbers are complex"
    if call["window"] is not None:
        return "CuPy shifts a window for complex numbers otherwise, and may write on x="
    return None


def _real_filter(call: Call) -> str | None:
    system = call["system"]
    parts = system if isinstance(system, tuple) else ()
    if any(kind_of(each) == "c" or np.iscomplexobj(each) for each in parts):
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


def _medians(call: Call) -> str | None:
    if call["average"] == "median" and call["x"] is not call["y"]:
        return "average='median': CuPy takes complex numbers in the order of their real parts"
    return None


def _centred(call: Call) -> str | None:
    if call["normalize"] and call.given.get("precenter"):
        return "precenter=True: CuPy normalizes by the power of what is not centred yet"
    return None


def _many_roots(call: Call) -> str | None:
    return "CuPy's zpk2tf is for one polynomial" if np.ndim(call["z"]) > 1 else None


def _smoothed_spline(call: Call) -> str | None:
    if call["lamb"] > 1 / 144:  # above this value, SciPy filters twice
        return f"lamb={call['lamb']!r}: CuPy ends lines otherwise, as symiirorder2 has them"
    return None


def _complex_polynomial(call: Call) -> str | None:
    if kind_of(call["x"]) == "c":
        return "SciPy drops the imaginary part, with a warning"
    return None


def _comparator(call: Call) -> str | None:
    comparator = call["comparator"]
    module = getattr(comparator, "__module__", None) or type(comparator).__module__
    if module.partition(".")[0] != "cupy":
        return "comparator= is no function of CuPy's; pass cupy.greater or cupy.less, say"
    return None


def _no_bessel(call: Call) -> str | None:
    ftype = call["ftype"]
    if isinstance(ftype, str) and ftype.lower().startswith("bessel"):
        return "CuPy has no filters of Bessel's"
    return None


def _lengths(call: Call) -> str | None:
    """Reject lengths below 1, for which CuPy cuts elements off; -1 in `s` is the axis' own."""
    name = "n" if call["s"] is None else "s"
    lengths = () if call[name] is None else np.ravel(call[name]).tolist()
    if any(each < 1 and (name, each) != ("s", -1) for each in lengths):
        return f"{name}={call[name]!r} has what is no length of SciPy's"
    if call["axes"] is not None and not np.size(call["axes"]):
        return "without axes= SciPy transforms nothing, and its result has another data type"
    return None


def _images(call: Call) -> str | None:
    if np.size(call["x"]) == 0:
        return "x= is empty, and CuPy transforms no empty array along several axes"
    return None


def _half(call: Call) -> str | None:
    """Reject half a spectrum with one element, which stands for a signal without elements."""
    if call["n"] is not None or call["s"] is not None:
        return None
    axis = call["axis"] if call["axes"] is None else np.atleast_1d(call["axes"])[-1]
    if np.shape(call["x"])[-1 if axis is None else axis] == 1:
        return "one frequency is half of no line of CuPy's; SciPy may take it for one element"
    return None


_DCT_TYPES = only("type", (2, 3), "types 2 and 3")
_ITERATIVE = given("zi", "CuPy's filter state has another shape than SciPy's (cupy#8677)")
_ANALOG = true("analog", "CuPy pairs analog sections otherwise (cupy#9376)")
_NYQUIST = true("include_nyquist", "CuPy's frequencies may differ from SciPy's")
_CLIP = only("mode", ("clip", "wrap"), "mode='clip' and mode='wrap'")
_NORM = only("norm", (None, "backward", "ortho", "forward"), "SciPy's norms")

RULES = table(
    ("signal", "convolve correlate convolve2d correlate2d", (_plain_convolution,)),
    ("signal", "convolve2d correlate2d", (_held_fillvalue, _finite_fillvalue)),
    ("signal", "convolve correlate convolve2d correlate2d", (_not_of_booleans,)),
    ("signal", "fftconvolve oaconvolve", (_plain_convolution,)),
    ("signal", "minimum_phase", (real("h"),)),
    ("signal", "firwin2", (real("freq"),)),
    ("signal", "csd", (_medians,)),
    ("signal", "cspline2d qspline2d", (for_real("signal"), _smoothed_spline)),
    ("signal", "cspline1d_eval", (floating("cj"), real("newx"))),
    ("signal", "qspline1d_eval", (real("cj", "newx"),)),
    ("signal", "find_peaks peak_prominences peak_widths", (for_real("x"),)),
    ("signal", "peak_prominences peak_widths", (whole_numbers("peaks"),)),
    ("signal", "gauss_spline", (for_real("x"),)),
    ("signal", "chirp gausspulse", (for_real("t"),)),
    ("signal", "sawtooth", (real("width"),)),
    ("signal", "square", (real("duty"),)),
    ("signal", "sepfir2d", (real("hrow", "hcol"),)),
    ("signal", "lfilter sosfilt", (_ITERATIVE,)),
    ("signal", "sosfilt sosfiltfilt", (sections,)),
    ("signal", "lfilter filtfilt", (tame_filter,)),
    ("signal", "deconvolve", (tame_quotient,)),
    ("signal", "order_filter", (solid_line("domain"),)),
    ("signal", "wiener", (floating("im"),)),
    ("signal", "resample", (_whole_spectrum,)),
    (
        "signal",
        "resample_poly",
        (
            only("padtype", (None, "constant"), "padtype='constant'"),
            given("cval", "CuPy pads with zeros"),
        ),
    ),
    (
        "signal",
        "upfirdn",
        (
            only("mode", (None, "constant"), "mode='constant'"),
            only("cval", (None, 0, 0.0), "cval=0"),
        ),
    ),
    ("signal", "decimate", (only("ftype", ("iir", "fir"), "ftype='iir' and ftype='fir'"),)),
    ("signal", "savgol_filter", (_complex_polynomial,)),
    ("signal", "argrelextrema argrelmax argrelmin", (for_real("data"), _CLIP)),
    ("signal", "argrelextrema", (_comparator,)),
    ("signal", "freqz freqz_sos sosfreqz", (_NYQUIST,)),
    ("signal", "group_delay", (_real_filter,)),
    ("signal", "iirdesign iirfilter", (_no_bessel,)),
    ("signal", "bilinear lp2bp lp2bs", (for_real("b", "a"),)),
    ("signal", "tf2sos zpk2sos", (_ANALOG,)),
    ("signal", "zpk2tf", (_many_roots,)),
    ("signal", "sawtooth square", (_double_precision("t"),)),
    ("signal", "lombscargle", (only("normalize", (False, True), "true and false"), _centred)),
    ("fft", "dct idct dst idst dctn idctn dstn idstn", (_DCT_TYPES,)),
    ("fft", "fft ifft rfft irfft hfft ihfft dct idct dst idst", (_lengths,)),
    ("fft", "fft2 ifft2 rfft2 irfft2 hfft2 ihfft2", (_lengths,)),
    ("fft", "fftn ifftn rfftn irfftn hfftn ihfftn dctn idctn dstn idstn", (_lengths,)),
    ("fft", "fft2 ifft2 fftn ifftn", (_images,)),
    ("fft", "irfft irfft2 irfftn hfft hfft2 hfftn", (_half,)),
    ("fft", "rfft rfft2 rfftn ihfft ihfft2 ihfftn", (real("x"),)),
    ("fft", "dct idct dst idst dctn idctn dstn idstn", (_NORM,)),
    ("fft", "fht", (real("a"),)),
    ("fft", "ifht", (real("A"),)),
)
