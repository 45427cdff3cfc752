"""The format of model files: one readable JSON document, checked field by field.

It knows no estimator: what a model writes stands beside the model, in modules whose names end in
``file``, and :mod:`refold.models.files` has the list of them. The parts, from the disk inwards:
`limits` (sizes, memory), `document` (what every model has), `arrays`, `fields` (values with their
paths), `layout` (writing JSON) and `text` (parsing it in bounded memory).
"""

from refold.modelfile.errors import ModelFileError

__all__ = ["ModelFileError"]
