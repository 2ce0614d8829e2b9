"""The same distributions on disk as for the command line."""

from __future__ import annotations

from tests.cli.conftest import bare, link_packages, paint, site

__all__ = ["bare", "link_packages", "paint", "site"]
