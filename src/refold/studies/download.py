"""Data files of studies: downloaded once, or found in a local folder."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from refold.base.errors import UserError
from refold.base.needs import needs


@dataclass(frozen=True)
class LocalFiles:
    """The files of a folder that have a certain ending; their hashes are those that they have."""

    folder: Path  # where they are
    ending: str  # how their names end

    @cached_property
    def sha256(self) -> dict[str, str]:
        """Each file's hash by its name, in alphabetical order."""
        found = sorted(self.folder.glob(f"*{self.ending}"), key=lambda path: path.name.lower())
        return {path.name: sha256(path.read_bytes()).hexdigest() for path in found}

    def path(self, name: str) -> Path:
        """Return where a file is."""
        return self.folder / name

    local = path


def local_files(name: str, ending: str, wanted: str) -> LocalFiles:
    """Return the files of a folder in the one that ``REFOLD_DATA`` names, or of that one itself."""
    around = os.environ.get("REFOLD_DATA")
    files = LocalFiles(Path(around or "", name), ending)
    if around and not files.sha256 and LocalFiles(Path(around), ending).sha256:
        return LocalFiles(Path(around), ending)
    if not around or not files.sha256:
        there = f"{files.folder} has none" if around else "REFOLD_DATA is not set"
        raise DataError(
            f"There is no data: {there}. Put {wanted} into a folder named {name} and name the "
            "folder around it in REFOLD_DATA."
        )
    return files


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
