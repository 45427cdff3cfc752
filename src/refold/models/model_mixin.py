"""What every estimator has in common: errors, notices, its card, reasons, its file, merging."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags

from refold._typing import Booleans, Floats
from refold.base.errors import TableError, UserError
from refold.base.findings import Finding, RateWarning, told
from refold.base.learning import learning, snapshot
from refold.base.parameters import validate_parameters
from refold.base.version import VERSION, series
from refold.columns.frames import read_weights
from refold.modelfile import ModelFileError

if TYPE_CHECKING:
    from refold.checks import LearnedRules
    from refold.explanation import Explanations, RowStream


_ASKED_FOR = frozenset({"trimmed"})


class ModelMixin(BaseEstimator):
    """Errors name columns, a failure changes nothing; explains, is saved, loaded and merged."""

    noticed_: tuple[Finding, ...] = ()
    # Whether another model will say what this one inside it has noticed.
    _quiet: bool = False
    # Where scikit-learn's drawings of pipelines link to.
    _doc_link_module = "refold"
    _doc_link_template = "https://github.com/refold/refold/tree/main/docs/{page}.md"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        pages = {"REF": "ref", "CreasedREF": "creased", "Detector": "tables"}
        return {"page": pages.get(type(self).__name__, "architecture")}

    def _notice(self, findings: Iterable[Finding], warned: Collection[str] | None = None) -> None:
        """Keep what was noticed, and warn of it; called by what ``fit`` calls.

        `warned` are the kinds to warn of; None is all but what was asked for.
        """
        self.noticed_ = tuple(findings)
        told_of = [
            each
            for each in self.noticed_
            if (each.kind not in _ASKED_FOR if warned is None else each.kind in warned)
        ]
        for text in () if self._quiet else told(told_of):
            warnings.warn(text, RateWarning, stacklevel=4)

    def _normal_rows(self, y: object, rows: int) -> Booleans | None:
        """Say which rows are learned by labels of 1 and -1; None is all of them, or no labels."""
        if y is None:
            return None
        labels = np.asarray(y).ravel()
        if len(labels) != rows or labels.dtype.kind not in "iuf":
            return None
        normal = np.asarray(labels == 1)
        if normal.all() or not (normal | (labels == -1)).all():
            return None
        if not normal.any():
            raise UserError("All rows have the label -1 in y: there is no normal row to learn.")
        warnings.warn(
            f"{rows - normal.sum():,} of {rows:,} rows have the label -1 in y and are left out: "
            "only normal rows are learned.",
            UserWarning,
            stacklevel=4,
        )
        return normal

    @contextmanager
    def _naming_columns(self) -> Iterator[None]:
        """Let errors call columns by the user's names."""
        try:
            yield
        except TableError as error:
            raise error.named(getattr(self, "feature_names_in_", None)) from None

    def _weights(self, X: Any, y: object, sample_weight: Any) -> Floats | None:
        """Return how often rows count; those of label -1 not at all."""
        weights, normal = read_weights(X.shape[0], sample_weight), self._normal_rows(y, X.shape[0])
        if normal is None:
            return weights
        return np.where(normal, 1.0 if weights is None else weights, 0.0)

    @contextmanager
    def _learning(self) -> Iterator[Self]:
        """Give a copy with checked parameters that becomes the model if it learns without error.

        They are checked always; scikit-learn does not before ``partial_fit`` of a fitted model.
        """
        with learning(self) as model, model._naming_columns():
            validate_parameters(model)
            yield model

    @property
    def _repr_html_(self) -> Callable[[], str]:
        """What a notebook shows: the card of a model that has learned, else its diagram.

        Not there where scikit-learn is told to show estimators as text.
        """
        diagram: Callable[[], str] = super()._repr_html_
        return lambda: self._card() or diagram()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Return the same for notebooks that ask for all forms at once."""
        shown: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in shown and (card := self._card()):
            shown["text/html"] = card
        return shown

    def _card(self) -> str:
        """Return the card; empty if nothing was learned."""
        from refold.cards import card_html  # a room above: this is its front door

        try:
            return card_html(snapshot(self))
        except NotFittedError:
            return ""

    def __dir__(self) -> list[str]:
        """Return the names there are, those too that need more rows than were learned."""
        return [name for name in object.__dir__(self) if self._has(name)]

    def _has(self, name: str) -> bool:
        try:
            return hasattr(self, name)
        except ValueError:  # what a model says that waits for rows
            return True

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "refold_version": VERSION}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Refuse what another version, whose objects are made otherwise, has pickled."""
        learned = dict(state)
        theirs = learned.pop("refold_version", "0.0")
        if series(theirs) != series(VERSION):
            raise ValueError(
                f"This {type(self).__name__} was pickled by refold {theirs}, which version "
                f"{VERSION} cannot read. Load it with that version and write it by refold.save: "
                "such files stay loadable."
            )
        super().__setstate__(learned)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def explain(self, X: Any, *, reasons: int | None = None, nearest: bool = True) -> Explanations:
        """Say of each row whether it is normal, because of which columns, and what would be.

        Parameters
        ----------
        X : dataframe, Arrow table, list of dict or array of shape (n, d)
            Rows; columns are found by name.
        reasons : int or None, default=None
            How many columns to name per row; None is all.
        nearest : bool, default=True
            Whether to look for values with which rejected rows would be accepted.

        Returns
        -------
        Explanations
            See :func:`refold.explain`.

        Examples
        --------
        >>> from refold import Detector
        >>> rows = [{"machine": "AB"[k % 2], "torque": 75 + k % 7} for k in range(200)]
        >>> model = Detector().fit(rows)
        >>> reason = model.explain([{"machine": "Z", "torque": 76}])[0].reasons[0]
        >>> reason.feature, reason.value, reason.words
        ('machine', 'Z', 'was never seen (2 values in 200 rows)')
        """
        from refold.explanation import explain  # a room above: this is its front door

        return explain(self, X, reasons=reasons, nearest=nearest)

    @property
    def rules_(self) -> LearnedRules:
        """What the model takes as normal, as rules to review and edit."""
        from refold.checks import learned_rules  # a room above: this is its front door

        return learned_rules(self)

    def stream(self, *, history: Any = None, reasons: int | None = 3) -> RowStream:
        """Return what judges rows one by one, each with those before it.

        Parameters
        ----------
        history : dataframe, Arrow table, list of dict or None, default=None
            Rows that came before and are not judged: a window looks back at them.
        reasons : int or None, default=3
            How many columns to name for an outlier; None is all.

        Returns
        -------
        RowStream
            ``stream.judge(row)`` answers with label, p-value and reasons. Its memory is bounded.

        Examples
        --------
        >>> from refold import Detector
        >>> model = Detector().fit([{"torque": 75 + k % 7} for k in range(200)])
        >>> stream = model.stream()
        >>> stream.judge({"torque": 76}).label, stream.judge({"torque": 91}).label
        (1, -1)
        """
        from refold.explanation import RowStream  # a room above: this is its front door

        return RowStream(self, history=history, reasons=reasons)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, as :func:`refold.save` does.

        Parameters
        ----------
        path : str or path-like
            Where to write; by convention the name ends in ``.json``.
        """
        # Here, for the list of all that has model files has these classes in it.
        from refold.models import files

        files.save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that :meth:`save` or :func:`refold.save` has written.

        Parameters
        ----------
        path : str or path-like
            The file.

        Returns
        -------
        estimator
            The same model; it goes on learning if it could.

        Raises
        ------
        ModelFileError
            If it is the file of another class, or not as it was written.
        """
        from refold.models import files

        model = files.load(path)
        if not isinstance(model, cls):
            raise ModelFileError(
                f"This is a {type(model).__name__}, no {cls.__name__}: use refold.load",
                where="estimator",
                file=os.fspath(path),
            )
        return model

    def merge(self, *others: Self) -> Self:
        """Return one model as if it had been fitted on the rows of all.

        Parameters
        ----------
        *others : estimators of the same class
            Trained elsewhere; :func:`refold.merge` says how they must be made.

        Returns
        -------
        estimator
            A new model.
        """
        from refold.models.merge import merge

        models: tuple[Any, ...] = (self, *others)
        merged: Self = merge(*models)
        return merged
