"""``refold card``: a model card to share with the model file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from refold.base.files import write_file
from refold.cli import options


def card(
    model: options.ModelFile,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The Markdown file to write.", show_default="the output"),
    ] = None,
) -> None:
    """Describe a model as a model card in Markdown, as Hugging Face shows it.

    What it is, the columns and what is normal of each, what can be relied on and what cannot.
    Values of the training rows are in it, as they are in the model file.

    For example:
      refold card model.json -o README.md
    """
    if out is not None:
        options.check_output(out, [model])
    from refold.cards import card_markdown
    from refold.cli.models import LoadedModel

    text = card_markdown(LoadedModel(model).model, model.name)
    if out is None:
        options.say(text)
        return
    write_file(out, text.encode(errors="backslashreplace"))
