"""The service keeps to the rules of a model, and says which one mutes a row."""

import pytest
from starlette.testclient import TestClient

import refold
from refold.service import ModelStore, Settings, create

RULES = {
    "body_mass_g": {"max": 6000, "direction": "high"},
    "island": {"blame": False},
    "mute": ["species = Gentoo until 2999-12-31"],
}


@pytest.fixture(scope="module")
def birds(tmp_path_factory):
    from palmerpenguins import load_penguins

    file = tmp_path_factory.mktemp("rules") / "birds.json"
    refold.save(refold.Detector(rules=RULES, n_jobs=1).fit(load_penguins()), file)
    with TestClient(create(ModelStore({"birds": file}), Settings(), lambda line: None)) as client:
        yield client


@pytest.fixture
def rows(penguins):
    clean = penguins.dropna()
    adelie, gentoo = (clean[clean["species"] == kind].iloc[0] for kind in ("Adelie", "Gentoo"))
    usual = {name: getattr(v, "item", lambda v=v: v)() for name, v in adelie.items()}
    quiet = {name: getattr(v, "item", lambda v=v: v)() for name, v in gentoo.items()}
    heavy = {**usual, "body_mass_g": 9000.0}
    return [heavy, {**usual, "body_mass_g": 5.0}, {**quiet, "body_mass_g": 9000.0}]


def test_labels_and_mutes_are_those_of_the_model(birds, rows):
    found = birds.post("/v1/models/birds/score", json=rows).json()["rows"]
    assert [row["label"] for row in found] == [-1, 1, 1]
    assert found[0]["reasons"][0] == "body_mass_g"
    assert "muted" not in found[0]
    assert found[2]["muted"] == "species = Gentoo until 2999-12-31"
    assert (found[2]["distance"], found[2]["p_value"]) == (0.0, 1.0)


def test_full_answers_name_the_limit(birds, rows):
    found = birds.post("/v1/models/birds/score?explain=full", json=rows).json()["rows"]
    assert found[0]["sentence"] == ("body_mass 9000 g is outside the limit you set, at most 6000 g")
    assert found[2]["muted"] == "species = Gentoo until 2999-12-31"
    assert all(r["feature"] != "island" for row in found for r in row["reasons"])
