"""Methods, whose ``instance.method.explain`` and ``.invoke`` do not get the instance."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from .._patterns import loaded_object, mro_of

if TYPE_CHECKING:
    from .._dispatch_arguments import Function

    Arguments = tuple[tuple[Any, ...], dict[str, Any]]


class Unknown:
    """Stands for the instance of a method in an explanation.

    ``instance.method.explain`` is an attribute of the function, which does not know the instance.

    Parameters
    ----------
    cls : type or None
        The class that defines the method; None if it is not found.
    """

    __slots__ = ("cls",)

    def __init__(self, cls: type | None) -> None:
        self.cls = cls


def with_instance(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
    """Return the arguments of a call; those of a method get the instance, or `Unknown` for it.

    Parameters
    ----------
    function : Function
        The library's function.
    args, kwargs
        The arguments of `explain`.

    Raises
    ------
    TypeError
        If the function cannot be called with them.
    """
    default = function.default
    try:
        # Not the signature of a function that the default wraps: the default gets the arguments.
        signature = inspect.signature(default, follow_wrapped=False)
    except (TypeError, ValueError):
        return args, kwargs  # some functions written in C have none
    module = getattr(default, "__module__", "")
    path, _, name = getattr(default, "__qualname__", "").rpartition(".")
    error = _mismatch(signature, args, kwargs)
    if path and not path.endswith("<locals>"):
        cls: Any = loaded_object(module, path) if isinstance(module, str) else None
        kind = type(vars(cls).get(name)) if isinstance(cls, type) else None
        first: Any = cls if kind is classmethod else Unknown(cls if kind else None)
        # If the class is not found, the method may be static: arguments that fit are left alone.
        is_certain = kind is not None or error is not None
        if (
            kind is not staticmethod
            and is_certain
            and (error is not None or not _is_given(args, kind is classmethod, module, path))
            and not _names_first(signature, kwargs)
            and _mismatch(signature, (first, *args), kwargs) is None
        ):
            return (first, *args), kwargs
    if error is not None:
        raise error
    return args, kwargs


def check_instance(function: Function, wrapper: object, args: tuple[Any, ...]) -> None:
    """Raise if the result of a method's `invoke` is called without the instance.

    Else the first argument would pass for the instance, and the result be silently wrong.

    Parameters
    ----------
    function : Function
        The library's function.
    wrapper : types.FunctionType
        The decorated function.
    args : tuple
        The positional arguments of the call; without any, the call itself raises.

    Raises
    ------
    TypeError
        If it is a method, and the first argument is no instance of a class that has it.
    """
    default = function.default
    module = getattr(default, "__module__", "")
    path, _, name = getattr(default, "__qualname__", "").rpartition(".")
    if not args or not path or path.endswith("<locals>") or not isinstance(module, str):
        return
    cls = loaded_object(module, path)
    found = vars(cls).get(name) if isinstance(cls, type) else None
    is_class = isinstance(found, classmethod)
    if found is not wrapper and not (is_class and getattr(found, "__func__", None) is wrapper):
        return  # a static method, or a class that is not found
    holder: Any = args[0] if is_class else type(args[0])
    if isinstance(holder, type):
        classes = mro_of(holder)
        if any(each is cls for each in classes):
            return
        # A class may borrow a method of another one. By identity: attributes may define ==.
        if any(value is found for each in classes for value in vars(each).values()):
            return
    raise TypeError(
        f"{path}.{name} is a method: pass the {'class' if is_class else 'instance'} "
        "to the result of invoke(...), as in "
        f"{path}.{name}.invoke(...)({'cls' if is_class else 'instance'}, ...)"
    )


def _mismatch(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> TypeError | None:
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        return error
    return None


def _is_given(args: tuple[Any, ...], is_class: bool, module: str, path: str) -> bool:
    """Whether the first argument is an instance of the class of a method, or the class."""
    cls: Any = None
    if args:
        cls = args[0] if is_class else type(args[0])
    if not isinstance(cls, type):
        return False
    return any((each.__module__, each.__qualname__) == (module, path) for each in mro_of(cls))


def _names_first(signature: inspect.Signature, kwargs: dict[str, Any]) -> bool:
    """Whether the first parameter is passed by keyword."""
    return next(iter(signature.parameters), None) in kwargs
