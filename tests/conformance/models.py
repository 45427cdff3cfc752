"""Every kind of model, fitted: a new estimator is added to this list, and meets every room."""

from refold import REF, CreasedREF, Detector, plot

MODELS = {
    "REF": lambda: REF(),
    "REF, reference": lambda: REF(engine="reference"),
    "REF, sketch": lambda: REF(engine="sketch"),
    "REF, calibrated path": lambda: REF(alpha=0.05, levels="all", distance="l2"),
    "CreasedREF": lambda: CreasedREF(n_creases=32),
    "Detector, creased": lambda: Detector(method="creased"),
    "Detector, ref": lambda: Detector(method="ref"),
}

# Those that learn rows which somebody has accepted: they meet every room once more, with such.
ACCEPTING = ("REF, sketch", "CreasedREF", "Detector, creased", "Detector, ref")

# The pictures of one model; a comparison is of two.
DISPLAYS = [name for name in plot.__all__ if hasattr(getattr(plot, name), "from_estimator")]

# What a kind of model cannot be asked for; it must say so in words.
REFUSALS = {
    "CreasedREF": {"FoldMapDisplay", "LevelsDisplay", "to_sql"},
    "Detector, creased": {"FoldMapDisplay", "LevelsDisplay", "to_sql"},
}


def refused(model, what):
    """Whether a kind of model cannot be asked for something."""
    kind = type(model).__name__
    method = f", {model.method}" if kind == "Detector" else ""
    return what in REFUSALS.get(kind + method, ())
