"""
What would it miss?
===================

A detector that has been quiet for a month has either seen nothing or is blind.
:func:`refold.limits` says which: how far a column must be off, by itself and in its own units,
before a row is rejected.
"""

# %%
# The blind zone of each column
# -----------------------------
# Penguins again. One value of a normal bird is shifted, all others stay. The limit is the shift
# from which on half, or nine tenths, of the birds are rejected.

import matplotlib.pyplot as plt
import numpy as np
from palmerpenguins import load_penguins
from sklearn.model_selection import train_test_split

from refold import CreasedREF, limits
from refold.plot import LimitsDisplay

columns = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
penguins = load_penguins()[columns].dropna()
learned, new = train_test_split(penguins, test_size=0.3, random_state=0)
model = CreasedREF(alpha=0.05).fit(learned)
found = limits(model)
print(found)

# %%
# In the dark zone more than half of the faults pass, in the light one more than a tenth. A scale
# that shows half a kilogram too much will hardly be noticed; one that shows two kilograms too
# much will.

LimitsDisplay(limits=found).plot()

# %%
# Is it true?
# -----------
# The limits come from what the model keeps. Birds that were not learned can tell: shifted by as
# much as the table says, half or nine tenths of them should be rejected.

accepted = new[model.predict(new) == 1]
for name in columns:
    limit = found[name]
    for shift, promise in ((limit.up_50, 50), (limit.up_90, 90)):
        caught = np.mean(model.predict(accepted.assign(**{name: accepted[name] + shift})) == -1)
        print(f"{name:18} + {shift:7.1f}: {promise} % foretold, {caught:.0%} rejected")

# %%
# The price of fewer false alarms
# -------------------------------
# Asking for a lower rate makes the model blinder. What one column costs, in grams:

for alpha in (0.2, 0.1, 0.05, 0.02):
    limit = limits(model.calibrate(alpha=alpha))["body_mass_g"]
    print(f"{alpha:4.0%} false alarms: {limit.up_50:5.0f} g seen in half of the birds, "
          f"{limit.up_90:5.0f} g in nine tenths")  # fmt: skip
plt.show()
