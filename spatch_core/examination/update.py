"""Writes the functions that a backend's code registers into its file. Needs tomlkit."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import unified_diff
from errno import EACCES, EPERM, EROFS
from inspect import cleandoc
from io import FileIO
from typing import TYPE_CHECKING, Any

from .._description import FUNCTION_FIELDS, NO_FUNCTIONS, VARIANTS
from .._errors import Finding, replace
from .backend_file import BackendFile, read_file
from .checks import DescriptionCheck
from .description import Mention, Role
from .editing import CannotEdit, edit_functions
from .findings import Report, error, key_path, note, to_record
from .functions import check_callable

if TYPE_CHECKING:
    from .child import Journal
    from .importing import Importer

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
    update = FileUpdate(file.path, (), file.text, file.text)
    if registered is not None:
        update = _changed(update, file, registered, prune)
    if update.unregistered:
        is_complete = not any(str(each.key).startswith(_TABLE) for each in notes)
        notes.append(_staying(file, update.unregistered, is_complete))
    is_written = False
    if not (file.faults or check) and update.text != file.text:
        is_written = _write(file, update.text)  # may add a fault
    return replace(update, findings=tuple(file.faults or notes), written=is_written)


def _functions(file: BackendFile) -> dict[str, Any]:
    found = file.fields.get("functions")
    return found if isinstance(found, dict) else {}


def _staying(file: BackendFile, names: tuple[str, ...], is_complete: bool) -> Finding:
    code = "the code" if is_complete else "the modules that can be imported here"
    verb = "does" if is_complete else "do"
    message = f"{code} {verb} not register functions, which stay: {', '.join(names)}"
    remedy = "Register them, remove them with --prune, or keep them up to date by hand"
    if not is_complete:
        remedy = "Update the file where all modules can be imported, or edit it by hand"
    return file.placed(replace(note(message, remedy), key=key_path(("functions", names[0]))))


def _registered(
    file: BackendFile, prune: bool
) -> tuple[dict[str, dict[str, Any]] | None, list[Finding]]:
    """Return the registered functions, and findings about what could not be checked here.

    If that is not possible, add faults and return None instead of the functions.
    """
    table = _functions(file).get("auto-generation")
    # Faults of functions are dropped, because the update may repair them.
    file.faults[:] = [
        each
        for each in file.faults
        if each.key is None or each.key in ("name", "functions") or each.key.startswith(_TABLE)
    ]
    if not (file.faults or table):
        file.fault(
            _TABLE,
            "there is no such table, or it is empty",
            "Name the BackendImplementation in it: backend = 'module:qualname'",
        )
    if file.faults:
        return None, []
    result, found = file.import_with(f"{__name__}:read_registered", prune=prune)
    file.faults += [each for each in found if not each.is_unchecked]
    functions: dict[str, dict[str, Any]] | None = result.last("functions")
    if not (found or functions) and _functions(file).keys() - NO_FUNCTIONS:
        file.fault(
            _TABLE,
            "importing its modules registered no function, but the file has some",
            "Name the modules that register them: modules = ['package.module']; or remove the "
            "functions by hand",
        )
    return None if file.faults else functions, [each for each in found if each.is_unchecked]


def _changed(
    update: FileUpdate, file: BackendFile, registered: Mapping[str, dict[str, Any]], prune: bool
) -> FileUpdate:
    """Return the update with its changes; if the text cannot be changed, add faults."""
    present = {key: value for key, value in _functions(file).items() if key not in NO_FUNCTIONS}
    # The text of functions that are not in the table stays as it is.
    table = {key: value for key, value in present.items() if prune or key in registered}
    defaults = _functions(file).get("defaults", {})
    wanted = {
        name: _wanted(fields, _by_hand(table.get(name)), defaults)
        for name, fields in registered.items()
    }
    update = replace(
        update,
        added=tuple(sorted(wanted.keys() - table)),
        removed=tuple(sorted(table.keys() - wanted)),
        unregistered=tuple(sorted(present.keys() - table)),
    )
    try:
        text = edit_functions(file.text, table, wanted)
    except CannotEdit:
        file.fault("functions", "it is written on one line", "Write it as [functions]")
        return update
    after = read_file(file.path, text)
    now = _functions(after)
    if not _is_as_wanted(now, _functions(file), wanted, {*NO_FUNCTIONS, *update.unregistered}):
        remedy = "Give each function a table of its own"
        file.fault("functions", "its text cannot be changed safely", remedy)
        return update
    # Not an unknown key, which stays.
    file.faults += [each for each in after.faults if each.skips]
    changed = sorted(name for name in table if name in now and now[name] != table[name])
    return replace(update, changed=tuple(changed), text=file.text if file.faults else text)


def _wanted(
    registered: Mapping[str, Any], present: Mapping[str, Any], defaults: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the fields that the file must have for a function."""
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


