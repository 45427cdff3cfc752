"""Rows are called by their id column or index label wherever somebody reads of them."""

import json

import numpy as np
import pandas as pd
import pytest

from refold import Detector, explain, load, save
from refold.report import write_report


@pytest.fixture
def parts(rng):
    return pd.DataFrame(
        {
            "part": [f"P{k:04d}" for k in rng.permutation(300)],
            "weight": rng.normal(400, 10, 300).round(1),
            "machine": rng.choice(list("ABC"), 300),
        }
    )


@pytest.fixture
def new(parts):
    return parts.head(20).assign(weight=lambda t: t.weight.where(t.index != 11, 900.0))


class TestInPython:
    def test_a_filtered_frame_keeps_its_labels(self, parts, new):
        model = Detector(roles={"part": "ignore"}).fit(parts)
        (worst,) = explain(model, new[new.index > 8]).worst(1)
        assert (worst.row, worst.name) == (2, 11)
        assert worst.headline().startswith("row 11: ")

    def test_rows_without_an_index_are_counted(self, parts, new):
        model = Detector(roles={"part": "ignore"}).fit(parts)
        (worst,) = explain(model, new).worst(1)
        assert (worst.row, worst.name) == (11, None)
        assert worst.headline().startswith("row 11: ")

    @pytest.mark.parametrize("kind", ["pandas", "records", "file"])
    def test_the_id_column_names_rows_and_is_not_learned(self, kind, parts, new, tmp_path):
        model = Detector(id_column="part").fit(parts)
        if kind == "file":
            save(model, tmp_path / "m.json")
            model = load(tmp_path / "m.json")
        rows = new.to_dict("records") if kind == "records" else new
        (worst,) = explain(model, rows).worst(1)
        assert worst.name == new.part[11]
        assert "part" not in [c.name for c in model.columns_ if c.role != "ignore"]
        np.testing.assert_array_equal(model.predict(new.drop(columns="part")), model.predict(new))

    def test_what_fit_noticed_calls_rows_by_their_label(self, parts):
        odd = parts.drop(columns="part").set_index(parts.part)
        odd.iloc[17, 0] = 9e9
        (found,) = [f for f in Detector().fit(odd).noticed_ if f.kind == "absurd-cell"]
        assert found.rows == (17,)
        assert f"in row {parts.part[17]} " in found.message

    def test_the_report_calls_them_so_too(self, parts, new, tmp_path):
        write_report(Detector(id_column="part").fit(parts), new, tmp_path / "r.html")
        assert new.part[11] in (tmp_path / "r.html").read_text()


class TestOnTheCommandLine:
    @pytest.fixture
    def folder(self, parts, new, refold, tmp_path):
        parts.to_csv(tmp_path / "good.csv", index=False)
        new.to_csv(tmp_path / "new.csv", index=False)
        done = refold("fit", "good.csv", "-o", "m.json", "--id-column", "part", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return tmp_path

    def test_explain_score_and_report_know_the_id_column(self, folder, new, refold):
        name = new.part[11]
        said = refold("explain", "m.json", "new.csv", "--worst", "1", cwd=folder).stdout
        assert f"row 12 ({name}): " in said
        found = json.loads(refold("score", "m.json", "new.csv", "--json", cwd=folder).stdout)
        worst = found["worst"][0]
        assert (worst["row"], worst["name"], worst["verdict"]) == (12, name, "outlier")
        assert worst["reasons"][0]["share"] > 0.5
        refold("report", "m.json", "new.csv", "-o", "r.html", cwd=folder)
        assert name in (folder / "r.html").read_text()

    def test_a_table_without_the_id_column_is_judged_all_the_same(self, folder, new, refold):
        new.drop(columns="part").to_csv(folder / "bare.csv", index=False)
        said = refold("explain", "m.json", "bare.csv", "--worst", "1", cwd=folder)
        assert "row 12: " in said.stdout

    def test_each_outlier_has_a_sentence_and_a_word(self, folder, refold):
        done = refold("score", "m.json", "new.csv", "-o", "s.csv", cwd=folder)
        assert done.returncode == 0, done.stderr
        scored = pd.read_csv(folder / "s.csv")
        assert scored.verdict[11] == "outlier"
        assert scored.because[11].startswith("weight 900")
        assert (scored.verdict == np.where(scored.label == 1, "normal", "outlier")).all()
        assert (scored.because.isna() == (scored.label == 1)).all()

    def test_fit_inspect_and_the_report_count_alike(self, folder, parts, refold):
        odd = parts.copy()
        odd.loc[101, "weight"] = 9e9
        odd.to_csv(folder / "odd.csv", index=False)
        fitted = refold("fit", "odd.csv", "-o", "odd.json", "--ignore", "part", cwd=folder)
        assert "in row 102 " in fitted.stderr
        inspected = refold("inspect", "odd.json", cwd=folder).stdout
        assert "in row 102 " in " ".join(inspected.split())
        assert "3 columns" in fitted.stdout
        assert "3 columns" in inspected
        rate = next(line for line in fitted.stdout.splitlines() if "called outliers" in line)
        assert rate in inspected
        document = json.loads(refold("inspect", "odd.json", "--json", cwd=folder).stdout)
        assert document["parameters"]["roles"] == {"part": "ignore"}
        refold("report", "odd.json", "new.csv", "-o", "r.html", cwd=folder)
        page = (folder / "r.html").read_text()
        assert "in row 102 " in page
        assert "in row 101 " not in page
