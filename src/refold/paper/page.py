"""index.html: all tables and figures beside the paper's, in one file that needs no other."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from refold.experiments.pages import render
from refold.paper import figures
from refold.paper.entries import Entry
from refold.paper.printed import AVERAGE, Key, table1
from refold.paper.report import Judged, Report, all_evidence
from refold.paper.tables import (
    CAPTIONS,
    NUMERALS,
    TABLE1_HEAD,
    Block,
    as_text,
    best_in,
    blocks,
)
from refold.paper.verdict import TITLES, Kind, Verdict

# Shapes as well as colours: not everyone sees colours.
SYMBOLS: dict[Kind, str] = {"equal": "=", "noise": "≈", "differs": "≠"}


def write_page(report: Report, folder: Path) -> None:
    """Write ``index.html``; figures are taken from the folder.

    Parameters
    ----------
    report : Report
        What was found.
    folder : Path
        Where the page goes and where ``figure1.svg``, … are.
    """
    html = render(
        "refold.paper",
        "paper",
        counts=[(TITLES[kind], SYMBOLS[kind], kind, report.tally()[kind]) for kind in TITLES],
        table1=list(zip(report.counts, table1(), strict=True)) if report.counts else [],
        table1_head=TABLE1_HEAD,
        tables=[_table(number, judged) for number, judged in report.judged.items()],
        figures=[_figure(number, folder) for number in report.request.figures],
        errata=all_evidence(report) if report.judged else [],
        captions=CAPTIONS,
        average=AVERAGE,
    )
    (folder / "index.html").write_text(html, encoding="utf-8")


def _table(number: int, judged: Sequence[Judged]) -> dict[str, Any]:
    verdicts = {entry.key: verdict for entry, verdict in judged}
    parts = [_part(block, verdicts) for block in blocks(number, [entry for entry, _ in judged])]
    return {"number": number, "numeral": NUMERALS[number], "parts": parts}


def _part(block: Block, verdicts: dict[Key, Verdict]) -> dict[str, Any]:
    """Return what the template needs of a block; places that differ are grouped by reason."""
    reasons: dict[str, list[str]] = {}
    for task, row in block.rows.items():
        for name, entry in zip(block.columns, row, strict=True):
            if verdicts[entry.key].kind == "differs":
                reasons.setdefault(verdicts[entry.key].because, []).append(f"{name} {task}")
    rows = {task: _row(row, verdicts) for task, row in block.rows.items()}
    return {"title": block.title, "columns": block.columns, "rows": rows, "reasons": reasons}


def _row(row: Sequence[Entry], verdicts: dict[Key, Verdict]) -> list[dict[str, Any]]:
    best = best_in(row, lambda entry: entry.ours.cell)
    paper_best = best_in(row, lambda entry: entry.printed)
    return [
        {
            "mean": f"{entry.ours.cell.mean:.1f}",
            "std": f"{entry.ours.cell.std:.1f}",
            "printed": as_text(entry.printed),
            "best": best[i],
            "paper_best": paper_best[i],
            "kind": verdicts[entry.key].kind,
            "symbol": SYMBOLS[verdicts[entry.key].kind],
            "title": verdicts[entry.key].title,
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
