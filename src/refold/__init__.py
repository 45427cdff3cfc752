"""One-class classification by Repeated Element-wise Folding.

A table of normal rows in; for any new row: normal or not, how far off, because of which columns.

>>> from refold import REF
>>> model = REF().fit([[20.1, 5.0], [19.8, 5.1], [20.3, 4.9], [20.0, 5.2]])
>>> model.predict([[20.2, 5.0], [35.0, 5.0]])
array([ 1, -1])
"""

from importlib.metadata import version as _version

from refold._merge import merge
from refold._ref import REF
from refold._select import select
from refold.creased import CreasedREF
from refold.modelfile import ModelFileError, load, save

__all__ = ["REF", "CreasedREF", "ModelFileError", "load", "merge", "save", "select"]
__version__ = _version("refold")
