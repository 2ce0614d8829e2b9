"""The public functions of `cupyx.scipy` and their signatures, read from its sources.

The files are parsed instead of imported, because importing `cupyx.scipy.signal` requires CUDA's
libraries.
"""

from __future__ import annotations

import ast
import re
import tarfile
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MODULES = {
    "ndimage": "cupyx.scipy.ndimage",
    "signal": "cupyx.scipy.signal",
    "fft": "cupyx.scipy.fft",
}


class Sources:
    """CuPy's modules in a folder, a wheel or a source distribution.

    Parameters
    ----------
    path : Path
        The folder that contains ``cupyx``, or the wheel, or the source distribution.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read = _reader(path)
        self._modules: dict[str, list[ast.stmt]] = {}

    @classmethod
    def installed(cls) -> Sources | None:
        """Return the sources of the installed CuPy without importing it; None if not installed."""
        spec = find_spec("cupyx")
        if spec is None or spec.origin is None:
            return None
        return cls(Path(spec.origin).parents[1])

    @property
    def version(self) -> str:
        """The version of CuPy."""
        text = self._read("cupy/_version.py") or ""
        found = re.search(r"""__version__ = ['"]([^'"]+)""", text)
        return found[1] if found else "unknown"

    def functions(self, module: str, names: Iterable[str]) -> dict[str, ast.FunctionDef]:
        """Return the functions that a module defines or imports from other CuPy modules."""
        found = {name: self._find(module, name, frozenset()) for name in names}
        return {name: each for name, each in found.items() if each is not None}

    def _find(self, module: str, name: str, seen: frozenset[str]) -> ast.FunctionDef | None:
        here = f"{module}:{name}"
        if here in seen or not module.startswith("cupy"):
            return None
        seen |= {here}
        # The last definition in a module is the effective one.
        for node in reversed(self._statements(module)):
            if isinstance(node, ast.FunctionDef) and node.name == name:
                return node
            others = []
            if isinstance(node, ast.ImportFrom):
                others = [
                    (str(node.module), name if alias.name == "*" else alias.name)
                    for alias in node.names
                    if alias.name == "*" or (alias.asname or alias.name) == name
                ]
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
                targets = [each.id for each in node.targets if isinstance(each, ast.Name)]
                others = [(module, node.value.id)] if name in targets else []
            for other in others:
                found = self._find(*other, seen)
                if found is not None:
                    return found
        return None

    def _statements(self, module: str) -> list[ast.stmt]:
        if module not in self._modules:
            base = module.replace(".", "/")
            text = self._read(f"{base}/__init__.py") or self._read(f"{base}.py")
            self._modules[module] = ast.parse(text or "").body
        return self._modules[module]


def signature(function: ast.FunctionDef) -> str:
    """Return the signature of a function as text, without annotations."""
    arguments = function.args
    for each in ast.walk(arguments):
        if isinstance(each, ast.arg):
            each.annotation = None
    return f"({ast.unparse(arguments)})"


def _reader(path: Path) -> Callable[[str], str | None]:
    if path.is_dir():
        return lambda name: (
            (path / name).read_text(encoding="utf-8") if (path / name).is_file() else None
        )
    wanted = re.compile(r"(?:^|/)((?:cupy|cupyx)/.*\.py)$")
    texts: dict[str, str] = {}
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            for name in wheel.namelist():
                if found := wanted.search(name):
                    texts[found[1]] = wheel.read(name).decode()
    elif path.name.endswith((".tar.gz", ".tgz")):
        with tarfile.open(path) as sdist:
            for member in sdist:
                content = sdist.extractfile(member) if member.isfile() else None
                if content is not None and (found := wanted.search(member.name)):
                    texts.setdefault(found[1], content.read().decode())
    else:
        raise SystemExit(f"{path} is no folder, wheel or source distribution")
    return texts.get
