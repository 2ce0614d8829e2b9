"""Dispatchables of a script, which cloudpickle sends to other processes by value.

cloudpickle pickles the parts of a function. Constants of the wrapper's code become numbers; the
record, which attributes of the function refer to, gives the restored function new code.
"""

from __future__ import annotations

from .dispatchable import Dispatchable
from .wrapper_support import accelerate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .dispatcher import Dispatcher


def restore_dispatchable(dispatcher: Dispatcher, content: Mapping[str, Any]) -> Dispatchable:
    """Make a dispatchable again, and give the function that was pickled its code.

    In a process that runs the same script, the function uses the existing library. In others, a
    library is made for each pickle, and freed with its functions.
    """
    wrapper, identifier = content["function"], content["identifier"]
    known: Any = dispatcher.by_identifier.get(identifier)
    if known is not None:
        wrapper.__code__ = known.generated.code()
        return known  # type: ignore[no-any-return]  # records are dispatchables
    traits = None
    if "manner" in content:
        from .._signature.traits import Traits  # few functions have one

        traits = Traits(**content["manner"])
    record = Dispatchable(
        dispatcher,
        content["default"],
        content["dispatch_args"],
        wrapper.__module__,
        wrapper.__qualname__,
        identifier,
        traits,
    )
    # The C extension finds its data by the code object.
    wrapper.__code__ = record.wrapper.__code__
    accelerate(wrapper)
    record.wrapper = wrapper
    vars(record).pop("shortcut", None)  # another thread may have made it, for the other wrapper
    return record
