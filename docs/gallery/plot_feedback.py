"""
These rows are normal after all: feedback
=========================================

A model reports rows, somebody looks at them and knows better. ``accept`` tells the model, without
fitting again; whatever was said can be taken back.
"""

# %%
# A kind that nobody knew
# -----------------------
# A model has learned Adelie and Gentoo penguins. Then Chinstrap penguins arrive, whose bills are
# longer than an Adelie's and thinner than a Gentoo's. They are reported, and rightly so.

import matplotlib.pyplot as plt
import numpy as np
from palmerpenguins import load_penguins
from sklearn.model_selection import train_test_split

from refold import CreasedREF

BLUE, ORANGE = "#0072B2", "#D55E00"
columns = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
penguins = load_penguins().dropna()
known = penguins["species"] != "Chinstrap"
learned, kept_back = train_test_split(penguins.loc[known, columns], test_size=0.2, random_state=0)
chinstraps = penguins.loc[~known, columns].sample(frac=1, random_state=0)
first, later = chinstraps[:30], chinstraps[30:]


def rejected(model, rows):
    return np.mean(model.predict(rows) == -1)


model = CreasedREF(alpha=0.05).fit(learned)
print(f"rejected: {rejected(model, kept_back):.0%} of known kinds")
print(f"          {rejected(model, later):.0%} of Chinstraps")

# %%
# Accept
# ------
# An expert says of three of them that they are fine. The log tells what came of it.

model.accept(first[:3], note="Chinstrap penguins live here now")
print(model.feedback_[-1])
print(f"rejected: {rejected(model, kept_back):.0%} of known kinds")
print(f"          {rejected(model, later):.0%} of Chinstraps")

# %%
# Those three are normal now; the kind is still news.
#
# How many words does it take?
# ----------------------------
# More Chinstraps come, three at a time, and those that are reported get accepted. What becomes of
# the later ones, of which nobody has said anything?

model = CreasedREF(alpha=0.05).fit(learned)
accepted, shares = [0], [(rejected(model, later), rejected(model, kept_back))]
for begin in range(0, len(first), 3):
    group = first[begin : begin + 3]
    news = group[model.predict(group) == -1]
    if len(news):
        model.accept(news)
        accepted.append(accepted[-1] + len(news))
        shares.append((rejected(model, later), rejected(model, kept_back)))

figure, ax = plt.subplots(layout="constrained")
new_kind, known_kinds = 100 * np.array(shares).T
ax.plot(accepted, new_kind, "D-", color=ORANGE, label="later Chinstraps")
ax.plot(accepted, known_kinds, "o-", color=BLUE, label="known kinds")
ax.set(xlabel="Chinstraps accepted", ylabel="rejected (%)", ylim=(0, 100))
ax.set_title(f"{accepted[-1]} accepted: from {new_kind[0]:.0f} to {new_kind[-1]:.0f} % rejected")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)

# %%
# A kind is learned bird by bird, and for a kind that is to stay it is better to fit again with
# all of them. Does the model still see faults? Birds of known kinds, a fifth too heavy:

before = CreasedREF(alpha=0.05).fit(learned)
heavy = kept_back.assign(body_mass_g=1.2 * kept_back["body_mass_g"])
print(f"rejected before: {rejected(before, heavy):.0%}, after: {rejected(model, heavy):.0%}")

# %%
# Taken back
# ----------
# ``undo_feedback`` restores the model that never heard of it, to the bit.

while model.feedback_:
    model.undo_feedback()
print("as before:", np.array_equal(model.score_samples(heavy), before.score_samples(heavy)))
plt.show()
