"""What every model can be asked for by the same name: reasons, its file, one model of several."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Self

from refold.modelfile import ModelFileError

if TYPE_CHECKING:
    from refold.explanation import Explanations


class ModelMixin:
    """Explains rows, and is saved, loaded and merged."""

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