def _by_hand(present: Any) -> dict[str, Any]:
    """Return the fields of a function in the file, without variants that an update has written."""
    fields = dict(present) if isinstance(present, dict) else {}
    variants = fields.get(VARIANTS)
    if isinstance(variants, list):
        fields[VARIANTS] = [
            each
            for each in variants
            if not (isinstance(each, dict) and _NAME.search(str(each.get("function"))))
        ]
    return {key: value for key, value in fields.items() if value != []}


def _same(one: Any, other: Any) -> bool:
    """Whether two values are equal, apart from white space in a text."""
    if isinstance(one, str) and isinstance(other, str):
        return one.split() == other.split()
    return bool(one == other)


def _is_as_wanted(
    after: Mapping[str, Any], before: Mapping[str, Any], wanted: Mapping[str, Any], same: set[str]
) -> bool:
    """Whether the new text has the wanted functions, and the `same` other ones."""
    exact = [key for key in FUNCTION_FIELDS if key != "additional_docs"]
    return (
        all(after.get(name) == before.get(name) for name in same)
        and after.keys() - same == wanted.keys()
        and all(
            after[name].get(key) == fields.get(key)
            for name, fields in wanted.items()
            for key in exact
        )
    )


def _write(file: BackendFile, text: str) -> bool:
    """Write new content into the file, or into the target of a link; return whether it worked."""
    try:
        # In place: owner, permissions and links stay.
        with open(file.path, "r+b", buffering=0) as stream:
            before = stream.read()
            if before != file.text.encode():
                message = "it was changed during the update and is left as it is"
                file.fault(None, message, "Update it again")
                return False
            try:
                _overwrite(stream, text.encode())
            except OSError:
                with suppress(OSError):
                    _overwrite(stream, before)
                raise
    except OSError as raised:
        is_forbidden = raised.errno in (EACCES, EPERM, EROFS)
        remedy = "Make the file writable" if is_forbidden else "Free some space on its disk"
        file.fault(None, f"it cannot be written: {raised}", remedy)
        return False
    return True


def _overwrite(stream: FileIO, content: bytes) -> None:
    stream.seek(0)
    while content:  # an unbuffered stream may write only a part
        content = content[stream.write(content) :]
    stream.truncate()


# --- What the code registers ----------------------------------------------------------------------


def read_registered(request: dict[str, Any], journal: Journal) -> None:
    """Add the ``functions`` registered with the `BackendImplementation`, and each ``finding``.

    Called in a child. Without ``functions``, the findings say why there are none. If the request
    says ``prune``, all submodules are needed: the functions of one that cannot be imported here
    would be lost.
    """
    file = read_file(request["file"], request["text"])
    importer = file.importer()
    wanted = [each for each in file.mentions() if each.role in (Role.MODULE, Role.BACKEND)]
    check = DescriptionCheck(wanted, importer, journal, name=file.fields.get("name"))
    check.is_needed = True  # an update always needs the backend's code
    check.needs_submodules = request["prune"]
    findings = [*check.findings()]
    if all(each.is_unchecked for each in findings) and journal.begins("reading what is registered"):
        backend = importer.load(wanted[-1].text, is_needed=True)
        table = file.fields.get("functions", {}).get("auto-generation", {})
        distribution = str(table.get("variants_of") or "")
        functions = {
            key: {**_fields(each), **found_variants(each.identifier, distribution)}
            for key, each in backend.functions.items()
        }
        journal.add("functions", functions)
        findings += _implementation_faults(backend, importer)
        findings += check.check_registered(backend.functions)
    for each in findings:
        journal.add("finding", to_record(each))


