from contextvars import ContextVar
from types import FunctionType
from typing import Any

from typing_extensions import Self

class Tables:
    def __new__(
        cls,
        variable: ContextVar[list[Any]],
        dispatcher: Any,
        index: int,
        positions: tuple[int, ...],
        names: tuple[str | None, ...],
        missing: object,
        /,
    ) -> Self: ...
    def __call__(self) -> list[Any]: ...

def accelerate(wrapper: FunctionType, /) -> None: ...
