"""The package of a new backend: templates filled with its answers, and the files on disk."""

from __future__ import annotations

import keyword
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from inspect import Signature
from pathlib import Path
from string import Template
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from .._patterns import TypePattern, split_identifier
from ..examination.signatures import written

if TYPE_CHECKING:
    from importlib.abc import Traversable

_WIDTH = 100
_SHARED = ("README.md.template", "pyproject.toml.template", "test_package.py.template")
"""Templates of every package."""


@dataclass(frozen=True, slots=True)
class NewBackend:
    """The names, types and the example function of a new backend."""

    name: str
    project: str  # the name of its distribution
    package: str
    library: str
    group: str  # the entry point group of the library's backends
    environ_prefix: str  # of the library's variables
    system: str  # the identifier of the library's `BackendSystem`
    function: str  # the identifier of the library's function that the example implements
    signature: Signature  # of that function
    types: tuple[TypePattern, ...]  # primary types
    requirements: tuple[str, ...]  # the distributions that it needs besides spatch-core
    requires_opt_in: bool
    secondary_types: tuple[TypePattern, ...] = ()
    is_minimal: bool = False  # has conversions, and all code in one module

    @property
    def implementation(self) -> str:
        """The name of the example's implementation."""
        return split_identifier(self.function)[1].rpartition(".")[2]

    def files(self) -> dict[str, str]:
        """Return the text of each file, by path in the new folder."""
        values = self._values()
        source = f"src/{self.package}"
        folders = {"pyproject.toml": "", "README.md": "", "test_package.py": "tests/"}
        written = {f"{source}/py.typed": ""}
        for name, template in self._templates().items():
            path = folders.get(name, f"{source}/") + name.replace("package", self.package)
            written[path] = Template(template.read_text("utf-8")).substitute(values)
        return dict(sorted(written.items()))

    def _templates(self) -> dict[str, Traversable]:
        """Return the template of each file, by the name of the file."""
        folder = files(__name__.rpartition(".")[0]) / "templates"
        found = {each.name: each for each in folder.iterdir() if each.is_file()}
        if self.is_minimal:
            own = (folder / "minimal").iterdir()
            found = {name: found[name] for name in _SHARED} | {each.name: each for each in own}
        return {name.removesuffix(".template"): each for name, each in found.items()}

    def _values(self) -> dict[str, str]:
        system_module, system_qualname = split_identifier(self.system)
        head, uses_placeholder = definition(self.implementation, self.signature)
        placeholder = (
            "\n_DEFAULT: Any = object()  # for a default of the library that has no literal\n"
        )
        names = ("name", "project", "package", "library", "group", "function", "implementation")
        return {
            **{name: getattr(self, name) for name in names},
            "code": "__init__" if self.is_minimal else "functions",
            "content": "The conversions and the implementations are"
            if self.is_minimal
            else "The implementations are",
            "entry_point": quoted(self.name) if "." in self.name else self.name,
            "system_module": system_module,
            "system_qualname": system_qualname,
            "types": _array(tuple(map(str, self.types))),
            "secondary": f"secondary_types = {_array(tuple(map(str, self.secondary_types)))}\n"
            if self.secondary_types
            else "",
            "types_in_words": ", ".join(f"`{each.identifier}`" for each in self.types),
            "type": self.types[0].identifier,
            "requirements": _array((*self.requirements, "spatch-core")),
            "opt_in": "requires_opt_in = true\n" if self.requires_opt_in else "",
            "when": self._when(),
            "definition": head,
            "placeholder": placeholder if uses_placeholder else "",
        }

    def _when(self) -> str:
        """Say in which calls the backend runs."""
        if self.requires_opt_in:
            when = (
                f'It runs only where it is prioritized: with `prioritize="{self.name}"` in the '
                f"library's `backend_opts`, or with `{self.environ_prefix}_PRIORITIZE={self.name}` "
                "in the environment."
            )
        else:
            when = "It runs for them wherever it is installed."
        if self.is_minimal:
            when += ' Its conversions serve all other functions, with `fallback="convert"`.'
        return when


def definition(name: str, signature: Signature) -> tuple[str, bool]:
    """Return the head of a function with these parameters.

    Returns
    -------
    head : str
        The text up to the colon, in lines of at most 100 characters.
    uses_placeholder : bool
        Whether ``_DEFAULT`` stands for a default that has no literal.
    """
    parameters = signature.parameters.values()
    texts = written(parameters, lambda _: "Any", lambda value: literal(value) or "_DEFAULT")
    uses_placeholder = any(
        each.default is not each.empty and literal(each.default) is None for each in parameters
    )
    head = f"def {name}({', '.join(texts)}) -> Any:"
    if len(head) > _WIDTH:
        lines = "".join(f"    {text},\n" for text in texts)
        head = f"def {name}(\n{lines}) -> Any:"
    return head, uses_placeholder


def literal(value: object) -> str | None:
    """Return the literal of a value; None if it has none."""
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
    """Return a text without special characters as a string of TOML."""
    return f'"{text}"'


def _array(texts: tuple[str, ...]) -> str:
    line = f"[{', '.join(map(quoted, texts))}]"
    return line if len(line) <= 80 else "[\n" + "".join(f"    {quoted(t)},\n" for t in texts) + "]"


def is_package_name(name: str) -> bool:
    """Whether a name can be that of a package: an ASCII identifier, and not a keyword."""
    return name.isidentifier() and name.isascii() and not keyword.iskeyword(name)


def write_files(folder: Path, texts: Mapping[str, str]) -> None:
    """Write a new folder with all its files, or nothing."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Renaming the finished draft is atomic.
    draft = Path(mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        draft.chmod(0o755)
        for name, text in texts.items():
            file = draft / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="\n")
        draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
