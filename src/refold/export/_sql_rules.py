"""The rules of the user's in SQL: limits, values, directions, rows that are muted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp

from refold.base.errors import UserError
from refold.decisions.rules import ColumnRule, Rules, Specification
from refold.export._exported_columns import Columns, ExportedText
from refold.export._sql_cells import Reader
from refold.export._sql_stages import Expression, Vocabulary, any_of, case_when, real
from refold.models.detector import Detector
from refold.models.detector.scorer import CERTAIN, VIOLATED

Step = Mapping[str, Expression]
# What a cell outside of its limits adds, in units of what a novel one does.
OUTSIDE = VIOLATED / CERTAIN


def check_rules(model: Detector) -> None:
    """Refuse, by its place, what a statement cannot say of rules."""
    rules: Rules = model._learned.rules
    if not rules.calibrates:
        return
    if model.encoder_.context is not None:
        _refuse("rules", "rules together with by=")
    roles = {column.name: column.role for column in model.encoder_.counts.plan.used}
    for rule in rules.columns:
        if rule.tolerance is not None:
            _refuse(rule.name, "a tolerance")
        if rule.mutes:
            _refuse(rule.name, "a column that is muted in some rows")
        for condition, specification in rule.specifications:
            if condition.tests:
                _refuse(rule.name, "a limit that holds in some rows")
            if specification.formats is not None:
                _refuse(rule.name, "a format")
            limited = specification.low is not None or specification.high is not None
            if limited and roles[rule.name] == "date":
                _refuse(rule.name, "a limit of dates")
    if rules.mutes and model.encoder_.counts.plan.plain:
        _refuse("mute", "muting the rows of a table of numbers alone")
    for mute in rules.mutes:
        for name, test in mute.condition.tests:
            if test.allowed is None or roles[name] in ("number", "date"):
                _refuse("mute", f"a condition on {name!r}, which is not text,")


def _refuse(place: str, what: str) -> None:
    raise UserError(
        f"rules: {place}: {what} cannot be written as SQL. Judge rows with refold score or refold "
        "serve, or fit without it."
    )


@dataclass(frozen=True)
class SqlRules:
    """What rules add to the steps of the columns."""

    rules: Rules
    columns: Columns
    cells: list[Expression]
    centers: dict[str, float]  # a usual value of each number

    @classmethod
    def of(cls, model: Detector, columns: Columns, cells: list[Expression]) -> SqlRules:
        """Return those of a model whose rules can be written."""
        centers = model.scorer().centers
        names = [columns.all[k].name for k in columns.numbers.tolist()]
        usual = {} if centers is None else dict(zip(names, centers.tolist(), strict=True))
        return cls(model._learned.rules, columns, cells, usual)

    def _rule(self, k: int) -> ColumnRule | None:
        name = self.columns.all[k].name
        return next((rule for rule in self.rules.columns if rule.name == name), None)

    def _limits(self, k: int) -> list[Specification]:
        rule = self._rule(k)
        return [] if rule is None else [each for _, each in rule.specifications]

    def moved(self, k: int, raw: Expression) -> Expression:
        """Return a number, or a usual one where it lies in the direction that does not count."""
        rule = self._rule(k)
        if rule is None or rule.direction is None:
            return raw
        center = real(self.centers[rule.name])
        other = raw < center if rule.direction == "high" else raw > center
        return case_when([(other, center.copy())], raw.copy())

    def outside(self, k: int, value: Expression, reader: Reader | None = None) -> Expression:
        """Return 1 where a number or text lies outside of its limits, else 0; missing is inside."""
        tests: list[Expression] = []
        for limits in self._limits(k):
            if limits.allowed is not None and reader is not None:
                some = [reader.literal(text) for text in limits.allowed if reader.holds(text)]
                tests.append(exp.not_(reader.one_of(value, some)))
            if limits.low is not None:
                tests.append(value < real(float(limits.low)))
            if limits.high is not None:
                tests.append(value > real(float(limits.high)))
        if not tests:
            return real(0.0)
        return case_when(
            [(value.is_(exp.null()), real(0.0)), (any_of(tests), real(1.0))],
            real(0.0),
        )

    def missing(self, k: int, present: Expression) -> Expression | None:
        """Return 1 where a value is required and there is none; None if it is not."""
        if not any(limits.required for limits in self._limits(k)):
            return None
        return case_when([(present, real(0.0))], real(1.0))

    def muted(self, reader: Reader) -> Expression:
        """Return 1 for rows that are no outliers, else 0."""
        place = {column.name: k for k, column in enumerate(self.columns.all)}
        cases: list[tuple[Expression, Expression]] = []
        for mute in self.rules.mutes:
            tests: list[Expression] = []
            for name, test in mute.condition.tests:
                column, cell = self.columns.all[place[name]], self.cells[place[name]]
                assert isinstance(column, ExportedText)
                assert test.allowed is not None
                text = reader.text(cell)
                text = reader.truth(text) if column.truth else text
                some = [reader.literal(each) for each in test.allowed if reader.holds(each)]
                tests.append(reader.one_of(text, some))
            if mute.until is not None:
                until = exp.cast(exp.Literal.string(mute.until), "date")
                tests.append(exp.LTE(this=exp.CurrentDate(), expression=until))
            cases.append((exp.and_(*tests), real(1.0)))
        return case_when(cases, real(0.0)) if cases else real(0.0)


def carrying_first(
    words: Vocabulary, steps: Iterator[Step], name: str, value: Expression
) -> Iterator[Step]:
    """Let a column that the first step makes pass through the others."""
    for place, step in enumerate(steps):
        yield {**step, name: value if place == 0 else words.column(name, 0)}
