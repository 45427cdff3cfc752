"""Tables that people have: CSV as it comes, Excel, JSON, Parquet and Arrow, packed or not.

What a file is, its content says and not its name. The parts, from the disk inwards: `streams`
(bytes, unpacked), `text` (encodings and lines), `dialect` (which separator), `heading` (titles,
names and units), `marks` (commas and points), `plain` and `delimited` (text as blocks of rows),
`columnar` (Parquet and Arrow as blocks), `held` (what is held whole: `workbook` and `json_table`,
by `typed` cells), `opening` (which format; the list to add one to), `files` (several as one table),
`cells` (text as numbers), `absent` (further words for missing values), `numeric` (which columns
hold numbers), `features` (columns as what a model of numbers sees), `whole` (all rows as one Arrow
table), `training` (the rows to learn from) and `writing`.
"""

from refold.tabular.ahead import ahead
from refold.tabular.errors import InputError
from refold.tabular.features import Column, Features
from refold.tabular.files import Files, Paths
from refold.tabular.opening import open_table
from refold.tabular.table import Block, TableSource
from refold.tabular.training import RowPlaces, Training, Wanted, read_training
from refold.tabular.whole import block_to_arrow, read_arrow
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
    "Wanted",
    "WriteOptions",
    "ahead",
    "block_to_arrow",
    "open_table",
    "read_arrow",
    "read_training",
    "writing",
]
