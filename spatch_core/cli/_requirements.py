"""What a backend's distribution requires, and how to get what is not installed."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution
from re import match, search, sub


class Requirements:
    """What a distribution requires, optionally or not.

    Parameters
    ----------
    name : str, optional
        The distribution's.
    texts : iterable of str, optional
        Its requirements, as its metadata have them.
    """

    def __init__(self, name: str = "", texts: Iterable[str] = ()) -> None:
        self.name = name
        self.extras: dict[str, str] = {}
        self.always: list[str] = []
        for text in texts:
            found = match(r"\s*([\w.-]+)", text)
            if found:
                extra = search(r"""\bextra\s*==\s*['"]([\w.-]+)""", text)
                if extra is None:
                    self.extras[_normal(found[1])] = ""
                else:
                    self.extras.setdefault(_normal(found[1]), extra[1])
                if ";" not in text:  # others may not be meant for this Python
                    self.always.append(found[1])

    def __contains__(self, package: str) -> bool:
        return _normal(package) in self.extras

    def remedy(self, package: str) -> str:
        """Say how to install a package; empty if nothing is known of it."""
        extra = self.extras.get(_normal(package))
        if extra:
            return f"Install it, as 'pip install {self.name}[{extra}]' does"
        if extra is not None:
            return f"Install it: {self.name} requires it"
        missing = " and ".join(each for each in self.always if not _is_installed(each))
        # Packages need not be called as their distributions are.
        return missing and f"Install {missing}, which {self.name} requires and which may have it"


def _normal(name: str) -> str:
    return sub("[-_.]+", "_", name).lower()


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True
