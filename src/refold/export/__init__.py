"""A learned model in the languages of other systems: an ONNX graph, one SQL statement, dbt.

Where skl2onnx is installed, importing this package teaches it REF: a pipeline that ends in one
converts.
"""

from refold.export._dbt import to_dbt
from refold.export._onnx import to_onnx
from refold.export._skl2onnx import register_if_installed
from refold.export._sql import to_sql

__all__ = ["to_dbt", "to_onnx", "to_sql"]

register_if_installed()
