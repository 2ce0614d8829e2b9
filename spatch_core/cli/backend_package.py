"""The files of a new backend: what is in each, from what is known about it."""

from __future__ import annotations

import keyword
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import Parameter, Signature
from textwrap import dedent

from .._identifiers import split_identifier
from .._type_patterns import TypePattern
from . import templates

_WIDTH = 100
_STARS: dict[object, str] = {Parameter.VAR_POSITIONAL: "*", Parameter.VAR_KEYWORD: "**"}


@dataclass(frozen=True, slots=True)
class NewBackend:
    """What the files of a new backend are written from.

    Parameters
    ----------
    name : str
        The backend's name.
    project, package : str
        Names of its distribution and of its package.
    library, group : str
        Name of the library, and the entry point group of its backends.
    system : str
        Identifier of the library's `BackendSystem`.
    function : str
        Identifier of the library's function that is implemented as an example.
    signature : Signature
        Of that function.
    types : tuple of TypePattern
        Primary types.
    requirements : tuple of str
        Distributions that it needs besides spatch-core.
    requires_opt_in : bool
        Whether it stays inactive until it is prioritized.
    """

    name: str
    project: str
    package: str
    library: str
    group: str
    system: str
    function: str
    signature: Signature
    types: tuple[TypePattern, ...]
    requirements: tuple[str, ...]
    requires_opt_in: bool

    @property
    def implementation(self) -> str:
        """Name of the example's implementation."""
        return split_identifier(self.function)[1].rpartition(".")[2]

    def files(self) -> dict[str, str]:
        """Return the text of each file, by its path in the new folder."""
        source = f"src/{self.package}"
        return {
            "README.md": _fill(self, templates.README),
            "pyproject.toml": _fill(self, templates.PYPROJECT),
            f"{source}/__init__.py": _fill(self, templates.INIT),
            f"{source}/_backend.py": _fill(self, templates.BACKEND),
            f"{source}/backend.toml": _fill(self, templates.DESCRIPTION),
            f"{source}/functions.py": _fill(self, templates.FUNCTIONS),
            f"{source}/py.typed": "",
            f"tests/test_{self.package}.py": _fill(self, templates.TESTS),
        }


def definition(name: str, signature: Signature) -> tuple[str, bool]:
    """Write the head of a function with these parameters.

    Parameters
    ----------
    name : str
        Its name.
    signature : Signature
        Its parameters. Their types are not known here.

    Returns
    -------
    head : str
        Up to the colon; in lines of at most 100 characters.
    uses_placeholder : bool
        Whether a default has no literal, so that ``_DEFAULT`` stands for it.
    """
    texts: list[str] = []
    uses_placeholder = False
    previous = None
    for each in signature.parameters.values():
        if previous is Parameter.POSITIONAL_ONLY and each.kind is not previous:
            texts.append("/")
        if each.kind is Parameter.KEYWORD_ONLY and previous not in (
            Parameter.VAR_POSITIONAL,
            Parameter.KEYWORD_ONLY,
        ):
            texts.append("*")
        text = f"{_STARS.get(each.kind, '')}{each.name}: Any"
        if each.default is not each.empty:
            value = literal(each.default)
            uses_placeholder = uses_placeholder or value is None
            text += f" = {value or '_DEFAULT'}"
        texts.append(text)
        previous = each.kind
    if previous is Parameter.POSITIONAL_ONLY:
        texts.append("/")
    head = f"def {name}({', '.join(texts)}) -> Any:"
    if len(head) > _WIDTH:
        lines = "".join(f"    {text},\n" for text in texts)
        head = f"def {name}(\n{lines}) -> Any:"
    return head, uses_placeholder


def literal(value: object) -> str | None:
    """Return a value as it is written in code; None if it cannot be.

    Parameters
    ----------
    value : object
        The default of a parameter.
    """
    if type(value) is str:
        text = repr(value)
        return text if '"' in text or "\\" in text else f'"{text[1:-1]}"'
    if value is None or type(value) in (bool, int):
        return repr(value)
    if type(value) is float and value - value == 0:  # neither infinite nor NaN
        return repr(value)
    if type(value) is tuple:
        parts = [literal(each) for each in value]
        if None not in parts:
            return f"({', '.join(map(str, parts))}{',' * (len(parts) == 1)})"
    return None


def quoted(text: str) -> str:
    """Return text as a string of TOML; nothing in it is to be escaped."""
    return f'"{text}"'


def _array(texts: tuple[str, ...]) -> str:
    line = f"[{', '.join(map(quoted, texts))}]"
    return line if len(line) <= 80 else "[\n" + "".join(f"    {quoted(t)},\n" for t in texts) + "]"


def _fill(backend: NewBackend, template: str) -> str:
    text = dedent(template).lstrip("\n")
    for key, value in _values(backend):
        text = text.replace(f"<{key}>", value)
    return text


def _values(backend: NewBackend) -> Iterator[tuple[str, str]]:
    for name in ("name", "project", "package", "library", "group", "function", "implementation"):
        yield name, getattr(backend, name)
    yield "entry point", quoted(backend.name) if "." in backend.name else backend.name
    yield "system module", split_identifier(backend.system)[0]
    yield "system qualname", split_identifier(backend.system)[1]
    patterns = tuple(map(str, backend.types))
    yield "types", _array(patterns)
    yield "types in words", ", ".join(f"`{each.identifier}`" for each in backend.types)
    yield "type", backend.types[0].identifier
    yield "type qualname", backend.types[0].qualname
    module = split_identifier(backend.function)[0]
    again = module == split_identifier(backend.system)[0]
    yield "function import", "" if again else f'\nimport_module("{module}")'
    yield "type module", backend.types[0].module
    yield "requirements", _array((*backend.requirements, "spatch-core"))
    yield "opt-in", "requires_opt_in = true\n" if backend.requires_opt_in else ""
    yield (
        "when",
        "It runs where it is asked for:" if backend.requires_opt_in else "It can be preferred:",
    )
    head, uses_placeholder = definition(backend.implementation, backend.signature)
    yield "definition", head
    yield (
        "placeholder",
        "\n_DEFAULT: Any = object()  # for the library's default, which cannot be written here\n"
        if uses_placeholder
        else "",
    )


def is_package_name(name: str) -> bool:
    """Whether a package can have this name: ASCII, and no keyword."""
    return name.isidentifier() and name.isascii() and not keyword.iskeyword(name)
