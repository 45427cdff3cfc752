"""What to do about a table, for whoever has a minute: at most a few sentences."""

from __future__ import annotations

from refold.report._contents import Report

_EXAMPLES = 3


def actions_of(report: Report) -> list[str]:
    """Return what to do, the most important first."""
    return [*_about_rows(report), *_about_the_model(report)]


def _about_rows(report: Report) -> list[str]:
    if not report.rejected:
        return ["Nothing to do about these rows: each of them is like those of training."]
    expected, names = report.expected, [row.name for row in report.worst[:_EXAMPLES]]
    rows = f"row {names[0]}" if len(names) == 1 else f"rows {', '.join(names)}"
    said = []
    if expected is not None and report.rejected <= expected.interval[1] and not report.selected:
        said.append(
            "Do not act on the number of outliers: so many come by chance if all rows are normal."
            + (f" If you have time for a look, begin with {rows}." if names else "")
        )
    elif names:
        more = report.rejected - len(names)
        rest = f", then at the {more:,} others" if more > 1 else ", then at the other one"
        said.append(f"Look at {rows} first, the farthest out{rest if more else ''}.")
    leading = max(report.features, key=lambda feature: feature.leads, default=None)
    if leading is not None and report.blamed >= 3 and 2 * leading.leads >= report.blamed:
        said.append(
            f"Ask what happened to {leading.name}: it is a strong reason in {leading.leads:,} of "
            f"the {report.blamed:,} outliers."
        )
    return said


def _about_the_model(report: Report) -> list[str]:
    said = []
    changed = [feature.name for feature in report.features if feature.drift.changed]
    if report.drift.verdict == "changed" and changed:
        some = ", ".join(changed[:_EXAMPLES]) + (", …" if len(changed) > _EXAMPLES else "")
        said.append(
            f"The data has changed since training ({some}). If that is meant to be, let the model "
            "learn from rows of now; until then its rate of false alarms does not hold."
        )
    if report.expected is None:
        said.append("Give the model a rate of false alarms (alpha), to know what chance explains.")
    if report.noticed:
        n = len(report.noticed)
        said.append(
            f"{'One thing was' if n == 1 else f'{n:,} things were'} noticed about the table itself:"
            " look at it before anybody learns from these rows."
        )
    return said
