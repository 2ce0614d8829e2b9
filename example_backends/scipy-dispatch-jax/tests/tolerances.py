"""How far a result may be off SciPy's, function by function and data type by data type.

Data only: ``TOLERANCES[function][kind]`` is a `Tolerance`. `kind` is what SciPy computes the
call in JAX from:

=============  ========================================================================
``integers``   integers and booleans, with ``jax_enable_x64``
``integers32`` the same without, where JAX has no double precision
``half``       float16 and bfloat16; SciPy's result is that of the same numbers in float32
``single``     float32 and complex64
``double``     float64 and complex128
=============  ========================================================================

The tests compare every function that has an entry with SciPy, and there is no function of the
backend without one.
"""

from __future__ import annotations

from typing import NamedTuple


class Tolerance(NamedTuple):
    """How far an element may be off.

    Attributes
    ----------
    rtol : float
        Relative to the largest finite value of SciPy's result.
    atol : float
        Besides. For results of integers a number of counts.
    reason : str
        Why.
    """

    rtol: float
    atol: float
    reason: str


EXACT = Tolerance(0, 0, "exact: the same elements, or whole numbers that both hold exactly")
_ROUNDED_ONCE = "computed in single precision and rounded once, as SciPy's is"
_SINGLE = "computed in single precision, where SciPy computes in double precision"
_ORDER = "the same products, added in another order or with fused multiply-adds"
_FFT = "another Fourier transform"
_CUT = "a sum that is whole but for its last bit is cut off to the whole number before or after"
_CUT_SINGLE = (
    "without jax_enable_x64 computed in single precision; a sum that is whole but for its last "
    "bits is cut off to the whole number before or after, and more than 24 bits are rounded"
)

Kinds = dict[str, Tolerance]


def _kinds(
    integers: Tolerance, integers32: Tolerance, half: Tolerance, single: Tolerance, double: Tolerance
) -> Kinds:
    return {
        "integers": integers,
        "integers32": integers32,
        "half": half,
        "single": single,
        "double": double,
    }


_HALF = Tolerance(8e-3, 0, _ROUNDED_ONCE)
_chosen = _kinds(EXACT, EXACT, EXACT, EXACT, EXACT)
_whole = _kinds(
    EXACT, EXACT, _HALF, Tolerance(1e-6, 1e-6, _SINGLE), Tolerance(1e-14, 1e-14, _ORDER)
)
_fractions = _kinds(
    Tolerance(0, 1, _CUT),
    Tolerance(1e-6, 1, _CUT_SINGLE),
    _HALF,
    Tolerance(2e-6, 1e-6, _SINGLE),
    Tolerance(1e-14, 1e-14, _ORDER),
)
