"""Reads the descriptions of backends one by one, from files, objects and code.

Any fault of a backend becomes a `Problem`. Where code of a backend runs, that is any exception but
`KeyboardInterrupt`, which is the user's.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import Any

from .._description import Description
from .._errors import DescriptionError, Problem, Source, in_words
from .._files import LimitError, find_file, parse_toml
from .._parsing import parse_description
from .._patterns import DEFAULT, import_identifier, is_backend_name, is_dotted_name, is_initializing
from .catalog import NO_PARSER
from .entry_points import entry_point_target


class BackendReader:
    """Reads descriptions.

    Parameters
    ----------
    problems : list of Problem
        Receives the faults.
    block : str
        The name of the environment variable that blocks backends, for the messages.
    functions : collection of str, optional
        Identifiers of the library's functions.

    Attributes
    ----------
    is_complete : bool
        False once a backend could not be imported because this thread is importing a module
        that it needs. That is not a fault; the backend must be read again later.
    """

    def __init__(
        self,
        problems: list[Problem],
        block: str,
        functions: Collection[str] = (),
    ) -> None:
        self.functions = functions
        self.problems = problems
        self.block = block
        self.is_complete = True

    def read(self, name: str, entry_point: Any, source: Source) -> Description | None:
        """Read the backend of an entry point; None if that fails."""
        if not is_backend_name(name) or name == DEFAULT:
            self.problems.append(
                Problem(
                    f"{name!r} cannot name a backend",
                    "Use letters, digits, '_', '.' and '-'; 'default' is the library's own name",
                    name,
                    source=source,
                )
            )
            return None
        module, attribute, is_file = entry_point_target(entry_point)
        if is_file:
            return self._read_file(name, module, attribute, source)
        return self._read_object(name, module, attribute, source)

    def parse(
        self, fields: Any, source: Source, expected_name: str | None, in_code: bool = False
    ) -> Description | None:
        """Parse the fields of a description; None if they have faults.

        The parameters are those of `parse_description`.
        """
        try:
            description = parse_description(fields, source, expected_name, in_code, self.functions)
        except DescriptionError as error:
            self.problems += error.problems
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  # a third party's attributes
            self.problems.append(
                Problem(
                    f"reading its fields failed with {in_words(error)}",
                    "Repair or uninstall the distribution",
                    expected_name or "?",
                    source=source,
                )
            )
        else:
            self.problems += description.problems
            return description
        return None

    def _read_file(self, name: str, module: str, file: str, source: Source) -> Description | None:
        def problem(message: str, remedy: str) -> None:
            self.problems.append(Problem(message, remedy, name, source=source))

        if not is_dotted_name(module) or not is_backend_name(file):
            problem(
                f"'{module}:{file}' does not name a file inside a package",
                "Write the entry point as 'package.module:file.toml'",
            )
            return None

        def unreadable(error: BaseException) -> None:
            problem(
                f"the package {module!r} or its file cannot be read ({in_words(error)})",
                "Reinstall the distribution",
            )

        try:
            path, content = find_file(module, file, source.metadata)
        except Exception as error:  # noqa: BLE001  # a third party's finder or loader
            unreadable(error)
            return None
        if content is None:
            remedy = (
                "Check the entry point, and that the distribution ships the file as package data"
            )
            if not path:  # Python reads the path files of editable installations when it starts
                remedy = (
                    "Reinstall the distribution; if it was installed in editable mode while this "
                    "process was running, start Python again"
                )
            problem(f"there is no file {file!r} in {path or module!r}", remedy)
            return None
        source = Source(source.entry_point, path, source.metadata)
        try:
            fields = parse_toml(content)
        except ImportError as error:  # a vendored copy of this package requires no parser
            problem(f"{NO_PARSER}: {error}", "Install tomli, or use Python 3.11 or later")
            return None
        except LimitError as error:
            problem(f"it is not parsed: {error}", "Write a smaller file, with shorter keys")
            return None
        except (ValueError, RecursionError) as error:  # not TOML, not UTF-8, nested too deeply
            problem(f"it is not valid TOML: {error}", "Correct the file")
            return None
        return self.parse(fields, source, name)

    def _read_object(
        self, name: str, module: str, qualname: str, source: Source
    ) -> Description | None:
        try:
            if is_initializing(sys.modules.get(module)):
                self.is_complete = False
                return None
            fields = import_identifier(f"{module}:{qualname}") if qualname else _import(module)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  # whatever a backend's module raises
            if _is_circular(error):
                # It may need a module that this thread is importing, such as the library.
                self.is_complete = False
                return None
            self.problems.append(
                Problem(
                    f"importing it failed with {in_words(error)}",
                    "Repair or uninstall the distribution, or block the backend by setting "
                    f"{self.block}={name}",
                    name,
                    source=source,
                )
            )
            return None
        return self.parse(fields, source, name)


def _import(module: str) -> object:
    from importlib import import_module

    return import_module(module)


def _is_circular(error: BaseException) -> bool:
    """Whether an import may have failed only because modules are being imported."""
    if issubclass(type(error), (ImportError, AttributeError)):
        return any(map(is_initializing, [*sys.modules.values()]))
    # The import system raises this if threads would wait for each other's imports.
    return type(error).__name__ == "_DeadlockError"
