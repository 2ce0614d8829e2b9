"""Units: products of powers of base units. Nothing is converted between units of one dimension."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

_FACTOR = re.compile(r"([A-Za-z]+)(-?\d+(?:/\d+)?)?")


class UnitError(TypeError):
    """The units of the arguments do not go together."""


class Unit:
    """A product of powers of base units.

    Parameters
    ----------
    powers : mapping of str to number, optional
        The powers by the names of the base units; none for pure numbers.

    Examples
    --------
    >>> metre, second = Unit.parse("m"), Unit.parse("s")
    >>> str(metre / second**2)
    'm s-2'
    """

    __slots__ = ("powers",)

    def __init__(self, powers: Mapping[str, Fraction | int] | None = None) -> None:
        given = (powers or {}).items()
        self.powers = {name: Fraction(power) for name, power in sorted(given) if power}

    @classmethod
    def parse(cls, text: str) -> Unit:
        """Return the unit of a text such as ``"kg m s-2"``.

        Raises
        ------
        ValueError
            If it is none.
        """
        powers: dict[str, Fraction] = {}
        for part in text.split():
            found = _FACTOR.fullmatch(part)
            if found is None:
                raise ValueError(f"a unit is written like 'kg m s-2', not {text!r}")
            powers[found[1]] = powers.get(found[1], Fraction()) + Fraction(found[2] or 1)
        return cls(powers)

    def __mul__(self, other: Unit) -> Unit:
        names = self.powers.keys() | other.powers.keys()
        zero = Fraction()
        return Unit({n: self.powers.get(n, zero) + other.powers.get(n, zero) for n in names})

    def __truediv__(self, other: Unit) -> Unit:
        return self * other**-1

    def __pow__(self, power: Fraction | int) -> Unit:
        return Unit({name: each * Fraction(power) for name, each in self.powers.items()})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unit) and self.powers == other.powers

    def __hash__(self) -> int:
        return hash(tuple(self.powers.items()))

    def __str__(self) -> str:
        parts = [f"{name}{'' if power == 1 else power}" for name, power in self.powers.items()]
        return " ".join(parts) or "1"

    def __repr__(self) -> str:
        return f"Unit.parse({' '.join(str(self).split()) if self.powers else ''!r})"
