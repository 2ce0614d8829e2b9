"""Windows of arrays: the elements below a kernel, at each of its places."""

from __future__ import annotations

import itertools
from typing import Any


def windows(xp: Any, x: Any, kernel: Any, stride: Any, dilation: Any, sizes: Any = None) -> Any:
    """Return the elements below each place of a kernel: (place, batch, channel, out...).

    What follows the dimensions of the kernel stays, here and in the opposite.
    """
    sizes = sizes or sizes_of(x.shape[2:], kernel, stride, dilation)
    places = itertools.product(*map(range, kernel))
    return xp.stack([x[everywhere(_steps(each, sizes, stride, dilation))] for each in places])


def scattered(xp: Any, parts: Any, shape: Any, kernel: Any, stride: Any, dilation: Any) -> Any:
    """Return the sum of what lies below each element of a kernel: the opposite."""
    found = xp.zeros(shape, parts.dtype)
    sizes = parts.shape[3 : 3 + len(kernel)]
    for number, place in enumerate(itertools.product(*map(range, kernel))):
        part = everywhere(_steps(place, sizes, stride, dilation))
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


def _steps(place: Any, sizes: Any, stride: Any, dilation: Any) -> Any:
    """Return where the elements of one place of a kernel are."""
    return (
        slice(p * d, p * d + (n - 1) * s + 1, s)
        for p, d, n, s in zip(place, dilation, sizes, stride, strict=True)
    )


def check_sizes(sizes: Any, full: Any, kernel: Any) -> None:
    """Raise PyTorch's error if a kernel fits nowhere."""
    if min(sizes) < 1:
        raise RuntimeError(
            f"Calculated padded input size per channel: {tuple(full)}. Kernel size: "
            f"{tuple(kernel)}. Kernel size can't be greater than actual input size"
        )
