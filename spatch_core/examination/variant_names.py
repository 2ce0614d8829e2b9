"""Variants by name: functions whose names say for which versions of a distribution they are.

Ivy names them so, with ``p`` for the points of a version. Both ends belong to the range:

===========================  ======================
name                         requirement
===========================  ======================
``f_v_1p12_and_above``       ``torch>=1.12``
``f_v_1p9p0_to_1p11p1``      ``torch>=1.9.0,<=1.11.1``
``f_v_1p8_and_below``        ``torch<=1.8``
===========================  ======================
"""

from __future__ import annotations

import re
import sys
from typing import Any

_VERSION = r"\d+(?:p\d+)*"
_NAME = re.compile(
    rf"(?P<function>.+)_v_(?P<first>{_VERSION})"
    rf"(?:_and_(?P<end>above|below)|_to_(?P<last>{_VERSION}))"
)


def requirement_of(name: str, distribution: str) -> tuple[str, str] | None:
    """Return the function that a name is a variant of, and the requirement; None for others.

    Parameters
    ----------
    name : str
        The name of a function.
    distribution : str
        The distribution whose versions the name means.

    Examples
    --------
    >>> requirement_of("tril_v_1p12_and_above", "torch")
    ('tril', 'torch>=1.12')
    >>> requirement_of("tril_v_1p9p0_to_1p11p1", "torch")
    ('tril', 'torch>=1.9.0,<=1.11.1')
    >>> requirement_of("tril", "torch")
    """
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    first = found["first"].replace("p", ".")
    if found["last"]:
        last = found["last"].replace("p", ".")
        return found["function"], f"{distribution}>={first},<={last}"
    sign = ">=" if found["end"] == "above" else "<="
    return found["function"], f"{distribution}{sign}{first}"


def found_variants(identifier: str, distribution: str) -> dict[str, Any]:
    """Return the field ``variants`` of an implementation, made of the names beside it.

    Parameters
    ----------
    identifier : str
        The implementation's, whose module is imported.
    distribution : str
        The distribution whose versions names mean; empty for none.

    Returns
    -------
    dict
        Empty if there are no variants. Ranges precede open ends, and an end precedes those that
        are met wherever it is: the first variant that holds is the most special one.
    """
    module, _, qualname = identifier.partition(":")
    names = vars(sys.modules[module]) if distribution else {}
    found = []
    for name in names:
        means = requirement_of(name, distribution)
        if means is not None and means[0] == qualname and callable(names[name]):
            found.append((_order(name), {"requires": means[1], "function": f"{module}:{name}"}))
    found.sort(key=lambda pair: pair[0], reverse=True)
    return {"variants": [variant for _, variant in found]} if found else {}


def _order(name: str) -> tuple[Any, ...]:
    """Return a key by which the most special variant is the greatest."""
    found = _NAME.fullmatch(name)
    assert found is not None  # `requirement_of` has read it
    sign = -1 if found["end"] == "below" else 1
    version = [sign * int(part) for part in found["first"].split("p")]
    return bool(found["last"]), found["end"] == "above", version
