"""The backend system of the library. Importing it imports no SciPy and reads no entry points."""

from __future__ import annotations

from spatch_core import BackendSystem

system = BackendSystem(
    "scipy_dispatch.backends",
    "SCIPY_DISPATCH",
    default_primary_types=["~numpy:ndarray"],  # includes masked arrays and memory maps
    # What else SciPy documents as an argument in the place of an array, and what it returns.
    default_secondary_types=[
        *("~numpy:generic", "~numpy:dtype", "~numpy:poly1d"),
        *("~scipy.signal:lti", "~scipy.signal:dlti"),
        # Results with arrays as attributes, of `place_poles` and `whittaker_henderson`.
        *("scipy.signal._ltisys:Bunch", "scipy._lib._util:_RichResult"),
    ],
)
backend_opts = system.backend_opts
