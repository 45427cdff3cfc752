"""What commands do not import: it would take longer than their work on a small table.

scikit-learn imports all of scipy.stats for one function, and Arrow imports pandas to see whether it
is there. No command that reads tables uses either.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

_ABSENT, _LATER = "pandas", "scipy.stats"


@contextmanager
def light_imports() -> Iterator[None]:
    """Run without pandas, unless it is there already, and load scipy.stats when it is used."""
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _Finder(MetaPathFinder):
    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name == _ABSENT:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        if name != _LATER:
            return None
        spec = PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            spec.loader = _LaterLoader(spec.loader)
        return spec


class _LaterLoader(Loader):
    """Gives a module that is loaded in place when a name of it is first asked for."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Later(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing yet."""

    def load(self, module: ModuleType) -> None:
        module.__spec__.loader = self._loader  # type: ignore[union-attr]
        module.__class__ = ModuleType
        self._loader.exec_module(module)


class _Later(ModuleType):
    def __getattr__(self, name: str) -> object:
        loader = self.__spec__.loader  # type: ignore[union-attr]
        if name.startswith("__") or not isinstance(loader, _LaterLoader):
            raise AttributeError(name)
        loader.load(self)
        return getattr(self, name)
