"""A learned model in the languages of other systems.

Where skl2onnx is installed, importing this package teaches it REF: a pipeline that ends in one
converts.
"""

from refold.export._skl2onnx import register_if_installed
from refold.export.onnx import to_onnx

__all__ = ["to_onnx"]

register_if_installed()
