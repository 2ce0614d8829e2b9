"""The callable by which the code of a script's functions gets the tables in force."""

from __future__ import annotations

from functools import partial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Tables(partial):  # type: ignore[type-arg]  # no subscript at run time
    """Returns the tables in force; unlike the method of the variable it can be pickled."""

    def __reduce__(self) -> Any:
        return int, ()
