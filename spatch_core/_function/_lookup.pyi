from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

class Lookup:
    def __init__(
        self,
        variable: ContextVar[list[Any]],
        indices: dict[Any, int],
        fill: Callable[[Any, tuple[type, ...]], Any],
        /,
    ) -> None: ...
    def find(self, key: Any, types: tuple[type, ...], /) -> Any: ...
    def find_ufunc(
        self, ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any], /
    ) -> Any: ...

def attribute_getter(
    variable: ContextVar[list[Any]],
    values: dict[str | None, dict[str, Any]],
    find: Callable[[str], Any],
    module: str,
    /,
) -> Callable[[str], Any]: ...