def _fields(registered: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {"function": registered.identifier}
    if registered.should_run is not None:
        fields["should_run"] = registered.should_run
    fields["uses_context"] = registered.uses_context
    docs = _first_paragraph(registered.function)
    return {**fields, "additional_docs": docs} if docs else fields


def _first_paragraph(function: Any) -> str:
    docs = getattr(function, "__doc__", None)
    copied = getattr(getattr(function, "__wrapped__", None), "__doc__", None)
    # A docstring that functools.wraps copied does not describe this implementation.
    if not isinstance(docs, str) or docs == copied:
        return ""
    lines = cleandoc(docs).partition("\n\n")[0].splitlines()
    return "\n".join(line.rstrip() for line in lines).strip()


def _implementation_faults(backend: Any, importer: Importer) -> Iterator[Finding]:
    """Yield faults of the identifiers of registered implementations."""
    remedy = "Register a function that its module has under its own name"
    for identifier, each in backend.functions.items():
        key = key_path(("functions", identifier))
        found = importer.load(each.identifier, is_needed=True)
        # Compare with ==, too: each access to a bound method creates a new object.
        if isinstance(found, Finding):
            yield replace(found, key=key, remedy=remedy)
        elif found is not each.function and found != each.function:
            message = f"{each.identifier!r} does not lead to the registered function"
            yield replace(error(message, remedy), key=key)
        elif each.should_run is not None:
            mention = Mention(key, Role.SHOULD_RUN, each.should_run)
            asked = importer.load(each.should_run, is_needed=True)
            fault = asked if isinstance(asked, Finding) else check_callable(mention, asked, None)
            if fault is not None:
                yield replace(fault, key=key)


# --- Variants by name -----------------------------------------------------------------------------

# The convention of Ivy: functions with the versions of a distribution in their names. A ``p``
# stands for a point in a version, and ranges include both ends: ``f_v_1p12_and_above``,
# ``f_v_1p9p0_to_1p11p1``, ``f_v_1p8_and_below``.
_VERSION = r"\d+(?:p\d+)*"
_NAME = re.compile(
    rf"(?P<function>.+)_v_(?P<first>{_VERSION})"
    rf"(?:_and_(?P<end>above|below)|_to_(?P<last>{_VERSION}))"
)


def found_variants(identifier: str, distribution: str) -> dict[str, Any]:
    """Return the field ``variants`` of an implementation, from the names in its imported module.

    The most specific variant comes first, because the first one whose requirement is met is used:
    ranges before open ends, and of two open ends the one that fewer versions meet. Without
    variants, or without a distribution, the dictionary is empty.
    """
    module, _, qualname = identifier.partition(":")
    names = vars(sys.modules[module]) if distribution else {}
    matches = filter(None, map(_NAME.fullmatch, names))
    found = [each for each in matches if each["function"] == qualname and callable(names[each[0]])]
    found.sort(key=_specificity, reverse=True)
    variants = [
        {"requires": f"{distribution}{_range(each)}", "function": f"{module}:{each[0]}"}
        for each in found
    ]
    return {"variants": variants} if variants else {}


def _range(name: re.Match[str]) -> str:
    first = name["first"].replace("p", ".")
    if name["last"]:
        return f">={first},<={name['last'].replace('p', '.')}"
    return f"{'>=' if name['end'] == 'above' else '<='}{first}"


def _specificity(name: re.Match[str]) -> tuple[Any, ...]:
    """Return a sort key that is greatest for the most specific variant."""
    sign = -1 if name["end"] == "below" else 1
    version = [sign * int(part) for part in name["first"].split("p")]
    return bool(name["last"]), name["end"] == "above", version
