"""Windows of arrays: the elements below a kernel, at each of its places."""

from __future__ import annotations

import itertools
from typing import Any


def windows(xp: Any, x: Any, kernel: Any, stride: Any, dilation: Any, sizes: Any = None) -> Any:
    """Return the elements below each place of a kernel: (place, batch, channel, out...)."""
    sizes = sizes or sizes_of(x.shape[2:], kernel, stride, dilation)
    parts = []
    for place in itertools.product(*map(range, kernel)):
        part = tuple(
            slice(p * d, p * d + (n - 1) * s + 1, s)
            for p, d, n, s in zip(place, dilation, sizes, stride, strict=True)
        )
        parts.append(x[everywhere(part)])
    return xp.stack(parts)


def scattered(xp: Any, parts: Any, shape: Any, kernel: Any, stride: Any, dilation: Any) -> Any:
    """Return the sum of what lies below each element of a kernel: the opposite."""
    found = xp.zeros(shape, parts.dtype)
    sizes = parts.shape[3:]
    for number, place in enumerate(itertools.product(*map(range, kernel))):
        part = (
            slice(None),
            slice(None),
            *(
                slice(p * d, p * d + (n - 1) * s + 1, s)
                for p, d, n, s in zip(place, dilation, sizes, stride, strict=True)
            ),
        )
        if xp.__name__ == "numpy":
            found[part] += parts[number]
        else:
            found = found.at[part].add(parts[number])
    return found


def everywhere(part: Any) -> Any:
    """Return an index of all pictures and channels."""
    return slice(None), slice(None), *part


def sizes_of(sizes: Any, kernel: Any, stride: Any, dilation: Any) -> list[int]:
    return [
        (n - d * (k - 1) - 1) // s + 1
        for n, k, s, d in zip(sizes, kernel, stride, dilation, strict=True)
    ]


def for_each_dimension(count: int, *options: Any) -> Any:
    """Return options that are numbers, or lists of one, once for each dimension."""
    found = []
    for each in options:
        each = [each] if isinstance(each, int) else list(each)
        found.append(each * count if len(each) == 1 else each)
    return found
