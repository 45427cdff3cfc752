"""Data files in a local folder: whatever is there is run, and nothing is downloaded."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from refold.studies.download import DataError


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
    """Return the files of a folder in the one that ``REFOLD_DATA`` names."""
    around = os.environ.get("REFOLD_DATA")
    files = LocalFiles(Path(around or "", name), ending)
    if not around or not files.sha256:
        there = f"{files.folder} has none" if around else "REFOLD_DATA is not set"
        raise DataError(
            f"There is no data: {there}. Put {wanted} into a folder named {name} and name the "
            "folder around it in REFOLD_DATA."
        )
    return files
