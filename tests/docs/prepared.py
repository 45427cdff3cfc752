"""What the code blocks of the pages speak of: names in Python, files for the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from palmerpenguins import load_penguins

import refold
from refold import REF, CreasedREF, Detector
from tests.tables import real_table

NUMBERS = ["torque [Nm]", "speed", "heat", "flow"]


def numbers(n, seed):
    """Return parts of a machine: four numbers, the first two of which depend on each other."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, 4))
    rows[:, 1] += 2 * rows[:, 0]
    return pd.DataFrame(rows * [2, 50, 5, 1] + [75, 1500, 300, 10], columns=NUMBERS)


def new_birds():
    """Return three penguins, two of which are mistyped."""
    birds = load_penguins().head(3).copy()
    birds.loc[1, "island"] = "Biscoee"
    birds.loc[2, "body_mass_g"] = 6750
    return birds


def names(page):
    """Return what the Python blocks of a page may speak of."""
    normal, new, penguins = numbers(400, 0), numbers(60, 1), load_penguins()
    new.iloc[17, 0] = 91.2
    general = {
        **{name: getattr(refold, name) for name in ("REF", "CreasedREF", "Detector")},
        "refold": refold,
        "penguins": penguins,
        **dict.fromkeys(("normal", "normal_rows", "X", "X_normal", "rows", "good"), normal),
        **dict.fromkeys(("new", "new_rows", "X_new"), new),
        **dict.fromkeys(("held_out", "other_normal_rows"), numbers(200, 2)),
        "X_val": new,
        "y_val": np.where(np.arange(len(new)) == 17, -1, 1),
        "chunk": normal[:50],
        "chunks": [new[:30], new[30:]],
    }
    return general | PAGE_NAMES.get(page, lambda normal, new: {})(normal, new)


def _adapters(normal, new):
    return {"model": REF(alpha=0.05).fit(normal)}


def _compare(normal, new):
    return {"last_week": load_penguins()}


def _explain(normal, new):
    return {"model": CreasedREF().fit(normal)}


def _export(normal, new):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return {
        "model": Detector(method="ref").fit(normal),
        "make_pipeline": make_pipeline,
        "StandardScaler": StandardScaler,
    }


def _check(normal, new):
    return {"weather": pd.read_csv(real_table("weather-ewr.csv.gz"))}


def _feedback(normal, new):
    return {"model": Detector().fit(normal), "false_alarms": new[17:19], "faults": new[:1] * 2}


def _limits(normal, new):
    units = {"bill_length_mm": "mm", "bill_depth_mm": "mm", "flipper_length_mm": "mm"}
    units["body_mass_g"] = "g"
    penguins = load_penguins().dropna().drop(columns=["species", "island", "sex"])
    named = {name: f"{name.removesuffix('_' + unit)} [{unit}]" for name, unit in units.items()}
    return {"penguins": penguins.rename(columns=named)}


def _modelfile(normal, new):
    import base64
    import hashlib
    import json
    import zlib
    from itertools import pairwise

    import skops.io

    model = REF().fit(normal)
    skops.io.dump(model, "pipeline.skops")
    modules = {"json": json, "hashlib": hashlib, "skops": skops, "base64": base64, "zlib": zlib}
    return {**modules, "np": np, "pairwise": pairwise, "Path": Path, "model": model}


def _report(normal, new):
    return {
        "model": REF(alpha=0.05).fit(normal),
        "serial_numbers": [f"A{row}" for row in range(len(new))],
    }


def _scale(normal, new):
    import duckdb

    con = duckdb.connect()
    con.register("rows", normal)
    con.execute("create table parts as select *, true as passed from rows")
    con.execute("create table today as select * from parts limit 20")
    site = REF(engine="sketch").fit(normal)
    return {
        "con": con,
        "stream": [normal[:200], normal[200:]],
        "recalled": normal[:3],
        "site_a": site,
        "site_b": REF(engine="sketch").fit(new),
    }


def _sketch(normal, new):
    sites = REF(engine="sketch").fit(normal), REF(engine="sketch").fit(new)
    return {"rows": normal[:5], "model_of_site_a": sites[0], "model_of_site_b": sites[1]}


def _suspects(normal, new):
    table = pd.read_csv(real_table("weather-ewr.csv.gz"))
    return {"table": table, "doubtful": new, "known_good": normal}


def _with_new_birds(normal, new):
    return {"new_birds": new_birds()}


PAGE_NAMES = {
    "docs/adapters.md": _adapters,
    "docs/check.md": _check,
    "docs/compare.md": _compare,
    "docs/explain.md": _explain,
    "docs/export.md": _export,
    "docs/feedback.md": _feedback,
    "docs/integrations/great_expectations.md": _with_new_birds,
    "docs/integrations/orchestrators.md": _with_new_birds,
    "docs/integrations/pandera.md": _with_new_birds,
    "docs/limits.md": _limits,
    "docs/modelfile.md": _modelfile,
    "docs/report.md": _report,
    "docs/scale.md": _scale,
    "docs/sketch.md": _sketch,
    "docs/suspects.md": _suspects,
}


def write_files(page, folder):
    """Write the files that a page speaks of."""
    penguins = load_penguins()
    for name in ("penguins", "good-parts", "weather", "my", "last-week"):
        penguins.to_csv(folder / f"{name}.csv", index=False)
    new_birds().to_csv(folder / "new.csv", index=False)
    new_birds().assign(serial=["A1", "A2", "A3"]).to_csv(folder / "today.csv", index=False)
    numbers(400, 0).to_csv(folder / "numbers.csv", index=False)
    if page == "docs/integrations/mcp.md":
        Detector().fit(penguins).save(folder / "model.json")
    if page in ("docs/compare.md", "docs/report.md", "docs/howto/deployment.md"):
        Detector().fit(penguins[::2]).save(folder / "model.json")
        Detector().fit(penguins[1::2]).save(folder / "retrained.json")
    if page == "docs/rules.md":
        (folder / "rules.toml").write_text(
            'mute = ["species = Chinstrap until 2026-12-31"]\n'
            '[body_mass_g]\ndirection = "high"\nmax = 6500\n'
            '[island]\nallowed = ["Biscoe", "Dream", "Torgersen"]\n'
        )
    if page == "docs/alarms.md":
        parts = numbers(400, 0)
        Detector(alpha=0.01).fit(parts).save(folder / "model.json")
        at = pd.date_range("2026-03-04", periods=50, freq="10min")
        new = numbers(50, 1).assign(at=at, machine=["M17", "M18"] * 25)
        new.to_csv(folder / "new.csv", index=False)
    if page == "docs/cli.md":
        orders = pd.DataFrame({"shift": [1, 2] * 50, "remark": [f"no. {i}" for i in range(100)]})
        days = pd.date_range("2026-01-01", periods=100).strftime("%d/%m/%Y")
        orders.assign(day=days, pieces=np.arange(100) % 7).to_excel(
            folder / "orders.xlsx", index=False, engine="xlsxwriter"
        )
    if page == "docs/scale.md":
        (folder / "normal").mkdir()
        frame = numbers(1200, 0)
        frame.to_parquet(folder / "normal" / "2026-01.parquet")
        frame.to_csv(folder / "a.csv.gz", index=False)
        frame.to_excel(folder / "b.xlsx", index=False, engine="xlsxwriter")
        numbers(50, 1).to_csv(folder / "new.csv", index=False)
        numbers(50, 1).to_parquet(folder / "new.parquet")
