"""index.html: all tables and figures beside the paper's, in one file that needs no other."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from refold.studies.output import write_page
from refold.studies.paper import figures
from refold.studies.paper.entries import TITLES, Agreement, Entry
from refold.studies.paper.printed import AVERAGE, table1
from refold.studies.paper.reproduction import Reproduction
from refold.studies.paper.tables import (
    CAPTIONS,
    NUMERALS,
    TABLE1_HEAD,
    TablePart,
    best_in,
    parts,
)

# Shapes as well as colours: not everyone sees colours.
SYMBOLS: dict[Agreement, str] = {"equal": "=", "noise": "≈", "differs": "≠"}


def write_index(found: Reproduction, folder: Path) -> None:
    """Write ``index.html`` into the folder where ``figure1.svg``, … are."""
    write_page(
        folder / "index.html",
        "refold.studies.paper",
        counts=[(TITLES[kind], SYMBOLS[kind], kind, found.tally()[kind]) for kind in TITLES],
        table1=list(zip(found.counted, table1(), strict=True)) if found.counted else [],
        table1_head=TABLE1_HEAD,
        tables=[
            {
                "number": number,
                "numeral": NUMERALS[number],
                "parts": [_part(part) for part in parts(number, entries)],
            }
            for number, entries in found.entries.items()
        ],
        figures=[_figure(number, folder) for number in found.selection.figures],
        errata=found.evidence() if found.entries else [],
        captions=CAPTIONS,
        average=AVERAGE,
    )


def _part(part: TablePart) -> dict[str, Any]:
    """Return what the template needs of a part; places that differ are grouped by reason."""
    reasons: dict[str, list[str]] = {}
    for task, row in part.rows.items():
        for name, entry in zip(part.columns, row, strict=True):
            if entry.because:
                reasons.setdefault(entry.because, []).append(f"{name} {task}")
    rows = {task: _row(row) for task, row in part.rows.items()}
    return {"title": part.title, "columns": part.columns, "rows": rows, "reasons": reasons}


def _row(row: Sequence[Entry]) -> list[dict[str, Any]]:
    best = best_in(entry.ours.gmean for entry in row)
    paper_best = best_in(entry.printed for entry in row)
    return [
        {
            "mean": f"{entry.ours.gmean.mean:.1f}",
            "std": f"{entry.ours.gmean.std:.1f}",
            "printed": entry.printed.text(),
            "best": best[i],
            "paper_best": paper_best[i],
            "kind": entry.agreement,
            "symbol": SYMBOLS[entry.agreement],
            "title": entry.title,
        }
        for i, entry in enumerate(row)
    ]


def _figure(number: int, folder: Path) -> dict[str, Any]:
    svg = (folder / f"figure{number}.svg").read_bytes()
    return {
        "number": number,
        "caption": figures.CAPTIONS[number],
        "source": f"data:image/svg+xml;base64,{b64encode(svg).decode()}",
    }
