"""The length of the result along an axis, for functions that change the length."""

from __future__ import annotations

from collections.abc import Callable
from math import gcd

import numpy as np

from ._call import Call
from ._lines import two_axes


def given(name: str) -> Callable[[Call, int, int], int]:
    """Return a function for a length that parameter `name` gives; if None, that of the array."""

    def length(call: Call, axis: int, n: int) -> int:
        value = call[name]
        return n if value is None else int(value)

    return length


def halved(call: Call, axis: int, n: int) -> int:
    """Return the length of a transform of real numbers, which omits the redundant half."""
    return given("n")(call, axis, n) // 2 + 1


def doubled(call: Call, axis: int, n: int) -> int:
    """Return the length of a transform to real numbers, given the half that it reads."""
    return 2 * (n - 1) if call["n"] is None else int(call["n"])


def resampled(call: Call, axis: int, n: int) -> int:
    """Return the length after resampling by the ratio ``up`` to ``down``."""
    up, down = int(call["up"]), int(call["down"])
    common = gcd(up, down)
    return -(-n * (up // common) // (down // common))


def decimated(call: Call, axis: int, n: int) -> int:
    """Return the length after keeping every ``q``-th element."""
    return -(-n // int(call["q"]))


def upsampled_and_filtered(call: Call, axis: int, n: int) -> int:
    """Return the length after upsampling, filtering with ``h`` and downsampling."""
    upsampled = (n - 1) * int(call["up"]) + len(call["h"])
    return (upsampled - 1) // int(call["down"]) + 1


def analytic_plane(call: Call, axis: int, n: int) -> int:
    """Return the length along one of two axes, where ``N`` is one number or a pair."""
    size = call["N"]
    if size is None:
        return n
    return int(np.broadcast_to(size, 2)[two_axes(call, call["x"].ndim).index(axis)])
