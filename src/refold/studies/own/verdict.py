"""What was found, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from refold.studies.own.comparison import ALARMS, OwnComparison
from refold.studies.own.methods import FITTED
from refold.studies.tables.comparison import shown

_NAMED = 4


def verdict(found: OwnComparison) -> Iterator[str]:
    """Yield sentences: which method is best, which are level with it, and what speaks against."""
    best = found.best
    if best is None:
        yield "No method finished."
        return
    yield _first(found, best)
    if len(found.seeds) < 2:
        yield "With one division nothing can be said about chance: take --seeds 5."
    elif level := found.level_with_best():
        behind = found.finished[found.finished.index(best) + 1 :]
        yield f"Within noise of it: {_listed(found, [m for m in level if m in behind] or level)}."
    else:
        yield "No other method is within noise of it."
    yield from _alarms(found, best)
    yield from _fitted(found, best)


def fitted(found: OwnComparison) -> str | None:
    """Return the best of the methods that ``refold fit`` makes; None if none finished.

    One that keeps the rate of false alarms goes first.
    """
    ours = [method for method in found.finished if method in FITTED]
    fair = [method for method in ours if found.has_labels or not found.cries_wolf(method)]
    return next(iter(fair or ours), None)


def _first(found: OwnComparison, best: str) -> str:
    value, over = _value(found, best), _divisions(found)
    if found.has_labels:
        return f"{best} tells anomalies from normal rows best: AUROC {value}{over}."
    alarms = shown(ALARMS, found.mean(ALARMS, best))
    return (
        f"{best} catches most of the faults that were put in: {value} %{over}, and calls {alarms} "
        f"% of the untouched rows outliers ({100 * found.alpha:.3g} % were asked for)."
    )


def _alarms(found: OwnComparison, best: str) -> Iterator[str]:
    """Say which methods catch more, or as much, because they reject more of everything."""
    ahead = found.finished[: found.finished.index(best)]
    loud = [method for method in ahead if found.cries_wolf(method)]
    loud += [best] if found.cries_wolf(best) else []
    if loud:
        said = (f"{method} {shown(ALARMS, found.mean(ALARMS, method))} %" for method in loud)
        yield (
            f"More false alarms than the {100 * found.alpha:.3g} % that were asked for: "
            f"{', '.join(said)}; what they catch is not for the same price."
        )


def _fitted(found: OwnComparison, best: str) -> Iterator[str]:
    ours = fitted(found)
    if best in FITTED or ours is None:
        return
    gap = found.mean(found.main, best) - found.mean(found.main, ours)
    noise = len(found.seeds) > 1 and found.is_level(best, ours)
    yield (
        f"Of what refold fit makes, {ours} is best: {_value(found, ours)}, "
        f"{100 * gap:.1f} behind{', which is within noise' if noise else ''}."
    )


def _divisions(found: OwnComparison) -> str:
    spread = found.deviation(found.main, found.best or "")
    if np.isnan(spread):
        return ""
    return f" (±{shown(found.main, spread)} over {len(found.seeds)} divisions)"


def _listed(found: OwnComparison, methods: Iterable[str]) -> str:
    named = [f"{method} ({_value(found, method)})" for method in methods]
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    return ", ".join(named[:_NAMED]) + more


def _value(found: OwnComparison, method: str) -> str:
    return shown(found.main, found.mean(found.main, method))
