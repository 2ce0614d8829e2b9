"""What is dispatchable, and on which parameters: one rule, its exceptions, and what it does.

A parameter is dispatched on if it has one of the names in `ModuleTable.arrays`: those for which
SciPy documents that they take an array, whether to read (``input``, ``weights``, ``labels``) or to
fill (``output``). Settings have other names, even those that accept one number for each axis
(``sigma``, ``size``, ``zoom``, ``offset``); so have data types and callables. The values of these
parameters say nothing about where the data live. A parameter that takes an array *or* another kind
of value (``output=np.float32``, ``window="hann"``) is included: no backend lists the type of the
other value, so dispatching ignores it. An argument that is None or not given never counts.

A function is dispatchable if it has such a parameter. So a function, or a parameter, that a later
release of SciPy adds needs no entry, and those that an older one lacks are skipped.
"""

from __future__ import annotations

import inspect
from functools import cached_property
from importlib import import_module
from typing import Any, TypeAlias

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spatch_core import BackendSystem

Parameters: TypeAlias = "tuple[str, ...] | dict[str, int]"


class ModuleTable:
    """What is dispatchable in a module of SciPy.

    Parameters
    ----------
    module : str
        The module, such as ``"scipy.ndimage"``.
    arrays : str
        The names of parameters that take an array, separated by spaces. With a ``*`` in front, the
        value may be a tuple of arrays, such as ``(num, den)``: its items are dispatched on. Any
        other value, such as an instance of `scipy.signal.lti`, is dispatched on itself.
    settings : dict of str to str
        The parameters of functions that have such a name, and take no array there.
    positions : dict of str to dict
        The parameters with their positions, for functions whose signature is unavailable in some
        SciPy releases: C functions and ``(*args, **kwargs)``.
    unchanged : str
        Functions that take no array, although they have such a parameter.
    written : str
        The parameters that take an array to fill.
    """

    def __init__(
        self,
        module: str,
        arrays: str,
        settings: dict[str, str] | None = None,
        positions: dict[str, dict[str, int]] | None = None,
        unchanged: str = "",
        written: str = "",
    ) -> None:
        self.module = module
        self.arrays = {name.lstrip("*"): name for name in arrays.split()}
        self.settings = settings or {}
        self.positions = positions or {}
        self.unchanged = frozenset(unchanged.split())
        self.written = frozenset(written.split())

    @cached_property
    def dispatched(self) -> dict[str, Parameters]:
        """The dispatchable functions of the installed SciPy, with the parameters dispatched on.

        The parameters are in the order of the signature, or those of `positions`.
        """
        module = import_module(self.module)
        found = {name: self._parameters(name, getattr(module, name)) for name in module.__all__}
        return {name: parameters for name, parameters in found.items() if parameters}

    def _parameters(self, name: str, public: Any) -> Parameters:
        if name in self.unchanged or not callable(public) or isinstance(public, type):
            return ()
        try:
            own = list(inspect.signature(public).parameters)
        except ValueError:
            own = []
        if not self.positions.get(name, {}).keys() <= set(own):
            return self.positions[name]
        settings = self.settings.get(name, "").split()
        return tuple(self.arrays[each] for each in own if each in self.arrays.keys() - settings)

    def expose(self, system: BackendSystem, namespace: dict[str, Any]) -> None:
        """Fill the globals of a module with the public names of SciPy's, ``__all__`` included.

        The installed SciPy decides which names exist. What is not dispatchable is SciPy's own
        object, unchanged.
        """
        module = import_module(self.module)
        for name in module.__all__:
            public = getattr(module, name)
            if parameters := self.dispatched.get(name):
                decorate = system.dispatchable(
                    _dispatch_arguments(public, parameters),
                    module=namespace["__name__"],
                    qualname=name,
                    mutates=tuple(each for each in parameters if each in self.written),
                )
                public = decorate(public)
            namespace[name] = public
        namespace["__all__"] = list(module.__all__)


