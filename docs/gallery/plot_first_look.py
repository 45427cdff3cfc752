"""
A first look
============

Learn from normal rows, judge others, ask why. The table is scikit-learn's of 569 tumours, 30
measurements each; the benign ones are what is normal here.
"""

# %%
# Half of the benign cases are learned. The model is told nothing about malignant ones.
from sklearn.datasets import load_breast_cancer

from refold import Detector

data = load_breast_cancer(as_frame=True)
benign, malignant = data.data[data.target == 1], data.data[data.target == 0]
model = Detector(alpha=0.05).fit(benign[::2])

# %%
# About one in twenty of the other benign cases should be rejected: that is what ``alpha=0.05`` asks
# for. How many malignant ones are is what the measurements have to say about them.
for name, cases in {"benign": benign[1::2], "malignant": malignant}.items():
    print(
        f"{(model.predict(cases) == -1).mean():.0%} of {len(cases)} new {name} cases are rejected"
    )

# %%
# How far out they are. Whatever lies right of the line is rejected.
import pandas as pd

from refold.plot import DistancesDisplay

new = pd.concat([benign[1::2], malignant])
is_normal = [1] * len(benign[1::2]) + [-1] * len(malignant)
display = DistancesDisplay.from_estimator(model, new, is_normal)
_ = display.ax_.set_title("Most malignant cases are beyond the threshold")

# %%
# Why the farthest one is not normal: the columns, what was expected of them, and what was learned.
print(model.explain(malignant, reasons=3).worst(1)[0])
