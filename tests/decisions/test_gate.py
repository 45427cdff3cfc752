"""A gate fails by chance as seldom as it says, and says why."""

import numpy as np
import pytest
from scipy import stats

from refold.base.errors import UserError
from refold.decisions.gate import Gate, parse_max_outliers


@pytest.mark.parametrize("rows", [20, 263, 5_000])
def test_tables_of_normal_rows_fail_with_one_percent_at_most(rows):
    outliers = np.arange(rows + 1)
    probability = stats.binom.pmf(outliers, rows, 0.01)
    gate = Gate(chance=True)
    failed = [not gate.check(rows, int(k), 1.0, 0.01)[0].passed for k in outliers]
    assert probability[failed].sum() <= 0.01
    first = failed.index(True)  # one outlier fewer would be too many failures
    assert probability[first - 1 :].sum() > 0.01


def test_each_condition_holds_up_to_its_own_limit():
    gate = Gate(max_outliers=0.03, beyond=10.0)
    passed = [one.passed for one in gate.check(200, 6, 10.0, None)]
    assert passed == [True, True]
    few, far = gate.check(200, 7, 10.5, None)
    assert (few.passed, far.passed) == (False, False)
    assert few.text == "7 of 200 rows (3.5 %) are outliers; at most 3 % may be"
    assert far.text == "the farthest row is 10.5 × the limit; at most 10 × may be"
    assert "more than 1,000 ×" in Gate(beyond=2.0).check(1, 1, np.inf, None)[0].text
    assert [Gate(max_outliers=2).check(9, k, 0.0, None)[0].passed for k in (2, 3)] == [True, False]


def test_without_a_rate_there_is_nothing_that_chance_explains():
    with pytest.raises(UserError, match="fit it with alpha"):
        Gate(chance=True).check(10, 0, 0.0, None)


@pytest.mark.parametrize("text", ["", "3 rows", "-1", "101%", "nan%", "0.5", "%"])
def test_what_is_neither_a_number_of_rows_nor_a_share(text):
    with pytest.raises(UserError, match=r"12 nor a share such as 3%"):
        parse_max_outliers(text)
