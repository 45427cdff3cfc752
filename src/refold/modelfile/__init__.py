"""The format of model files: one readable JSON document, checked field by field.

It knows no estimator: what a model writes stands beside the model, in modules whose names end in
``file``, and :mod:`refold.models.files` has the list of them. The parts, from the disk inwards:
`content` (bytes), `document` (what every model has), `parameters`, `arrays`, `fields` (values with
their paths), `layout` (writing JSON), `text` (parsing it in bounded memory) and `budget`.
"""

from refold.modelfile.errors import ModelFileError

__all__ = ["ModelFileError"]
