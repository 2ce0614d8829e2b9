from contextvars import ContextVar
from types import FunctionType
from typing import Any

def prepare(
    wrapper: FunctionType,
    variable: ContextVar[list[Any]],
    dispatcher: Any,
    index: int,
    positions: tuple[int, ...],
    names: tuple[str | None, ...],
    missing: object,
    /,
) -> None: ...
def accelerate(wrapper: FunctionType, /) -> None: ...
def slow_down(wrapper: FunctionType, /) -> None: ...
def protect_exit(options: type, /) -> None: ...
