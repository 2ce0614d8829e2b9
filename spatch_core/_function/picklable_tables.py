"""The callable by which the code of a script's functions gets the tables in force."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from functools import partial
    from typing import Any
else:
    from _functools import partial  # functools itself imports much more


class PicklableTables(partial):  # type: ignore[type-arg]  # no subscript at run time
    """Returns the tables in force; unlike the method of the variable it can be pickled."""

    def __reduce__(self) -> Any:
        return int, ()  # unpickled as 0, in code that is replaced; see `script_functions`