def _dispatch_arguments(
    function: Callable[..., Any], parameters: Parameters
) -> Parameters | Callable[..., Iterator[object]]:
    """Return the argument of `BackendSystem.dispatchable` for the parameters of a function."""
    if isinstance(parameters, dict) or not any(name.startswith("*") for name in parameters):
        return parameters
    order = list(inspect.signature(function).parameters)
    return unpacking({name: order.index(name.lstrip("*")) for name in parameters})


def unpacking(positions: dict[str, int]) -> Callable[..., Iterator[object]]:
    """Return a function that extracts dispatch arguments and unpacks the starred ones.

    Parameters
    ----------
    positions : dict of str to int
        The position of every parameter. A leading ``*`` marks a parameter whose value may be a
        tuple of arrays.

    Returns
    -------
    callable
        Takes the arguments of a call and yields the dispatch arguments.

    Examples
    --------
    >>> pick = unpacking({"*system": 0, "w": 1})
    >>> list(pick(("num", "den"), w="frequencies"))
    ['num', 'den', 'frequencies']
    >>> list(pick("an lti object", n=3))
    ['an lti object']
    """
    picks = [
        (name.lstrip("*"), position, name.startswith("*")) for name, position in positions.items()
    ]

    def dispatch_arguments_of_call(*args: object, **kwargs: object) -> Iterator[object]:
        for name, position, is_unpacked in picks:
            value = args[position] if position < len(args) else kwargs.get(name)
            if is_unpacked and isinstance(value, (tuple, list)):
                yield from value
            elif value is not None:
                yield value

    return dispatch_arguments_of_call


NDIMAGE = ModuleTable(
    "scipy.ndimage",
    arrays="input arr weights footprint structure structure1 structure2 mask output "
    "coordinates matrix labels index markers metric distances indices",
    settings={"distance_transform_bf": "metric"},
    written="output distances indices",
)

SIGNAL = ModuleTable(
    "scipy.signal",
    # Signals, images and what is beside them
    arrays="x y t in1 in2 input signal data volume im a domain Zxx z zi window win desired_dual "
    "Iin cj newx weights divisor bp sos b h hk hrow hcol widths vector max_distances u U x0 X0 T "
    # Peaks and periods
    "peaks *prominence_data height threshold prominence width plateau_size events period freqs "
    # Waveforms
    "poly duty state taps fn "
    # Filters and systems
    "*system num den p r k A B C D poles w worN Wn wp ws passb stopb cutoff fc freq gain bands "
    "desired weight",
    settings={
        **dict.fromkeys(("bilinear_zpk", "freqs_zpk", "freqz_zpk"), "k"),
        **dict.fromkeys(("lp2bp_zpk", "lp2bs_zpk", "lp2hp_zpk", "lp2lp_zpk"), "k"),
        **dict.fromkeys(("zpk2sos", "zpk2ss", "zpk2tf"), "k"),
        **dict.fromkeys(("cspline1d_eval", "qspline1d_eval"), "x0"),
        **dict.fromkeys(("ss2tf", "ss2zpk"), "input"),
        "band_stop_obj": "wp",
        "czt": "w a",
        "firwin": "width window",
        "firwin2": "window",
        "firwin_2d": "window",
        "gausspulse": "fc",
        "resample": "num domain",
        "symiirorder2": "r",
    },
    positions={
        "cspline2d": {"signal": 0},
        "qspline2d": {"signal": 0},
        "sepfir2d": {"input": 0, "hrow": 1, "hcol": 2},
        "sosfreqz": {"sos": 0, "worN": 1},
        "symiirorder1": {"signal": 0},
        "symiirorder2": {"input": 0},
    },
    # Numbers and names in, an array or a number out; the last ones until SciPy 1.14
    unchanged="czt_points gammatone get_window kaiser_atten kaiser_beta kaiserord "
    "daub morlet morlet2 ricker",
)

FFT = ModuleTable("scipy.fft", arrays="x a A")
