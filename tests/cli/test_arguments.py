"""Arguments that cannot be meant are refused in a sentence that says what to do."""

import numpy as np
import pytest

from refold import REF, Detector, check
from refold.base.errors import UserError
from tests.cli.conftest import as_csv


@pytest.fixture
def folder(rng, tmp_path, refold):
    (tmp_path / "good.csv").write_text(as_csv(rng.normal(size=(120, 3))))
    assert refold("fit", "good.csv", "-o", "model.json", cwd=tmp_path).returncode == 0
    return tmp_path


@pytest.mark.parametrize("command", ["score", "explain", "drift"])
def test_model_and_table_swapped(command, refold, folder):
    done = refold(command, "good.csv", "model.json", cwd=folder)
    assert done.returncode == 2
    assert done.stderr.startswith("Error: good.csv is not a refold model. Give the model first")


@pytest.mark.parametrize(
    "arguments",
    [("fit", "model.json", "-o", "x.json"), ("score", "model.json", "model.json")],
)
def test_a_model_is_no_table(arguments, refold, folder):
    done = refold(*arguments, cwd=folder)
    assert (done.returncode, done.stderr) == (
        2,
        "Error: model.json is a model of refold, not a table.\n",
    )
    assert not (folder / "x.json").exists()


@pytest.mark.parametrize("command", [("fit", "good.csv", "-o", "x.json"), ("check", "good.csv")])
@pytest.mark.parametrize("alpha", ["0", "1", "-0.1", "nan", "5"])
def test_a_rate_lies_between_0_and_1(alpha, command, refold, folder):
    done = refold(*command, "--alpha", alpha, cwd=folder)
    assert done.returncode == 2
    assert "A false alarm rate lies between 0 and 1, such as 0.01." in done.stderr


@pytest.mark.parametrize("command", [("fit", "good.csv", "-o", "x.json"), ("check", "good.csv")])
def test_a_csv_has_no_sheets(command, refold, folder):
    done = refold(*command, "--sheet", "2", cwd=folder)
    assert done.returncode == 2
    assert (
        done.stderr
        == "Error: good.csv is CSV, commas and has no sheets; sheet '2' was asked for.\n"
    )


@pytest.mark.parametrize("model", [Detector(), REF()])
@pytest.mark.parametrize("X", [None, iter([[1.0]])])
def test_what_is_no_table_is_named(model, X):
    with pytest.raises(UserError, match=r"X is (None|of the type list_iterator), not a table"):
        model.fit(X)


@pytest.mark.parametrize("model", [Detector(), REF()])
def test_fit_of_a_file_name_says_how_to_read_it(model):
    with pytest.raises(UserError, match=r"X is the text 'parts.csv', not a table.*read_csv"):
        model.fit("parts.csv")


def test_a_dict_of_columns_is_told_apart_from_a_table():
    with pytest.raises(UserError, match=r"X is a dict, not a table.*pandas.DataFrame\(X\)"):
        check({"torque": [1.0, 2.0]})


def test_an_array_with_fewer_columns_is_refused_without_inner_names(rng):
    model = Detector().fit(rng.normal(size=(100, 4)))
    with pytest.raises(ValueError, match="X has 3 features") as caught:
        model.predict(np.zeros((2, 3)))
    assert "TableEncoder" not in str(caught.value)


def test_one_row_is_too_few():
    found = check([{"a": 1.0, "b": "x"}])
    assert "too-few-rows" in found.kinds
    assert "Nothing was noticed" not in str(found)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("score", "model.json", "good.csv", "--reasons", "many"), "'many' is not a whole number."),
        (("score", "model.json", "good.csv", "--reasons", "-1"), "'-1' should be greater than or"),
        (("fit", "good.csv", "-o", "x", "--alpha", "5%"), "'5%' is not a number."),
        (("fit", "good.csv", "-o", "x", "--method", "best"), "'best' is not one of 'auto', "),
        (("fit", "good.csv", "-o", "x", "--trim", "2"), "0 or more and below 0.5, such as 0.05."),
        (("fit", "good.csv", "-o", "x", "--by", "site"), "good.csv: there is no column 'site'."),
        (("fit", "good.csv", "-o", "x", "--over", "day"), "good.csv: there is no column 'day'."),
        (("fit", "one.csv", "-o", "x"), "one.csv: one row is too few to learn from. Add rows."),
        (("fit", "good.csv", "-o", "x", "--skip-rows", "900"), "empty behind the first 900 lines."),
        (("export", "model.json"), "'--to'. Choose from: onnx, sql, dbt."),
    ],
)
def test_what_is_wrong_with_an_option_is_said_in_its_own_words(arguments, said, refold, folder):
    (folder / "one.csv").write_text("a,b\n1,2\n")
    done = refold(*arguments, cwd=folder)
    assert done.returncode == 2
    assert said in done.stderr
    words = ("Input should", "Value error", "Detector", "sample_weight", "\\u0009")
    assert not [word for word in words if word in done.stderr]
