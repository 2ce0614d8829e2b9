"""Requirements of backends: whether the required distributions are installed.

For a plain name, the standard library suffices. Anything else, such as ``"cupy>=13"``, is parsed by
`packaging`, which is imported only then.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .._description import Description
from .._errors import Problem, in_words
from .entry_points import installed_distributions

_PLAIN = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"


class RequirementError(ValueError):
    """A requirement cannot be read; the text says why."""


def check_required(description: Description) -> tuple[str, list[Problem]]:
    """Return why a backend is inactive (empty if it is active), and malformed requirements."""
    reasons: list[str] = []
    problems: list[Problem] = []
    for text in description.requires:
        try:
            reasons.append(why_unmet([text]))
        except RequirementError as error:
            reasons.append(str(error))
            problems.append(
                Problem(
                    f"it is inactive, because of a requirement: {error}",
                    "Install packaging, or correct the requirement",
                    description.name,
                    "requires",
                    description.source,
                )
            )
    return next(filter(None, reasons), ""), problems


def why_unmet(requirements: Iterable[str], is_condition: bool = False) -> str:
    """Return which requirement is not met, and why; empty if all are met.

    Parameters
    ----------
    requirements : iterable of str
        The requirements.
    is_condition : bool, optional
        Whether a requirement counts as unmet if its marker does not hold here. By default, such a
        requirement does not apply.

    Raises
    ------
    RequirementError
        If a requirement cannot be parsed or compared.

    Examples
    --------
    >>> why_unmet(["no-such-distribution"])
    'it requires no-such-distribution, which is not installed'
    """
    for text in requirements:
        try:
            reason = _why_unmet(text, is_condition)
        except RequirementError:
            raise
        except Exception as error:  # noqa: BLE001  # raised by packaging, for a marker that makes no sense
            raise RequirementError(f"{text!r} cannot be compared ({in_words(error)})") from None
        if reason:
            return reason
    return ""


def _why_unmet(text: str, is_condition: bool) -> str:
    if re.fullmatch(_PLAIN, text):
        missing = installed_version(text) is None
        return f"it requires {text}, which is not installed" if missing else ""
    try:
        from packaging.requirements import InvalidRequirement, Requirement
    except ImportError:
        raise RequirementError(
            f"{text!r} is more than the name of a distribution, and can be compared only if "
            "the distribution packaging is installed"
        ) from None
    try:
        requirement = Requirement(text)
    except InvalidRequirement as error:
        why = str(error).partition("\n")[0]
        raise RequirementError(f"{text!r} is not a requirement: {why}") from None
    if requirement.marker is not None and not requirement.marker.evaluate():
        return f"it is for {requirement.marker}, which does not hold here" if is_condition else ""
    version = installed_version(requirement.name)
    if version is None:
        return f"it requires {text}, which is not installed"
    try:
        is_met = not requirement.specifier or requirement.specifier.contains(version, True)
    except ValueError:  # not a version; later releases of packaging return False
        is_met = False
    return "" if is_met else f"it requires {text}, and {requirement.name} {version} is installed"


def installed_version(name: str) -> str | None:
    """Return the version of a distribution; None if it is not installed.

    The version is ``"0"`` if the metadata cannot be read, or has none.
    """
    for distribution in installed_distributions(name):
        try:
            found: str | None = distribution.version
        except Exception:  # noqa: BLE001  # broken metadata of a third party's distribution
            found = None
        return found or "0"
    return None
