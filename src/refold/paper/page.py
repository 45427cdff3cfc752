"""index.html: all tables and figures beside the paper's, in one file that needs no other."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from refold.paper import figures
from refold.paper.printed import AVERAGE, Cell, table1
from refold.paper.report import Judged, Report, all_evidence
from refold.paper.tables import CAPTIONS, NUMERALS, TABLE1_HEAD, as_text, best_in, blocks
from refold.paper.verdict import TITLES, Kind

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
    template = _environment().get_template("index.html.j2")
    html = template.render(
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


def _environment() -> Any:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise ImportError(
            "The page is made with jinja2, which is not installed. Install 'refold[paper]'."
        ) from None
    return Environment(
        loader=PackageLoader("refold.paper"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _table(number: int, judged: Sequence[Judged]) -> dict[str, Any]:
    verdicts = {id(entry): verdict for entry, verdict in judged}
    entries = [entry for entry, _ in judged]
    parts = []
    for block in blocks(number, entries):
        rows, reasons = {}, dict[str, list[str]]()
        for task, row in block.rows.items():
            best = best_in(row, lambda entry: entry.ours.cell)
            paper_best = best_in(row, lambda entry: entry.printed)
            cells = []
            for i, entry in enumerate(row):
                verdict = verdicts[id(entry)]
                if verdict.kind == "differs":
                    place = f"{block.columns[i]} {task}"
                    reasons.setdefault(verdict.because, []).append(place)
                cells.append(
                    {
                        "ours": _parts(entry.ours.cell),
                        "printed": as_text(entry.printed),
                        "best": best[i],
                        "paper_best": paper_best[i],
                        "kind": verdict.kind,
                        "symbol": SYMBOLS[verdict.kind],
                        "title": verdict.title,
                    }
                )
            rows[task] = cells
        parts.append(
            {"title": block.title, "columns": block.columns, "rows": rows, "reasons": reasons}
        )
    return {"number": number, "numeral": NUMERALS[number], "parts": parts}


def _parts(cell: Cell) -> tuple[str, str]:
    return f"{cell.mean:.1f}", f"{cell.std:.1f}"


def _figure(number: int, folder: Path) -> dict[str, Any]:
    svg = (folder / f"figure{number}.svg").read_bytes()
    return {
        "number": number,
        "caption": figures.CAPTIONS[number],
        "source": f"data:image/svg+xml;base64,{b64encode(svg).decode()}",
    }
