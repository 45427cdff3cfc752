"""Tables that people have: CSV as it comes, Excel, JSON, Parquet and Arrow, packed or not.

What a file is, its content says and not its name. From the disk inwards: `streams` (bytes), `text`
(encodings and lines), `csv_dialect` (what CSV means), `layout` (titles, names, units, totals);
`csv_table` with `csv_arrow`, `json_table`, `excel_table` and `arrow_table` (a format each) on
`table` and `block`; `files` (which format; several as one table), `cells` and `typed` (what cells
hold), `features` (columns as a model of numbers sees them), `training` (the rows to learn from) and
`writing`.
"""

from refold.tabular._block import Block, block_to_arrow, read_arrow
from refold.tabular.errors import InputError
from refold.tabular.features import Column, Features
from refold.tabular.files import Files, Paths, open_table
from refold.tabular.streams import prefetch
from refold.tabular.table_source import TableSource
from refold.tabular.training import RowPlaces, Training, TrainingSelection, read_training
from refold.tabular.writing import WriteOptions, writing

__all__ = [
    "Block",
    "Column",
    "Features",
    "Files",
    "InputError",
    "Paths",
    "RowPlaces",
    "TableSource",
    "Training",
    "TrainingSelection",
    "WriteOptions",
    "block_to_arrow",
    "open_table",
    "prefetch",
    "read_arrow",
    "read_training",
    "writing",
]
