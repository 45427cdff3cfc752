"""
A model without Python: ONNX
============================

A fitted model is a few numbers per column. Written as an ONNX graph it runs wherever ONNX Runtime
does, in C++, Java, JavaScript or on a phone, and answers as it does here.
"""

# %%
# Export
# ------
# Benign breast tumours are learned. The graph has one input, the rows, and three outputs.

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
from sklearn.datasets import load_breast_cancer

from refold import REF
from refold.export import to_onnx

BLUE, ORANGE = "#0072B2", "#D55E00"
X, y = load_breast_cancer(return_X_y=True)
model = REF(alpha=0.05).fit(X[y == 1])

graph = to_onnx(model)
print(f"{len(graph.SerializeToString()) / 1000:.0f} kB, {len(graph.graph.node)} nodes")
for place in (*graph.graph.input, *graph.graph.output):
    shape = [d.dim_param or d.dim_value for d in place.type.tensor_type.shape.dim]
    print(f"  {place.name:14}", shape)

# %%
# The same answers
# ----------------
# Labels are Python's. Distances agree to the last digits, and contributions add up to them.

session = onnxruntime.InferenceSession(graph.SerializeToString())
label, distance, contributions = session.run(None, {"X": X})
expected = -model.score_samples(X)
print("labels equal:", np.array_equal(label, model.predict(X)))
print(f"distances differ by at most {np.max(np.abs(distance / expected - 1)):.0e} of themselves")
print("contributions add up:", np.allclose(contributions.sum(axis=1), distance, rtol=1e-12))

# %%
# A graph cannot raise an error. A row that Python would refuse is *not judged*: label 0.

strange = X[:2].copy()
strange[0, 3] = np.nan  # a missing value is no trouble
strange[1, 3] = np.inf  # infinity is
print("labels:", session.run(["label"], {"X": strange})[0])

# %%
# Half the bytes
# --------------
# Small devices compute in float32. Folding amplifies rounding, so distances differ; how much is
# measured during the export and written into the graph.

small = to_onnx(model, dtype="float32")
for entry in small.metadata_props:
    if entry.key.startswith("float32"):
        print(f"{entry.key}: {entry.value}")

runtime = onnxruntime.InferenceSession(small.SerializeToString())
single = runtime.run(["distance"], {"X": X.astype(np.float32)})[0]

figure, ax = plt.subplots(layout="constrained")
for values, name, marker, colour in (
    (single, "float32", "D", ORANGE),
    (distance, "float64", "o", BLUE),
):
    error = np.abs(values / expected - 1)
    ax.plot(expected, np.maximum(error, 1e-17), marker, color=colour, ms=3, alpha=0.6, label=name)
ax.axvline(model.threshold_, color="black", ls="--", lw=1, label="threshold")
ax.set(xscale="log", yscale="log", xlabel="distance in Python", ylabel="relative difference")
ax.set_title("float64 is the same model, float32 nearly")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="center right")

# %%
# Here float32 is off by about a millionth of a distance at most, too little to change a label.
# Columns of few distinct values or a larger ``max_gain`` amplify more: read the metadata.

plt.show()
