"""What a description names and requires."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from .._description import AUTO_GENERATION, DEFAULTS, EVERY, GivenCallable
from .._discovery import choose_variants
from .._environment import RequirementError, why_unmet
from .._errors import Finding, Severity, replace
from .._patterns import TypePattern, split_identifier
from ..exceptions import IdentifierError
from .findings import error, key_path, note

if TYPE_CHECKING:
    from .._description import Description


class Role(str, Enum):
    """The role of a name in a description."""

    TYPE = "type"
    LIBRARY_FUNCTION = "library function"
    FUNCTION = "function"
    SHOULD_RUN = "should_run"
    CONVERSION = "conversion"
    MODULE = "module"
    BACKEND = "backend"
    ATTRIBUTE = "attribute of the library"
    VALUE = "value of an attribute"


_CONVERSIONS = ("to_default", "from_default", "copy_into")


@dataclass(frozen=True, slots=True)
class Mention:
    """Something importable that a description names."""

    key: str
    role: Role
    text: str  # an identifier, a type pattern, or the name of a module
    library_function: str | None = None  # the function that it implements; "*" for all others
    takes_context: bool = False  # whether it gets a `DispatchContext` first

    @property
    def module(self) -> str:
        """The module that has it."""
        return self.text.lstrip("~@").partition(":")[0]


def find_mentions(fields: Mapping[str, Any]) -> Iterator[Mention]:
    """Yield every well-formed name in the fields of a description."""
    for name in ("primary_types", "secondary_types"):
        for position, text in _strings(fields.get(name)):
            with suppress(IdentifierError):
                TypePattern(text)
                yield Mention(f"{name}[{position}]", Role.TYPE, text)
    for name, value in _table(fields.get("attributes")).items():
        key = key_path(("attributes", name))
        yield from _identifier(key, Role.ATTRIBUTE, name)
        yield from _identifier(key, Role.VALUE, value)
    for name in _CONVERSIONS:
        yield from _identifier(name, Role.CONVERSION, fields.get(name))
    functions = _table(fields.get("functions"))
    defaults = _table(functions.get(DEFAULTS))
    for name, entry in functions.items():
        path = key_path(("functions", name))
        table = _table(entry)
        if name == AUTO_GENERATION:
            modules = table.get("modules")
            if isinstance(modules, str):
                yield Mention(f"{path}.modules", Role.MODULE, modules)
            for position, text in _strings(modules):
                yield Mention(f"{path}.modules[{position}]", Role.MODULE, text)
            yield from _identifier(f"{path}.backend", Role.BACKEND, table.get("backend"))
            continue
        function = None if name == DEFAULTS else name
        if function not in (None, EVERY):
            named = [*_identifier(path, Role.LIBRARY_FUNCTION, function)]
            if not (named or "." in name):
                continue  # an unknown table
            yield from named
            # The implementation of a malformed name is imported, but not compared.
            function = name if named else None
        said = {**defaults, **table}
        chosen = chosen_variant(said.get("variants"))
        position = 0
        if chosen is not None:
            position, said["function"] = chosen
        for role in (Role.FUNCTION, Role.SHOULD_RUN):
            key = role.value
            place = path if key in table or key not in said else "functions.defaults"
            if role is Role.FUNCTION and chosen is not None:
                place = path if "variants" in table else "functions.defaults"
                key = f"variants[{position}].function"
            context = role is Role.SHOULD_RUN or said.get("uses_context") is True or name == EVERY
            yield from _identifier(f"{place}.{key}", role, said.get(role.value), function, context)


def chosen_variant(variants: Any) -> tuple[int, Any] | None:
    """Return position and identifier of the variant for this environment, or None."""
    for position, variant in enumerate(variants if isinstance(variants, list) else []):
        with suppress(RequirementError, TypeError, KeyError):
            if not why_unmet(variant["requires"], is_condition=True):
                return position, variant["function"]
    return None


def fields_of(description: Description) -> dict[str, Any]:
    """Return the fields of a description as a file has them, without ``functions.defaults``."""
    functions = dict(description.functions)
    if description.every is not None:
        functions[EVERY] = description.every
    return {
        "primary_types": [str(each) for each in description.primary_types],
        "secondary_types": [str(each) for each in description.secondary_types],
        "attributes": dict(description.attributes),
        **{name: getattr(description, name) for name in _CONVERSIONS},
        "functions": {
            name: {
                "function": each.function,
                "should_run": each.should_run,
                "uses_context": each.uses_context,
            }
            for name, each in functions.items()
        },
    }


def _identifier(
    key: str, role: Role, text: Any, function: str | None = None, context: bool = False
) -> Iterator[Mention]:
    if isinstance(text, GivenCallable):
        return  # there is nothing to import
    with suppress(IdentifierError):
        split_identifier(text)
        yield Mention(key, role, text, function, context)


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _strings(values: Any) -> Iterator[tuple[int, str]]:
    for position, value in enumerate(values if isinstance(values, list) else []):
        if isinstance(value, str):
            yield position, value


# --- Requirements ---------------------------------------------------------------------------------


def check_requirements(requires: Iterable[str]) -> Iterator[Finding]:
    """Yield an error for each malformed requirement, and a note for each unmet one.

    Examples
    --------
    >>> [str(each.severity) for each in check_requirements(["no-such-distribution", "a b"])]
    ['note', 'error']
    """
    for position, text in enumerate(requires):
        try:
            unmet = why_unmet(text)
        except RequirementError as failure:
            remedy = "Install packaging, or correct the requirement"
            found = error(f"it is inactive, because of a requirement: {failure}", remedy)
        else:
            if not unmet:
                continue
            found = note(f"{unmet}, so it is inactive here", "Install it to use the backend")
        yield replace(found, key=f"requires[{position}]")


def check_variants(description: Description) -> Iterator[Finding]:
    """Yield an error for each malformed requirement, and a note for each absent function.

    The variants may have been chosen before.
    """
    if not description.varies:
        return
    chosen, problems = choose_variants(description)
    for problem in problems:
        yield replace(problem, severity=Severity.ERROR)
    for identifier, why in {**description.absent, **chosen.absent}.items():
        message = f"it has no implementation for what is installed here: {why}"
        found = note(message, "Install it, or add an implementation without a requirement")
        yield replace(found, key=key_path(("functions", identifier)))
