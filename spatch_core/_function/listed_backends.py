"""The backends of a library as users list them: a mapping that cannot be changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .._description import Description


class ListedBackends(Mapping[str, "Description"]):
    """Descriptions of backends by name, in the order of priority.

    Parameters
    ----------
    descriptions : dict
        The descriptions by name.
    """

    __slots__ = ("_descriptions",)

    def __init__(self, descriptions: dict[str, Description]) -> None:
        self._descriptions = descriptions

    def __getitem__(self, name: str) -> Description:
        return self._descriptions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._descriptions)

    def __len__(self) -> int:
        return len(self._descriptions)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._descriptions!r})"

    def __str__(self) -> str:
        return ", ".join(self)
