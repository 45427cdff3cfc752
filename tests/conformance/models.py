"""Every kind of model, fitted: a new estimator is added to this list, and meets every room."""

from refold import REF, CreasedREF, Detector

MODELS = {
    "REF": lambda: REF(),
    "REF, reference": lambda: REF(engine="reference"),
    "REF, sketch": lambda: REF(engine="sketch"),
    "REF, calibrated path": lambda: REF(alpha=0.05, levels="all", distance="l2"),
    "CreasedREF": lambda: CreasedREF(n_creases=32),
    "Detector, creased": lambda: Detector(method="creased"),
    "Detector, ref": lambda: Detector(method="ref"),
}

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
