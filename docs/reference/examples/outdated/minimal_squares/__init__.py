"""A backend whose description file does not list the registered implementation yet."""

from fractions import Fraction
from math import isqrt

from spatch_core import BackendImplementation

backend = BackendImplementation("squares")


@backend.implements("minimal:sqrt")
def sqrt(x: Fraction) -> Fraction:
    """Exact; fractions that are no squares are left to others."""
    root = Fraction(isqrt(x.numerator), isqrt(x.denominator))
    return root if root * root == x else NotImplemented
