"""What the child process does for `verify` and `update`: imports, and says what it found."""

from __future__ import annotations

import sys
from importlib import import_module
from inspect import cleandoc
from pkgutil import iter_modules
from typing import Any

from .._identifiers import import_identifier, nearest

_RESEMBLES = 0.8
"""How similar the name of a package must be to be taken for a misspelling of one."""
_INSTALL = "Install it, or leave imports out with --no-imports"


class Fault(Exception):  # noqa: N818  # it is shown, not raised to anybody's face
    """What is wrong with something that was imported; `absent` if that is not installed."""

    def __init__(self, message: str, remedy: str, absent: str = "") -> None:
        super().__init__(message)
        self.message, self.remedy, self.absent = message, remedy, absent


def perform(task: dict[str, Any]) -> dict[str, Any]:
    """Do a task in the child.

    Parameters
    ----------
    task : dict
        With the keys ``role`` and ``text`` of a `Mention`, and ``name``, the backend's. The
        role ``"registered"`` asks for all that a `BackendImplementation` has; ``modules``
        are imported first.

    Returns
    -------
    dict
        Empty if all is well; ``text`` (what is at fault), ``message``, ``remedy`` and
        ``absent`` if not; for ``"registered"``, ``functions`` and ``faults``.
    """
    at_work = task["text"]
    try:
        if task["role"] == "module":
            _import(task["text"])
        elif task["role"] == "registered":
            for module in task["modules"]:
                at_work = module
                _import(module)
            at_work = task["text"]
            return _registered(_backend(task["text"], task["name"]))
        elif task["role"] == "backend":
            _backend(task["text"], task["name"])
        elif task["role"] == "type":
            _check(task["text"], isinstance(_find(task["text"]), type), "a class")
        else:
            _check(task["text"], callable(_find(task["text"])), "a function")
    except Fault as fault:
        return {
            "text": at_work,
            "message": fault.message,
            "remedy": fault.remedy,
            "absent": fault.absent,
        }
    return {}


def _check(identifier: str, fits: bool, wanted: str) -> None:
    if not fits:
        kind = type(_find(identifier)).__name__
        raise Fault(f"{identifier!r} is of type {kind!r}, not {wanted}", f"Name {wanted}")


def _import(module: str) -> None:
    try:
        import_module(module)
    except ModuleNotFoundError as error:
        raise _not_found(module, error) from error
    except (Exception, SystemExit) as error:  # a third party's import
        raise _failed(module, error) from error


def _find(identifier: str) -> Any:
    _import(identifier.partition(":")[0])
    try:
        return import_identifier(identifier)
    except ImportError as error:
        what, _, meant = str(error).partition("; did you mean ")
        remedy = f"Did you mean {meant}" if meant else "Name what exists"
        raise Fault(what, remedy) from error
    except (Exception, SystemExit) as error:  # a third party's attribute hook
        raise _failed(identifier, error) from error


def _not_found(module: str, error: ModuleNotFoundError) -> Fault:
    absent = error.name or module
    if not f"{module}.".startswith(f"{absent}."):
        meant = _near(absent)
        remedy = f"Did you mean {meant[0]!r}?" if meant else _INSTALL
        return Fault(
            f"importing {module} failed: it needs the module {absent!r}, which is not installed"
            f"{_place(error)}",
            remedy,
            absent,
        )
    meant = _near(absent)
    message = f"the module {absent!r} is not installed"
    if "." in absent:
        message = f"there is no module {absent!r}"
    if meant:
        return Fault(message, f"Did you mean {meant[0]!r}?")
    return Fault(message, _INSTALL, "" if "." in absent else absent)


def _near(module: str) -> list[str]:
    """Return the modules beside which `module` would stand, and which it resembles."""
    package, _, name = module.rpartition(".")
    folders = getattr(sys.modules.get(package), "__path__", None) if package else None
    names = [each.name for each in iter_modules(folders)] if folders or not package else []
    meant = nearest(name, [*names, *(() if package else sys.stdlib_module_names)], _RESEMBLES)
    return [f"{package}.{each}" if package else each for each in meant]


def _failed(what: str, error: BaseException) -> Fault:
    kind = type(error).__name__
    return Fault(
        f"importing {what} failed with {kind}: {error}{_place(error)}",
        "Repair the module, or what it imports",
    )


def _place(error: BaseException) -> str:
    """Say where the last line is that was at work, outside of the import system."""
    place, traceback = "", error.__traceback__
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if not file.startswith("<") and file != __file__ and "importlib" not in file:
            place = f" ({file}:{traceback.tb_lineno})"
        traceback = traceback.tb_next
    return place


def _backend(identifier: str, name: str) -> Any:
    backend = _find(identifier)
    # By name: a library may vendor this package.
    kinds = [each.__name__ for each in type(backend).__mro__]
    _check(identifier, "BackendImplementation" in kinds, "a BackendImplementation")
    if backend.name != name:
        raise Fault(
            f"{identifier!r} calls itself {backend.name!r}, the description {name!r}",
            "Give both the same name",
        )
    return backend


def _registered(backend: Any) -> dict[str, Any]:
    functions: dict[str, dict[str, Any]] = {}
    faults = []
    for identifier, each in backend.functions.items():
        fields: dict[str, Any] = {"function": each.identifier}
        if each.should_run is not None:
            fields["should_run"] = each.should_run
        fields["uses_context"] = each.uses_context
        docs = _first_paragraph(each.function)
        if docs:
            fields["additional_docs"] = docs
        functions[identifier] = fields
        try:
            _leads_to(each.identifier, each.function)
            if each.should_run is not None:
                _check(each.should_run, callable(_find(each.should_run)), "a function")
        except Fault as fault:
            faults.append(
                {"function": identifier, "message": fault.message, "remedy": fault.remedy}
            )
    return {"functions": functions, "faults": faults}


def _leads_to(identifier: str, function: object) -> None:
    remedy = "Register a function that its module has under its own name"
    try:
        found = _find(identifier)
    except Fault as fault:
        raise Fault(fault.message, remedy) from fault
    if not _is_same(found, function):
        raise Fault(f"{identifier!r} leads to something else than what was registered", remedy)


def _is_same(found: Any, function: Any) -> bool:
    # Bound methods are made anew each time.
    return bool(found is function or found == function)


def _first_paragraph(function: Any) -> str:
    docs = getattr(function, "__doc__", None)
    copied = getattr(getattr(function, "__wrapped__", None), "__doc__", None)
    # What functools.wraps has copied says nothing about this implementation.
    if not isinstance(docs, str) or docs == copied:
        return ""
    lines = cleandoc(docs).partition("\n\n")[0].splitlines()
    return "\n".join(line.rstrip() for line in lines).strip()
