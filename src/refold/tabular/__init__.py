"""Tables that people have: CSV as it comes, Excel, JSON, Parquet and Arrow, packed or not.

What a file is, its content says and not its name. From the disk inwards: `streams` (bytes), `lines`
(encodings and lines), `csv_dialect` (what CSV means), `layout` (titles, names, units, totals);
`csv_table` with `csv_arrow`, `json_table`, `excel_table` and `arrow_table` (a format each) on
`table_source` and `block`; `files` (which format; several as one table), `cell_text` and `typed`
(what cells hold), `features` (columns as a model of numbers sees them), `training` (the rows to
learn from) and `writing`.
"""

from refold.tabular.block import read_arrow
from refold.tabular.errors import InputError
from refold.tabular.files import open_table
from refold.tabular.table_source import TableSource
from refold.tabular.training import Training, TrainingSelection, read_training

__all__ = [
    "InputError",
    "TableSource",
    "Training",
    "TrainingSelection",
    "open_table",
    "read_arrow",
    "read_training",
]
