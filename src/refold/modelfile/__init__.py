"""A model as data: one readable JSON file, the same bits when it is loaded again.

The parts, from the disk inwards: `files` (save and load), `document` (the whole), `kinds` (one per
estimator), `parts` (chain, calibration, summary, sketch), `parameters`, `arrays`, `fields` (values
with their paths), `layout` (writing JSON) and `text` (parsing it in bounded memory).
"""

from refold.modelfile.errors import ModelFileError
from refold.modelfile.files import load, save

__all__ = ["ModelFileError", "load", "save"]
