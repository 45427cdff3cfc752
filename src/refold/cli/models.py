"""A model file as the commands use it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from refold.base.errors import UserError
from refold.cli.options import BadCells
from refold.cli.startup import light_imports

if TYPE_CHECKING:
    from refold.explanation import Explanation
    from refold.judgement import Judgement
    from refold.judgement.reading import Reader
    from refold.tabular import TableSource


class LoadedModel:
    """The model of a file, its judge, and where it comes from."""

    def __init__(self, file: Path) -> None:
        with light_imports():
            from refold.judgement import Judge
            from refold.modelfile.errors import ModelFileError
            from refold.models.files import load_with_origin

        try:
            self.model, self.origin = load_with_origin(file)
        except ModelFileError:
            if _begins_as_object(file):
                raise
            raise UserError(
                f"{file} is not a refold model. Give the model first, then the table; "
                "refold fit writes a model."
            ) from None
        self.judge = Judge.of(self.model)

    def on(self, table: TableSource, bad_cells: BadCells | None) -> Reader:
        """Find the model's columns in a table."""
        from refold.judgement.reading import reader_of

        if self.judge.encoder is None and bad_cells is BadCells.NOTICE:
            raise typer.BadParameter(
                "This model takes numbers only, so other cells are errors. Models of refold "
                "fit take them.",
                param_hint="--bad-cells",
            )
        return reader_of(self.judge, table, strict=bad_cells is BadCells.ERROR)

    def explain(
        self, rows: list[int], found: Judgement | None, reasons: int | None
    ) -> list[Explanation]:
        """Say why rows are what they are; `rows` are their numbers in the table."""
        from refold.explanation import explain

        if found is None:
            return []
        explained = explain(self.model, found, reasons=reasons)
        return [replace(one, row=row) for one, row in zip(explained, rows, strict=True)]


def _begins_as_object(file: Path) -> bool:
    if not file.is_file():
        return True
    with file.open("rb") as stream:
        return stream.read(64).lstrip().startswith(b"{")
