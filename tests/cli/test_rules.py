"""Rules on the command line: a file in, verdicts and learned rules out."""

from __future__ import annotations

import json
import tomllib

import pandas as pd
import pytest

import refold as library

RULES = """
mute = ["species = Gentoo until 2999-12-31"]
[body_mass_g]
max = 6000
direction = "high"
[island]
blame = false
"""


@pytest.fixture
def birds(tmp_path):
    from tests.tables import real_table

    table = pd.read_csv(real_table("penguins.csv"))
    table.to_csv(tmp_path / "birds.csv", index=False)
    (tmp_path / "rules.toml").write_text(RULES)
    adelie = table[table["species"] == "Adelie"].head(3).assign(body_mass_g=[9000.0, 10.0, 3800.0])
    gentoo = table[table["species"] == "Gentoo"].head(1).assign(body_mass_g=9000.0)
    pd.concat([adelie, gentoo]).to_csv(tmp_path / "new.csv", index=False)
    return tmp_path


def test_a_file_of_rules_is_learned_with_and_every_command_keeps_to_it(refold, birds):
    done = refold("fit", "birds.csv", "-o", "m.json", "--rules", "rules.toml", cwd=birds)
    assert done.returncode == 0, done.stderr
    assert library.load(birds / "m.json").rules == tomllib.loads(RULES)
    done = refold("score", "m.json", "new.csv", "-o", "out.csv", "--reasons", "2", cwd=birds)
    assert done.returncode == 0, done.stderr
    out = pd.read_csv(birds / "out.csv")
    assert out["label"].tolist() == [-1, 1, 1, 1]
    assert out["p_value"].tolist()[3] == 1.0
    assert "1 row is muted by the rules" in done.stderr
    found = refold("explain", "m.json", "new.csv", "--row", "1", cwd=birds).stdout
    assert "body_mass 9000 g is outside the limit you set, at most 6000 g" in found
    said = json.loads(refold("score", "m.json", "new.csv", "--json", cwd=birds).stdout)
    assert (said["outliers"], said["muted"]) == (1, 1)
    shown = refold("rules", "m.json", cwd=birds).stdout
    assert "body_mass_g: at most 6000" in shown.splitlines()[0]
    assert "{" not in shown  # words, not Python


def test_learned_rules_go_out_and_come_back(refold, birds):
    assert refold("fit", "birds.csv", "-o", "m.json", cwd=birds).returncode == 0
    model = library.load(birds / "m.json")
    assert refold("rules", "m.json", cwd=birds).stdout.strip() == str(model.rules_)
    for name, written in (("r.toml", model.rules_.to_toml()), ("r.json", model.rules_.to_json())):
        done = refold("rules", "m.json", "-o", name, cwd=birds)
        assert done.returncode == 0, done.stderr
        assert (birds / name).read_text() == written
        done = refold("fit", "birds.csv", "-o", "again.json", "--rules", name, cwd=birds)
        assert done.returncode == 0, done.stderr
    sql = refold("rules", "m.json", "--format", "sql", "--table", "birds", cwd=birds).stdout
    assert sql.strip() == model.rules_.to_sql("birds")
    assert refold("rules", "m.json", "-o", "m.json", cwd=birds).returncode == 2


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[body_mas_g]\nmax = 1", "there is no column 'body_mas_g'. Did you mean 'body_mass_g'?"),
        ("[island]\nmax = 1", "island: max is for numbers and dates"),
        ("[island]\n\nmax = ", "line 3"),
    ],
)
def test_bad_rules_are_a_sentence(refold, birds, text, problem):
    (birds / "bad.toml").write_text(text)
    done = refold("fit", "birds.csv", "-o", "bad.json", "--rules", "bad.toml", cwd=birds)
    assert done.returncode == 2
    assert problem in done.stderr
    assert not (birds / "bad.json").exists()
