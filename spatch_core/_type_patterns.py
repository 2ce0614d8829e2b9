"""Type patterns: the classes that a backend supports.

=========  ==============  ====================================================
pattern    kind            matches
=========  ==============  ====================================================
``m:Q``    exact           the class ``Q`` of module ``m``, also under an alias
``~m:Q``   subclass        the same, and its subclasses
``@m:Q``   abstract        subclasses of the abstract base class ``Q``
=========  ==============  ====================================================

Parsing a pattern does not import its module.
"""

from __future__ import annotations

import sys

from ._classes import module_of, mro_of, qualname_of
from ._identifiers import identifier_like, is_awaited, loaded_object, split_identifier

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final, Literal

EXACT: Final = ""
SUBCLASS: Final = "~"
ABSTRACT: Final = "@"


class TypePattern:
    """A type pattern: ``"m:Q"``, ``"~m:Q"`` or ``"@m:Q"``.

    Parameters
    ----------
    text : str
        The pattern.

    Attributes
    ----------
    prefix : str
        `EXACT`, `SUBCLASS` or `ABSTRACT`.
    identifier, module, qualname : str
        The pattern without its prefix, and the two parts of the identifier.

    Raises
    ------
    IdentifierError
        If `text` is not a type pattern.
    """

    __slots__ = ("identifier", "module", "prefix", "qualname")

    prefix: Literal["", "~", "@"]
    identifier: str
    module: str
    qualname: str

    def __init__(self, text: object) -> None:
        prefix: Literal["", "~", "@"] = EXACT
        identifier = text
        if isinstance(text, str) and text[:1] == SUBCLASS:
            prefix, identifier = SUBCLASS, text[1:]
        elif isinstance(text, str) and text[:1] == ABSTRACT:
            prefix, identifier = ABSTRACT, text[1:]
        try:
            self.module, self.qualname = split_identifier(identifier)
        except ValueError:
            from ._reporting.errors import IdentifierError

            like = identifier_like(text)
            raise IdentifierError(
                text,
                "a type pattern of the form 'module:qualname', '~module:qualname' "
                "(subclasses too) or '@module:qualname' (abstract base class)"
                + (f", such as {like!r}" if like else ""),
            ) from None
        self.prefix = prefix
        self.identifier = f"{self.module}:{self.qualname}"

    def __str__(self) -> str:
        return self.prefix + self.identifier

    def __repr__(self) -> str:
        return f"TypePattern({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypePattern) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> Any:
        from ._reporting.published import published  # few programs need it

        return published(self, str(self))

    def names(self, cls: type) -> bool:
        """Whether an exact or subclass pattern names `cls`; imports nothing.

        Parameters
        ----------
        cls : type
            Any class.

        Returns
        -------
        bool
            True if `cls` (for a subclass pattern, a class on its MRO) has the pattern's
            module and qualname, or is the object that the pattern names in a module that
            is imported already.

        Examples
        --------
        >>> TypePattern("builtins:int").names(bool), TypePattern("~builtins:int").names(bool)
        (False, True)
        """
        return self.distance(cls) is not None

    def distance(self, cls: type) -> int | None:
        """Return the position on the MRO of `cls` of the class that the pattern names.

        Parameters
        ----------
        cls : type
            Any class.

        Returns
        -------
        int or None
            The first position; 0 for `cls` itself. None if `names` is false. The pattern must
            not be abstract.

        Examples
        --------
        >>> TypePattern("~builtins:int").distance(bool)
        1
        """
        classes = (cls,) if self.prefix == EXACT else mro_of(cls)
        for position, each in enumerate(classes):
            if qualname_of(each) == self.qualname and module_of(each) == self.module:
                return position
        # A module's own `__getattr__` may be slow or import much. It is called only if it could
        # return this class.
        named = loaded_object(self.module, self.qualname, hooks=self.resembles(cls))
        if named is not None:
            for position, each in enumerate(classes):
                if each is named:
                    return position
        return None

    def resembles(self, cls: type, known: bool = False) -> bool:
        """Whether the pattern could be an alias of a class on the MRO of `cls`; see `may_alias`."""
        classes = (cls,) if self.prefix == EXACT else mro_of(cls)
        return any(self._resembles(each, known) for each in classes)

    def _resembles(self, cls: type, known: bool) -> bool:
        """Whether the pattern could be an alias of `cls`; see `may_alias`."""
        if self.module.partition(".")[0] == module_of(cls).partition(".")[0]:
            return True
        last = self.qualname.rpartition(".")[2]
        return not known and last == qualname_of(cls).rpartition(".")[2]

    def may_alias(self, cls: type, known: bool) -> bool:
        """Whether the pattern may turn out to name `cls` once its module is imported.

        A public alias is assumed to be in the package that defines the class, or to have the
        class's name. The second kind is considered only if the class is not `known`.

        Parameters
        ----------
        cls : type
            Any class.
        known : bool
            Whether another pattern names `cls` already.

        Returns
        -------
        bool
            If True, a decision that this pattern does not match may change later.
        """
        if self.prefix == ABSTRACT:
            # Matching imports the module. The answer can change only if the module was in
            # the middle of its import.
            return self.module in sys.modules and is_awaited(self.module)
        return is_awaited(self.module) and self.resembles(cls, known)
