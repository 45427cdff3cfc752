"""Tables larger than memory: files, Dask and Spark, all by the engine ``"sketch"``.

Each part of a table is sketched where it lies, sketches are added up, and the chain is learned from
their sum: the model is the one that ``REF(engine="sketch").fit`` gives on all rows at once.
"""

from refold.scale import dask, spark
from refold.scale._files import (
    fit_csv,
    fit_ipc,
    fit_parquet,
    score_csv,
    score_ipc,
    score_parquet,
)

__all__ = [
    "dask",
    "fit_csv",
    "fit_ipc",
    "fit_parquet",
    "score_csv",
    "score_ipc",
    "score_parquet",
    "spark",
]
