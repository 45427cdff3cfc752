"""Tables that people have: CSV as it comes, Parquet and Arrow, compressed or not, file or pipe.

What a file is, its content says and not its name. The parts, from the disk inwards: `streams`
(bytes, unpacked), `text` (encodings and lines), `dialect` (which separator), `delimited` and
`columnar` (the two families of formats, as blocks of rows), `cells` (text as numbers), `features`
(columns as what a model sees) and `training` (the rows to learn from).
"""

from refold.tabular.errors import InputError
from refold.tabular.features import Features
from refold.tabular.opening import open_table
from refold.tabular.table import Block, Table
from refold.tabular.training import Training, Wanted, read_training

__all__ = [
    "Block",
    "Features",
    "InputError",
    "Table",
    "Training",
    "Wanted",
    "open_table",
    "read_training",
]
