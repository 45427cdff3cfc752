"""Print the lowest version that pyproject.toml allows of each package, as constraints for pip."""

import tomllib
from itertools import chain
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"


def promised(pyproject):
    """Return what refold says it works with: to build it, to run it, and with its extras."""
    project = pyproject["project"]
    extras = chain.from_iterable(project["optional-dependencies"].values())
    texts = [*pyproject["build-system"]["requires"], *project["dependencies"], *extras]
    return [r for r in map(Requirement, texts) if r.name != project["name"]]


def lower_bounds(requirements):
    """Return package -> lowest version; a package without one is a KeyError."""
    lowest = {}
    for requirement in requirements:
        bound = {part.operator: part.version for part in requirement.specifier}[">="]
        lowest.setdefault(canonicalize_name(requirement.name), set()).add(Version(bound))
    return {name: max(bounds) for name, bounds in sorted(lowest.items())}


if __name__ == "__main__":
    for package, version in lower_bounds(promised(tomllib.loads(PYPROJECT.read_text()))).items():
        print(f"{package}=={version}")
