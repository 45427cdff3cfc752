"""Tables of any size: files, Dask, Spark and DuckDB, for every model.

Each part of a table is counted where it lies, counts are added up, and the model is learned from
their sum: the same model, however the table is divided.
"""

from refold.scale import dask, duckdb, spark
from refold.scale._learning import learn
from refold.scale._scoring import score

__all__ = ["dask", "duckdb", "learn", "score", "spark"]
