"""What a column of a mixed table has to do with a distance, all its features taken together."""

from refold import Detector
from refold.judgement import Judgement
from tests.columns.encoding.test_encoder import parts


def test_a_column_that_alone_makes_a_row_abnormal_has_nearly_all_of_its_distance():
    model = Detector(alpha=0.02).fit(parts(1_000))
    found = Judgement.of(model, parts(30, seed=1).assign(torque=900.0), explained=True)
    torque = found.names.index("torque")
    share = found.attribution().parts[:, torque] / found.distances
    assert (share > 0.9).all()
