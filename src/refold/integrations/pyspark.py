"""PySpark ML: a model file as a stage of a pipeline."""

from __future__ import annotations

from typing import Any

from refold.base.needs import needs
from refold.models.files import load
from refold.scale.spark import score

_ml: Any = needs("pyspark.ml", "spark")
_param: Any = needs("pyspark.ml.param", "spark")
_util: Any = needs("pyspark.ml.util", "spark")


class NormalRowsTransformer(
    _ml.Transformer, _util.DefaultParamsReadable, _util.DefaultParamsWritable
):
    """Add what a model says of each row: the columns of :func:`refold.scale.spark.score`.

    It goes into a ``pyspark.ml.Pipeline``, and is written and read with it; what is written is the
    path of the model file, not the model.

    Parameters
    ----------
    modelFile : str
        A model file, read on the driver when rows are transformed.
    reasons : int, default=3
        How many reasons to give.
    prefix : str, default=""
        Stands before the names of the new columns.

    Examples
    --------
    >>> from pyspark.ml import Pipeline
    >>> from refold.integrations.pyspark import NormalRowsTransformer
    >>> stage = NormalRowsTransformer(modelFile="model.json", reasons=1)  # doctest: +SKIP
    >>> Pipeline(stages=[stage]).fit(df).transform(df).where("label = -1")  # doctest: +SKIP
    """

    modelFile: Any = _param.Param(  # noqa: N815 - as pyspark.ml names its own
        _param.Params._dummy(), "modelFile", "a model file", _param.TypeConverters.toString
    )
    reasons: Any = _param.Param(
        _param.Params._dummy(), "reasons", "how many reasons", _param.TypeConverters.toInt
    )
    prefix: Any = _param.Param(
        _param.Params._dummy(), "prefix", "before added names", _param.TypeConverters.toString
    )

    def __init__(self, *, modelFile: str | None = None, reasons: int = 3, prefix: str = "") -> None:
        super().__init__()
        self._setDefault(reasons=3, prefix="")
        given = {"modelFile": modelFile, "reasons": reasons, "prefix": prefix}
        self._set(**{name: value for name, value in given.items() if value is not None})

    def _transform(self, dataset: Any) -> Any:
        value = self.getOrDefault
        model = load(value(self.modelFile))
        return score(model, dataset, reasons=value(self.reasons), prefix=value(self.prefix))
