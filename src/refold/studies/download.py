"""Public data files: a local copy, the user's cache or the place where they were published."""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from refold.base.errors import UserError
from refold.base.needs import needs


class DataError(UserError):
    """A data file is missing, damaged or not what it should be."""


@dataclass(frozen=True)
class PublishedFiles:
    """A folder of published files at one fixed version."""

    # Its name in the folder that the environment variable ``REFOLD_DATA`` names, and in the cache.
    folder: str
    url: str  # where it was published; a file's name follows after a slash
    sha256: dict[str, str]  # each file's hash by its name

    def path(self, name: str) -> Path:
        """Find a file: the local copy, then the cache, then where it was published."""
        return self.local(name) or self._fetched(name)

    def local(self, name: str) -> Path | None:
        """Return the copy of a file in ``REFOLD_DATA``; None if there is none."""
        folder = os.environ.get("REFOLD_DATA")
        path = Path(folder or "", self.folder, name)
        if not folder or not path.exists():
            return None
        found = sha256(path.read_bytes()).hexdigest()
        if found != self.sha256[name]:
            raise DataError(
                f"{path} is damaged: its SHA-256 is {found}, the published file has "
                f"{self.sha256[name]}. Replace it with {self.url}/{name}, or delete it and it will "
                "be downloaded."
            )
        return path

    def _fetched(self, name: str) -> Path:
        pooch = needs("pooch", "paper")
        url = f"{self.url}/{name}"
        cache = Path(pooch.os_cache("refold")) / self.folder
        try:
            return Path(pooch.retrieve(url, f"sha256:{self.sha256[name]}", name, cache))
        except (OSError, ValueError) as error:  # requests' errors are OSErrors, pooch's ValueErrors
            folder = os.environ.get("REFOLD_DATA")
            has = f"holds {folder}, which has no {self.folder}/{name}" if folder else "is not set"
            raise DataError(
                f"{name} could not be downloaded from {url}: {error}\n"
                "Connect to the internet and try again; or put a copy of the file into a folder "
                f"named {self.folder} and name the folder around it in REFOLD_DATA. "
                f"(REFOLD_DATA {has}.)"
            ) from error
