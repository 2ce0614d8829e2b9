"""Two backends for the library."""

from fractions import Fraction
from math import isqrt


def exact_sqrt(x):
    """Return the square root of a fraction as a fraction, if it is one."""
    root = Fraction(isqrt(x.numerator), isqrt(x.denominator))
    return root if root * root == x else NotImplemented


def rough_sqrt(x):
    """Return the square root to three digits."""
    return round(x**0.5, 3)


def is_positive(context, x):
    return x >= 0 or "rough roots are for positive numbers"
