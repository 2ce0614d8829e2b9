"""Writes the functions that a backend's code registers into its file. Needs tomlkit."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import unified_diff
from errno import EACCES, EPERM, EROFS
from pathlib import Path
from typing import Any

from .._description import FUNCTION_FIELDS, NO_FUNCTIONS, VARIANTS, parse_toml
from .._errors import Finding, replace
from .backend_file import BackendFile, read_file, validate
from .editing import CannotEdit, edit_functions
from .findings import Report, note
from .layout import key_path
from .replacement import ChangedMeanwhileError, replace_content

_TABLE = "functions.auto-generation"


@dataclass(frozen=True, slots=True)
class FileUpdate(Report):
    """The result of updating a file.

    Parameters
    ----------
    subject : str
        The path of the file as the user gave it.
    findings : tuple of Finding
        The faults that prevent the update; without any, what could not be checked here.
    before, text : str
        The old content and the new content.
    added, changed, removed : tuple of str
        The identifiers of functions.
    unregistered : tuple of str
        The identifiers of functions that stay, although the code does not register them.
    written : bool
        Whether the file was written.
    """

    before: str = field(repr=False)
    text: str = field(repr=False)
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unregistered: tuple[str, ...] = ()
    written: bool = False

    @property
    def is_current(self) -> bool:
        """Whether the file needs no update."""
        return self.ok and self.text == self.before

    @property
    def diff(self) -> str:
        """The unified diff; empty if there is no difference."""
        before, after = self.before.splitlines(), self.text.splitlines()
        lines = unified_diff(before, after, self.subject, self.subject, lineterm="")
        return "".join(f"{line}\n" for line in lines)


def update_file(
    path: str | os.PathLike[str], check: bool = False, prune: bool = False
) -> FileUpdate:
    r"""Write the functions that a backend's code registers into its file.

    Parameters
    ----------
    path : str or os.PathLike
        An existing TOML file with a table ``functions.auto-generation``.
    check : bool, optional
        Whether to write nothing.
    prune : bool, optional
        Whether to remove functions that the code does not register.

    Returns
    -------
    FileUpdate
        The changes, or the faults that prevent them.

    Raises
    ------
    ModuleNotFoundError
        If functions must be written, and tomlkit is not installed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = f"{folder}/backend.toml"
    ...     with open(file, "w") as stream:
    ...         _ = stream.write('name = "oil"\nprimary_types = ["array:array"]\n')
    ...     [each.key for each in update_file(file).findings]
    ['functions.auto-generation']
    """
    file = read_file(os.fspath(path))
    registered, notes = _registered(file, prune)
    changes = {} if registered is None else _changes(file, registered, prune)
    text = changes.pop("text", file.text)
    update = FileUpdate(file.path, (), file.text, text, **changes)
    if update.unregistered:
        is_complete = not any(str(each.key).startswith(_TABLE) for each in notes)
        notes.append(_staying(file, update.unregistered, is_complete))
    is_wanted = registered is not None and not file.faults and not check
    written = is_wanted and _write(file, text)  # may add a fault
    return replace(update, findings=tuple(file.faults or notes), written=written)


def _staying(file: BackendFile, names: tuple[str, ...], is_complete: bool) -> Finding:
    code = "the code" if is_complete else "the modules that can be imported here"
    verb = "does" if is_complete else "do"
    message = f"{code} {verb} not register functions, which stay: {', '.join(names)}"
    remedy = "Register them, remove them with --prune, or keep them up to date by hand"
    if not is_complete:
        remedy = "Update the file where all modules can be imported, or edit it by hand"
    return file.placed(replace(note(message, remedy), key=key_path(("functions", names[0]))))


def _changes(
    file: BackendFile, registered: Mapping[str, dict[str, Any]], prune: bool
) -> dict[str, Any]:
    """Return the fields of an update; if it is not possible, add faults, and return no text."""
    present = {key: value for key, value in _functions(file).items() if key not in NO_FUNCTIONS}
    # The text of functions that are not in the table stays as it is.
    table = {key: value for key, value in present.items() if prune or key in registered}
    defaults = _functions(file).get("defaults", {})
    wanted = {
        name: _wanted(fields, table.get(name), defaults) for name, fields in registered.items()
    }
    try:
        text = edit_functions(file.text, table, wanted)
    except CannotEdit:
        file.fault("functions", "it is written on one line", "Write it as [functions]")
        return {}
    except ValueError:  # tomlkit may be stricter than the parser of the library
        text = file.text
    added, removed = sorted(wanted.keys() - table), sorted(table.keys() - wanted)
    changes: dict[str, Any] = {"added": tuple(added), "removed": tuple(removed)}
    changes["unregistered"] = tuple(sorted(present.keys() - table))
    after = BackendFile(file.path, text)
    with suppress(ValueError):
        after.fields = parse_toml(text.encode())
    now = _functions(after)
    same = (*NO_FUNCTIONS, *changes["unregistered"])
    if not _is_as_wanted(now, _functions(file), wanted, same):
        remedy = "Give each function a table of its own"
        file.fault("functions", "its text cannot be changed safely", remedy)
        return changes
    changed = sorted(each for each in table if each in now and now[each] != table[each])
    changes["changed"] = tuple(changed)
    validate(after)
    for each in after.faults:
        if each.skips:  # not for an unknown key, which stays
            file.fault(each.key, each.message, each.remedy)
    return changes if file.faults else {**changes, "text": text}


def _write(file: BackendFile, text: str) -> bool:
    """Write new content into the file, or into the target of a link; return whether it differs."""
    target = Path(file.path).resolve()
    if text == file.text:
        return False
    try:
        replace_content(target, file.text.encode(), text.encode())
    except ChangedMeanwhileError:
        file.fault(None, "it was changed during the update and is left as it is", "Update it again")
    except OSError as raised:
        file.fault(None, f"it cannot be written: {raised}", _writing_remedy(raised, target))
    else:
        return True
    return False


def _writing_remedy(raised: OSError, target: Path) -> str:
    if raised.errno not in (EACCES, EPERM, EROFS):
        return "Free some space on its disk"
    return f"Make {'the file' if raised.filename == str(target) else 'its folder'} writable"


def _functions(file: BackendFile) -> Mapping[str, Any]:
    functions = file.fields.get("functions", {})
    return functions if isinstance(functions, dict) else {}


def _is_as_wanted(
    after: Mapping[str, Any],
    before: Mapping[str, Any],
    wanted: Mapping[str, Any],
    same: tuple[str, ...],
) -> bool:
    """Whether the new text has the wanted functions, and no other change."""
    exact = [key for key in FUNCTION_FIELDS if key != "additional_docs"]
    return (
        all(after.get(name) == before.get(name) for name in same)
        and after.keys() - set(same) == wanted.keys()
        and all(
            after[name].get(key) == fields.get(key)
            for name, fields in wanted.items()
            for key in exact
        )
    )


def _registered(
    file: BackendFile, prune: bool
) -> tuple[dict[str, dict[str, Any]] | None, list[Finding]]:
    """Return the registered functions, and findings about what could not be checked here.

    If that is not possible, add faults and return None instead of the functions.
    """
    table = _functions(file).get("auto-generation")
    # Faults of functions are dropped, because the update may repair them.
    serious = [
        each
        for each in file.faults
        if each.key is None or each.key in ("name", "functions") or each.key.startswith(_TABLE)
    ]
    file.faults[:] = serious
    if serious:
        return None, []
    if not table:
        file.fault(
            _TABLE,
            "there is no such table, or it is empty",
            "Name the BackendImplementation in it: backend = 'module:qualname'",
        )
        return None, []
    report, found = file.import_with("update", prune=prune)
    unchecked = [each for each in found if each.is_unchecked]
    file.faults += [each for each in found if not each.is_unchecked]
    functions: dict[str, dict[str, Any]] | None = report.last("functions")
    if not file.faults and not found and not functions and _functions(file).keys() - NO_FUNCTIONS:
        file.fault(
            _TABLE,
            "importing its modules registered no function, but the file has some",
            "Name the modules that register them: modules = ['package.module']; or remove the "
            "functions by hand",
        )
    return None if file.faults else functions, unchecked


def _wanted(
    registered: Mapping[str, Any], present: Any, defaults: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the fields that the file must have for a function."""
    present = present if isinstance(present, dict) else {}
    fields = dict(registered)
    docs = present.get("additional_docs")
    if "additional_docs" not in fields or _same(docs, fields["additional_docs"]):
        fields["additional_docs"] = docs
    if not fields.get(VARIANTS):
        fields[VARIANTS] = present.get(VARIANTS)
    if not fields["uses_context"] and not defaults.get("uses_context"):
        fields["uses_context"] = False if present.get("uses_context") is False else None
    return {
        key: value
        for key, value in fields.items()
        if value is not None and not (key in defaults and _same(value, defaults[key]))
    }


def _same(one: Any, other: Any) -> bool:
    """Whether two values are equal, apart from white space in a text."""
    if isinstance(one, str) and isinstance(other, str):
        return one.split() == other.split()
    return bool(one == other)
