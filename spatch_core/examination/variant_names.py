"""Variants by name: functions with the versions of a distribution in their names.

This is the convention of Ivy. A ``p`` stands for a point in a version, and ranges include both
ends:

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
    """Return the name of the function and the requirement of a variant; None for another name.

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
    """Return the field ``variants`` of an implementation, from the names in its imported module.

    The most specific variant comes first, because the first one whose requirement is met is used:
    ranges before open ends, and of two open ends the one that fewer versions meet. Without
    variants, or without a distribution, the dictionary is empty.
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
    """Return a sort key that is greatest for the most specific variant."""
    found = _NAME.fullmatch(name)
    assert found is not None  # `requirement_of` has parsed it
    sign = -1 if found["end"] == "below" else 1
    version = [sign * int(part) for part in found["first"].split("p")]
    return bool(found["last"]), found["end"] == "above", version
