"""Filters in the Fourier domain, by `dask_image.ndfourier`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._block import meta_of, probe, why_not_numpy
from ._call import Call
from ._dask import Array


@dataclass(frozen=True)
class FourierFilter:
    """Filter with the function of the same name in `dask_image.ndfourier`.

    The input is converted to double precision, in which SciPy computes for every data type.
    """

    # The one that gives the strength of the filter.
    parameter: str
    arrays: tuple[str, ...] = ("input",)

    def refuse(self, call: Call) -> str | None:
        x, n = call["input"], call["n"]
        if x.ndim == 0 or x.size == 0:
            return "input= is empty or a scalar"
        if n >= 0 and n // 2 + 1 != x.shape[call["axis"]]:
            return "input= is not as long along axis= as a real transform of n= elements"
        if self.parameter == "size" and not np.all(np.asarray(call["size"]) > 0):
            return "size= is not above 0, for which SciPy returns zeros"
        return why_not_numpy(x, "input")

    def run(self, call: Call) -> Array:
        from dask_image import ndfourier

        x = call["input"]
        meta = meta_of(probe(call, "input"))
        result: Array = getattr(ndfourier, call.function.__name__)(
            x.astype(np.promote_types(x.dtype, np.float64)),
            np.broadcast_to(np.asarray(call[self.parameter], dtype=np.float64), x.ndim),
            n=max(call["n"], -1),
            axis=call["axis"],
        )
        return result.astype(meta.dtype)
