"""The normal region of REF and of CreasedREF over two columns of the penguins."""

from matplotlib.figure import Figure
from palmerpenguins import load_penguins

from refold import REF, CreasedREF
from refold.plot import RegionsDisplay

COLUMNS = ["flipper_length_mm", "body_mass_g"]
ODD = (180, 5900)


def draw() -> Figure:
    """Draw both side by side, with one bird that only the second rejects."""
    penguins = load_penguins()[COLUMNS].dropna()
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    for model, ax in zip(
        (REF(alpha=0.01), CreasedREF(alpha=0.01)), figure.subplots(1, 2), strict=True
    ):
        display = RegionsDisplay.from_estimator(
            model.fit(penguins), penguins, resolution=150, ax=ax
        )
        verdict = "normal" if model.predict(penguins.iloc[:1] * 0 + ODD)[0] == 1 else "not normal"
        display.ax_.plot(*ODD, "X", color="black", markersize=9)
        display.ax_.annotate(verdict, ODD, (7, 7), textcoords="offset points")
        display.ax_.set_title(type(model).__name__)
    return figure
