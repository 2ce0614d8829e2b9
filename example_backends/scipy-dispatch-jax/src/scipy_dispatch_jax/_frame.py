"""The windows of a filter: where they are over an array, and what is beyond its ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._arrays import is_integer, is_jax
from ._axes import checked_origin, for_each, spread, spread_window
from ._boundary import checked_mode, is_constant
from ._window import Offsets, Windows, offsets_of


@dataclass(frozen=True)
class Frame:
    """The place of windows over an array, before the data types of a computation are known.

    The shape, margins and modes are those of `Windows`; `cval` is the value for ``"constant"``.
    """

    shape: tuple[int, ...]
    margins: tuple[tuple[int, int], ...]
    modes: tuple[str, ...]
    cval: Any

    @classmethod
    def of(
        cls,
        ndim: int,
        shape: Sequence[int],
        axes: tuple[int, ...],
        origin: Any,
        mode: Any,
        cval: Any,
        mirrored: bool = False,
    ) -> Frame:
        """Return the frame of a window along some axes of an array with `ndim` axes.

        The mode is one for all of these, or one for each.

        A mirrored window, as of a convolution, has its elements in reverse order.
        """
        shape, origins = spread_window(tuple(shape), origin, axes, ndim)
        if mirrored:
            origins = [-o - (n % 2 == 0) for n, o in zip(shape, origins, strict=True)]
        before = [n // 2 + checked_origin(o, n) for n, o in zip(shape, origins, strict=True)]
        margins = tuple((k, n - 1 - k) for n, k in zip(shape, before, strict=True))
        modes = spread(for_each(mode, len(axes)), axes, ndim, "nearest")
        return cls(shape, margins, tuple(map(checked_mode, modes)), cval)

    @property
    def is_whole(self) -> bool:
        """Return whether the constant, if the mode uses it, is known to be an integer."""
        if not any(map(is_constant, self.modes)):
            return True
        if is_jax(self.cval):
            return is_integer(self.cval.dtype)
        return bool(np.isrealobj(self.cval) and float(self.cval).is_integer())

    def windows(self, working: Any, dtype: Any, offsets: Offsets | None = None) -> Windows:
        """Return the windows, with the elements at these offsets, or all."""
        offsets = offsets_of(self.shape) if offsets is None else offsets
        working, dtype = np.dtype(working), np.dtype(dtype)
        return Windows(self.shape, offsets, self.margins, self.modes, working, dtype)
