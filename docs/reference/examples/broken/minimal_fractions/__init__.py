"""Two faulty backends; the reference shows what the command-line tools report about them."""

from fractions import Fraction
from math import isqrt


def is_square(x: Fraction) -> bool:
    return isqrt(x.numerator) ** 2 == x.numerator


def square_root(x: Fraction) -> Fraction:
    return Fraction(isqrt(x.numerator), isqrt(x.denominator))
