"""What estimators that learn from tables with gaps have in common."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from refold.base.errors import TableError


class GuardMixin(BaseEstimator):
    """Missing values pass, errors name columns, and a failure changes nothing."""

    @contextmanager
    def _naming_columns(self) -> Iterator[None]:
        """Let errors call columns by the user's names."""
        try:
            yield
        except TableError as error:
            raise error.named(getattr(self, "feature_names_in_", None)) from None

    @contextmanager
    def _restored_on_error(self) -> Iterator[None]:
        before = dict(vars(self))
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
