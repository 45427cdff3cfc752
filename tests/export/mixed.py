"""Mixed tables for the tests of exports: real ones, spoiled ones, and what Python says of them."""

import numpy as np
import pandas as pd

from refold import Detector
from refold.export._exported_columns import LEFT_OUT
from refold.models.detector.scorer import pack
from tests.tables import OTHERS, PACKAGED, real_table

BLIND = ("shape", "character")


REAL_TABLES = (*PACKAGED, *OTHERS)


def halves(name, rows=250):
    """Half of a table's normal rows, and others, some of them spoiled."""
    table = pd.read_csv(real_table(name))
    normal = table["row_is"] == "normal" if "row_is" in table else np.ones(len(table), bool)
    table = table.drop(columns="row_is", errors="ignore")
    train = table[normal].iloc[::2]
    rest = pd.concat([table[normal].iloc[1::2], table[~normal]])
    rng = np.random.default_rng(7)
    new = rest.iloc[rng.permutation(len(rest))[:rows]].reset_index(drop=True)
    return train, spoiled(rng, new)


def spoiled(rng, table):
    """The table with a cell changed in half of the rows."""
    table = table.copy()
    for row in range(0, len(table), 2):
        name = table.columns[rng.integers(table.shape[1])]
        if pd.api.types.is_bool_dtype(table[name]):
            continue
        if pd.api.types.is_numeric_dtype(table[name]):
            table[name] = table[name].astype(float)
            table.loc[row, name] *= rng.choice([100.0, -1.0, np.nan, 0.5])
        else:
            table.loc[row, name] = _other(rng, str(table.loc[row, name]))
    return table


def _other(rng, text):
    changed = [text.upper(), text + "x", text[::-1], f" {text}", "Ärger 12", "ZZ-9", "日本 ٣"]
    missing = [None, "n/a", " ? ", "NULL"]
    return rng.choice([*changed, *missing, "2013-02-30", "2013-05-06 03:12:00", "1899-01-01"])


def fitted(train, method="ref", **recipe):
    return Detector(method=method, alpha=0.05, **recipe).fit(train)


def distances(model, table, without=()):
    """What Python says, without some views of new texts."""
    encoder = model.encoder_
    views = [view for each in without for view in LEFT_OUT[each]]
    brought = encoder.read(table, reset=False)
    return model.scorer().distances(pack(encoder.counts.encode(brought, without=views)))


def labels(model, found):
    """Labels of distances; None where there is none."""
    return [None if np.isnan(d) else (1 if d <= model.threshold_ else -1) for d in found]


def open_columns(model):
    """Columns of texts in which a new one is not rejected for being new."""
    counts = model.encoder_.counts
    texts = {k: each for k, each in counts.others.items() if hasattr(each, "characters")}
    return [counts.plan.names[k] for k, each in texts.items() if not each.surprises[0].closed]


def of_new_signs(rng, *, kind):
    """A model by ref whose numbers never cross zero, and rows of which some do."""
    table = pd.DataFrame({"up": rng.gamma(2.0, 9.0, 400), "down": -rng.gamma(2.0, 9.0, 400)})
    table["both"] = rng.normal(size=400)
    if kind:
        table["kind"] = rng.choice(["a", "b"], 400)
    new = table.head(60).copy()
    new.loc[new.index[:20], "up"] *= -0.01
    new.loc[new.index[15:30], "down"] *= -0.01
    new.loc[new.index[30:40], "up"] = 0.0
    new.loc[new.index[40:45], "up"] = np.nan
    return Detector(method="ref").fit(table), new
