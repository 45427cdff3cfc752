"""Files of any format and size: every row judged, batch by batch."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from warnings import warn

from refold._typing import PathLike
from refold.base.needs import needs
from refold.base.progress import counting
from refold.columns.frames import features_of
from refold.judgement import Judge
from refold.judgement.reading import NumberReader, Reader, TableReader
from refold.models.creased import CreasedREF
from refold.models.detector import Detector
from refold.models.ref import REF
from refold.scale._query import QueryTable
from refold.scale.blocks import rows_at_once
from refold.scale.stream import ScoredColumns, judge_of_tables, judged_blocks
from refold.tabular.files import Files, Paths
from refold.tabular.streams import prefetch
from refold.tabular.writing import WriteOptions, format_of, writing

_Source = Files | QueryTable


def score(
    model: REF | CreasedREF | Detector,
    source: Paths,
    out: PathLike | None = None,
    *,
    reasons: int = 3,
    columns: Sequence[str] | None = None,
    prefix: str = "",
    reading: Mapping[str, Any] | None = None,
    progress: bool = True,
) -> Any:
    r"""Judge every row of files; write them with the verdict to one new file, or hand them on.

    Parameters
    ----------
    model : Detector, CreasedREF or REF
        Fitted.
    source : path or sequence of paths
        Files, folders or patterns, as in :func:`learn`.
    out : path, default=None
        The file to write, as its name ends: ``.csv``, ``.xlsx``, ``.parquet``, ``.arrow`` (also
        ``.ipc``, ``.feather``). It appears under its name only when it is complete; until then, and
        after an error, an older file stays there. None writes nothing.
    reasons : int, default=3
        How many reasons to give; without any, shares are not computed, which is faster.
    columns : sequence of str, default=None
        Only for a model that was fitted without names: its columns, in its order.
    prefix : str, default=""
        Stands before the names of the new columns.
    reading : mapping or None, default=None
        How files are read: arguments of `refold.tabular.open_table`, such as ``{"decimal": ","}``
        or ``{"keep": ["none"]}``.
    progress : bool, default=True
        Show a bar with rows per second, if rich is installed and there is a terminal.

    Returns
    -------
    int or pyarrow.RecordBatchReader
        The number of rows written; without `out` the rows themselves, judged as they are asked for:
        ``read_all()`` gives a table. They have all columns of the input in their order, then
        ``distance``, ``label`` (1 normal, -1 not), ``p_value`` if the model is calibrated, and
        ``reason_1`` … with the names of the columns that matter most, null where fewer do. To a
        Detector a row without any value is an outlier; by others it has no verdict: all of these
        are null.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from refold import scale
    >>> folder = Path(tempfile.mkdtemp())
    >>> rows = [f"{'AB'[k % 2]},{75 + k % 7}" for k in range(200)]
    >>> _ = (folder / "normal.csv").write_text("\n".join(["machine,torque", *rows]))
    >>> _ = (folder / "new.csv").write_text("torque,machine\n76,A\n77,Z\n")
    >>> model = scale.learn(folder / "normal.csv")
    >>> scale.score(model, folder / "new.csv", reasons=1).read_all()["label"].to_pylist()
    [1, -1]
    """
    table = Files(source, lambda found: warn(str(found), stacklevel=4), reading)
    fmt = None if out is None else _format(Path(out), table)
    scored = Scored(model, table, reasons, columns, prefix, show=progress)
    if out is None or fmt is None:
        return scored.reader()
    total = 0
    options = WriteOptions(added=scored.added)
    with (
        writing(fmt, Path(out), scored.schema, options) as write,
        closing(scored.batches()) as batches,
    ):
        for batch in batches:
            write(batch)
            total += batch.num_rows
    return total


def _format(out: Path, table: Files) -> str:
    """Return how to write the output; refuse to write over what is read."""
    if out.resolve() in (file.resolve() for file in table.files):
        raise ValueError(f"{out} is one of the files to score; write to another one.")
    return format_of(out)


class Scored:
    """The rows of a table with what a model says of them."""

    def __init__(
        self,
        model: Any,
        table: _Source,
        reasons: int,
        columns: Sequence[str] | None,
        prefix: str,
        *,
        show: bool,
    ) -> None:
        self._table, self._reasons, self._show = table, reasons, show
        self._reader: Reader
        if isinstance(model, Detector):
            judge = judge_of_tables(model, columns)
            table.require(judge.inputs)
            self._reader = TableReader(judge, table)
        else:
            judge = Judge.of(model).called(features_of(model, columns))
            self._reader = NumberReader(judge, table)
            table.require_numbers(list(self._reader.numeric))
        kinds = table.common_kinds(self._reader.numeric)
        self._columns = ScoredColumns(
            judge, kinds, numeric=self._reader.numeric, reasons=reasons, prefix=prefix
        )
        self.schema, self.added = self._columns.schema, self._columns.added

    def reader(self) -> Any:
        """Return the rows, judged as they are asked for."""
        pa = needs("pyarrow", "parquet")
        return pa.RecordBatchReader.from_batches(self.schema, self.batches())

    def batches(self) -> Generator[Any, None, None]:
        """Judge block after block."""
        reader, table = self._reader, self._table
        size = rows_at_once(len(reader.columns))
        blocks = prefetch(reader.blocks(table, None, rows=size))
        with counting("scoring", table.rows, show=self._show) as count:
            for block, found in judged_blocks(reader, blocks, explained=self._reasons > 0):
                yield self._columns.batch(block.columns, found)
                count(block.rows)
