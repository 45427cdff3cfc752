"""Dagster runs the check, and shows what refold score finds."""

import dagster as dg
import pytest

from refold.base.errors import UserError
from refold.integrations.dagster import NormalRowsResource, rows_are_normal

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
]


def materialized(faulty, source, *checks, **resources):
    @dg.asset
    def penguins():
        return source

    @dg.asset(deps=[penguins])
    def after():
        pass

    done = dg.materialize([penguins, after, *checks], resources=resources, raise_on_error=False)
    evaluations = {one.check_name: one for one in done.get_asset_check_evaluations()}
    ran = {event.asset_key.path[0] for event in done.get_asset_materialization_events()}
    return evaluations, ran


def assert_shown(check, faulty):
    """The rows farthest out are those of refold score, with its sentences."""
    assert check.metadata["outliers"].value == len(faulty.outliers)
    shown = [record.data for record in check.metadata["farthest"].records]
    assert sorted(row["row"] for row in shown) == faulty.outliers
    for row in shown:
        assert row["because"] == faulty.scored[row["row"]]["because"]
        assert row["distance"] == pytest.approx(float(faulty.scored[row["row"]]["distance"]))


@pytest.mark.parametrize("by_file", [False, True])
def test_the_check_shows_the_outliers_of_refold_score(faulty, by_file):
    source = str(faulty.new) if by_file else faulty.frame
    check = rows_are_normal("penguins", faulty.model, blocking=True)
    found, ran = materialized(faulty, source, check)
    assert not found["rows_are_normal"].passed
    assert "are outliers" in found["rows_are_normal"].description
    assert_shown(found["rows_are_normal"], faulty)
    assert ran == {"penguins"}


def test_a_table_that_passes_lets_others_go_on(faulty):
    checks = [
        rows_are_normal("penguins", str(faulty.model), max_outliers="10%", gate=False),
        rows_are_normal("penguins", str(faulty.model), name="near", gate=False, beyond=2.0),
    ]
    found, ran = materialized(faulty, faulty.frame, *checks)
    assert found["rows_are_normal"].passed
    assert not found["near"].passed
    assert ran == {"penguins", "after"}


def test_the_resource_checks_within_a_check_of_ones_own(faulty):
    @dg.asset_check(asset="penguins")
    def own(penguins, refold: NormalRowsResource):
        return refold.check(penguins.assign(further=1))

    model = NormalRowsResource(model=str(faulty.model))
    found, _ = materialized(faulty, faulty.frame, own, refold=model)
    assert not found["own"].passed
    assert_shown(found["own"], faulty)


def test_a_check_without_a_condition_is_refused():
    with pytest.raises(UserError, match="no condition"):
        rows_are_normal("penguins", "model.json", gate=False)
