"""Libraries that are imported only where they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class MissingExtraError(ImportError):
    """A library that an extra of refold brings is not installed, or cannot be imported."""


def needs(module: str, extra: str) -> Any:
    """Import a module, or say which extra of refold brings it."""
    try:
        return import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        raise MissingExtraError(
            f"{library} is needed for this and cannot be imported ({error}). "
            f"Install it with: pip install 'refold[{extra}]'",
            name=library,
        ) from error
