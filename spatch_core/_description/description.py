"""A backend's description: immutable, and valid if `parsing` made it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from .._reporting.problems import Problem, Source
from .._reporting.published import Published
from .._type_patterns import ABSTRACT, TypePattern


class Conversions(NamedTuple):
    """The conversions of a backend, by their identifiers.

    Parameters
    ----------
    to_default, from_default : str
        Convert one object to a type of the library, and back.
    copy_into : str or None
        Writes a converted object back into the original.
    """

    to_default: str
    from_default: str
    copy_into: str | None


@dataclass(frozen=True, slots=True)
class Variant(Published):
    """An implementation that replaces the usual one if a requirement is met.

    Parameters
    ----------
    requires : str
        The requirement.
    function : str
        Identifier of the implementation.
    """

    requires: str
    function: str


@dataclass(frozen=True, slots=True)
class Implementation(Published):
    """How a backend implements one function of the library.

    Parameters
    ----------
    function : str
        Identifier of the implementation, or of the variant that replaces it here.
    should_run : str or None
        Identifier of the function that decides whether it runs; None if it always does.
    uses_context : bool
        Whether a `DispatchContext` is passed as the first argument.
    additional_docs : str
        Text for the "Backends" section of the function's docstring.
    variants : tuple of Variant
        The first one whose requirement is met replaces `function`.
    variant : Variant or None
        The variant that has replaced it, if any.
    """

    function: str
    should_run: str | None = None
    uses_context: bool = False
    additional_docs: str = ""
    variants: tuple[Variant, ...] = ()
    variant: Variant | None = None


@dataclass(frozen=True, slots=True)
class AutoGeneration(Published):
    """Where the update tool finds the implementations to describe.

    Parameters
    ----------
    backend : str
        Identifier of the `BackendImplementation`.
    modules : tuple of str
        Modules to import first, because they register functions.
    variants_of : str
        The distribution whose versions appear in the names of variants.
    """

    backend: str
    modules: tuple[str, ...] = ()
    variants_of: str = ""


@dataclass(frozen=True, slots=True)
class Description(Published):
    """A backend, as its author describes it.

    Parameters
    ----------
    name : str
        The backend's name.
    primary_types, secondary_types : tuple of TypePattern
        Types that it works with and returns; types that it accepts but converts.
    requires_opt_in : bool
        Whether it is inactive until it is prioritized.
    higher_priority_than, lower_priority_than : tuple of str
        Names of backends that it goes before and after.
    to_default, from_default, copy_into : str or None
        Identifiers of its conversions.
    requires : tuple of str
        Requirements without which it is inactive.
    url : str
        Its documentation on the web; may be empty.
    functions : mapping of str to Implementation
        By identifier of the library's function.
    attributes : mapping of str to str
        Identifiers of its values, by identifier of the library's attribute.
    every : Implementation or None
        The implementation of every function without an entry of its own.
    auto_generation : AutoGeneration or None
        For the update tool.
    source : Source
        Where the description comes from.
    in_code : bool
        Whether the library itself passed it.
    problems : tuple of Problem
        Unknown keys, which were ignored. Not compared.
    unmet : str
        Why a requirement is not met here; empty if all are.
    varies : bool
        Whether a function has variants. Not compared.
    absent : mapping of str to str
        Why a function is not implemented here: the requirements of all its variants are unmet.
    """

    name: str
    primary_types: tuple[TypePattern, ...]
    secondary_types: tuple[TypePattern, ...] = ()
    requires_opt_in: bool = False
    higher_priority_than: tuple[str, ...] = ()
    lower_priority_than: tuple[str, ...] = ()
    to_default: str | None = None
    from_default: str | None = None
    copy_into: str | None = None
    requires: tuple[str, ...] = ()
    url: str = ""
    functions: Mapping[str, Implementation] = field(
        default_factory=lambda: MappingProxyType({}), hash=False
    )
    attributes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    every: Implementation | None = None
    auto_generation: AutoGeneration | None = None
    source: Source = Source()
    in_code: bool = False
    problems: tuple[Problem, ...] = field(default=(), compare=False)
    unmet: str = ""
    varies: bool = field(default=False, compare=False)
    absent: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), hash=False)

    def implementation(self, identifier: str) -> Implementation | None:
        """Return the implementation of a function of the library, or None."""
        found = self.functions.get(identifier)
        return found if found is not None or identifier in self.absent else self.every

    @property
    def known_types(self) -> tuple[TypePattern, ...]:
        """The primary and the secondary types."""
        return (*self.primary_types, *self.secondary_types)

    @property
    def conversions(self) -> Conversions | None:
        """The conversions; None if the backend has none."""
        if self.to_default is None or self.from_default is None:
            return None
        return Conversions(self.to_default, self.from_default, self.copy_into)

    @property
    def is_abstract(self) -> bool:
        """Whether any primary type is an abstract base class."""
        return any(pattern.prefix == ABSTRACT for pattern in self.primary_types)
