"""What a column of a mixed table has to do with a distance, all its features taken together."""

import pandas as pd

from refold import Detector
from refold.judgement import Judgement
from tests.columns.encoding.test_encoder import parts


def test_a_column_that_alone_makes_a_row_abnormal_has_nearly_all_of_its_distance():
    model = Detector(alpha=0.02).fit(parts(1_000))
    found = Judgement.of(model, parts(30, seed=1).assign(torque=900.0), explained=True)
    torque = found.names.index("torque")
    share = found.attribution().parts[:, torque] / found.distances
    assert (share > 0.9).all()


def test_a_rare_category_is_what_a_row_is_an_outlier_for(rng):
    """Its indicators and its surprise say the same: one without the others changes nothing."""
    n, rare = 1_000, 9
    party = rng.choice(["D", "R"], n).astype(object)
    party[:rare] = "I"
    size = rng.normal(50.0, 10.0, n)
    table = pd.DataFrame(
        {
            "party": party,
            "state": rng.choice(list("ABCDEFGH"), n),
            "size": size,
            "age": rng.normal(40.0, 8.0, n),
            "weight": 2.0 * size + rng.normal(0.0, 3.0, n),
        }
    )
    model = Detector(alpha=0.05, method="creased").fit(table)
    new = table[rare : rare + 20]
    assert (model.predict(new) == 1).mean() > 0.8
    found = Judgement.of(model, new.assign(party="I"), explained=True)
    share = found.attribution().parts[:, found.names.index("party")] / found.distances
    assert (share > 0.9).all()
