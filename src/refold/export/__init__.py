"""Models that travel: as an ONNX graph or as one SQL statement."""

from refold.export.sql import to_sql

__all__ = ["to_sql"]
