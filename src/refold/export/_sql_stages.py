"""A fold chain as stages of SQL, each a SELECT from the one before.

Nothing in it may overflow or underflow, because PostgreSQL raises on both; what could is bounded
beforehand. There is no NULL inside: a missing value counts as 0, and another column masks it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from sqlglot import exp

from refold.algorithm.chain import FoldChain
from refold.algorithm.kernels import LARGEST
from refold.judgement import LEAST_SHARE

Expression = Any  # the base class has another name from one version of sqlglot to the next
Stage = list[Expression]

# SQLite's parser overflows at 40.
LEVELS_PER_STAGE = 20
# SQLite's functions take 127 arguments; its expressions may be 1000 deep.
_ARGUMENTS = 100
# A little less than the largest float: no database may read it as infinity.
_FINITE = 1.797693134862315e308
# Beyond every saturation of a folded value, and far from overflow when multiplied by a factor.
_FAR = 1e200
# Smaller numbers count as zero: their squares would vanish.
_TINY = 1e-150
# Bounds above this need a clip before the next operation.
_ROOM = 1e290


@dataclass(frozen=True)
class Vocabulary:
    """What differs from one database to another inside a stage."""

    # greatest, least: Functions of several numbers.
    greatest: str
    least: str
    prefix: str  # beginning of the names of columns
    # Makes a number of a column of the table, infinity of what is not one.
    read: Callable[[Expression], Expression]

    def column(self, letter: str, number: int | str = "") -> Expression:
        return exp.column(f"{self.prefix}{letter}{number}")

    def alias(self, expression: Expression, letter: str, number: int | str = "") -> Expression:
        name = f"{self.prefix}{letter}{number}"
        if isinstance(expression, exp.Column) and expression.sql() == name:
            return expression
        return exp.alias_(expression, name, copy=False)

    def at_most(self, expression: Expression, limit: float) -> Expression:
        return call(self.least, expression, real(limit))

    def largest(self, values: Sequence[Expression]) -> Expression:
        if len(values) == 1:
            return values[0]
        groups = [values[k : k + _ARGUMENTS] for k in range(0, len(values), _ARGUMENTS)]
        if len(groups) == 1:
            return call(self.greatest, *values)
        return self.largest([self.largest(group) for group in groups])


@dataclass(frozen=True)
class Constants:
    """One feature's constants: ``v = x * unit - offset``, then levels of (shift, scale).

    `scale` multiplies, or divides with ``divide``.
    """

    unit: float
    offset: float
    shift: list[float]
    scale: list[float]
    divide: bool

    @property
    def levels(self) -> int:
        return len(self.shift)

    def scaled(self, value: Expression, level: int) -> Expression:
        amount = real(self.scale[level])
        return divide(value, amount) if self.divide else exp.Mul(this=value, expression=amount)

    def factor(self, level: int) -> float:
        return 1.0 / self.scale[level] if self.divide else self.scale[level]


def real(value: float) -> Expression:
    """Write a number so that every database reads the same float, and as a float."""
    digits = exp.Literal.number(np.format_float_scientific(abs(value), trim="-", exp_digits=1))
    return exp.Neg(this=digits) if value < 0.0 else digits


def integer(value: int) -> Expression:
    """Write a whole number."""
    return exp.Literal.number(int(value))


def call(function: str, *arguments: Expression) -> Expression:
    """Call a function by name."""
    return exp.Anonymous(this=function, expressions=list(arguments))


def case_when(
    cases: Sequence[tuple[Expression, Expression]], otherwise: Expression | None = None
) -> Expression:
    """Return the value of the first case that holds; sqlglot's builder would copy them all."""
    return exp.Case(ifs=[exp.If(this=test, true=value) for test, value in cases], default=otherwise)


def divide(value: Expression, by: Expression) -> Expression:
    """Divide floats. Typed: no dialect adds a cast; not safe: none adds a test."""
    return exp.Div(this=value, expression=by, typed=True, safe=False)


def constants_of(chain: FoldChain, *, literal: bool) -> list[Constants]:
    """Return the constants of each feature, as the compiled kernel uses them.

    With `literal` they are those of the reference engine, operation by operation: where no gain is
    kept within limits, any other rounding could give another label.
    """
    steps = chain.steps
    scale = steps.factor
    shift = steps.shift
    if literal:
        first = chain.scales[:1] / chain.unit
        scale = np.vstack([first, chain.scales[1:]]).T
        shift = np.vstack([0.0 * first, chain.shifts[1:]]).T
    return [
        Constants(
            unit=float(steps.unit[d]),
            offset=float(steps.offset[d]),
            shift=shift[d, : chain.levels[d]].tolist(),
            scale=scale[d, : chain.levels[d]].tolist(),
            divide=literal,
        )
        for d in range(chain.n_features)
    ]


class Stages:
    """Writes the stages of a model; each method yields some, in order.

    Columns by letter: x as read, o whether observed, v the state of the chain, y a folded value,
    q its square, s a sum over levels, m the magnitude, n how many are observed, e a level's norm,
    d the distance, t the largest magnitude left, k the feature that has it.
    """

    def __init__(
        self, words: Vocabulary, fold: str, numbers: Sequence[Constants], n_iter: int
    ) -> None:
        self.words, self.fold, self.numbers, self.n_iter = words, fold, numbers, n_iter
        self.features = range(len(numbers))
        self.homogeneous = fold == "abs" and not numbers[0].divide
        self.bound = [LARGEST] * len(numbers)

    # ---- rows in ----------------------------------------------------------------------------

    def read(self, columns: Sequence[Expression]) -> Iterator[Stage]:
        """Read the features, tell what is there, and bring it near to the origin."""
        alias, column = self.words.alias, self.words.column
        yield [alias(self.words.read(c), "x", d) for d, c in enumerate(columns)]
        finite = [is_finite(column("x", d)) for d in self.features]
        infinite = any_of([is_infinite(column("x", d)) for d in self.features])
        values = [
            case_when([(finite[d], _entered(column("x", d), self.numbers[d]))], real(0.0))
            for d in self.features
        ]
        masks = [case_when([(test.copy(), real(1.0))], real(0.0)) for test in finite]
        # Python refuses a row with infinity; here it gets no answer.
        refused = case_when([(infinite, exp.null())], real(1.0))
        yield [
            *(alias(value, "v", d) for d, value in enumerate(values)),
            *(alias(mask, "o", d) for d, mask in enumerate(masks)),
            alias(refused, "n"),
        ]
        count = exp.Nullif(this=add(self._all("o")), expression=real(0.0))
        first = [self._first(d) for d in self.features]
        yield [
            *(alias(value, "v", d) for d, value in enumerate(first)),
            *self._all("o"),
            alias(exp.Mul(this=column("n"), expression=count), "n"),
        ]

    def _first(self, d: int) -> Expression:
        """Standardize the first time, or, for abs, keep the feature's own units."""
        v, numbers = self.words.column("v", d), self.numbers[d]
        factor = 1.0 if self.homogeneous else numbers.factor(0)
        y = v if self.homogeneous else numbers.scaled(v, 0)
        cases = [(_between(v.copy(), _TINY / factor), real(0.0))]
        if not self.homogeneous:
            over, under = real(LARGEST / factor), real(-LARGEST / factor)
            cases.append((v.copy() > over, real(LARGEST)))
            cases.append((v.copy() < under, real(-LARGEST)))
        return case_when(cases, y)

    # ---- levels -----------------------------------------------------------------------------

    def last_level(self) -> Iterator[Stage]:
        """Fold to the end; leave the magnitudes."""
        per_stage = LEVELS_PER_STAGE if self.homogeneous else 1
        deepest = max(numbers.levels for numbers in self.numbers)
        for begin in range(1, deepest, per_stage):
            values = []
            for d in self.features:
                value = self.words.column("v", d)
                for level in range(begin, min(begin + per_stage, self.numbers[d].levels)):
                    value = self._step(value, d, level)
                values.append(self.words.alias(value, "v", d))
            yield [*values, *self._all("o"), self.words.column("n")]
        yield self._magnitudes(
            [self._size(d, numbers.levels - 1) for d, numbers in enumerate(self.numbers)]
        )

    def all_levels(self) -> Iterator[Stage]:
        """Fold to the end; leave each feature's mean magnitude over the levels."""
        alias, column = self.words.alias, self.words.column
        deepest = max(numbers.levels for numbers in self.numbers)
        for level in range(deepest):
            values, sums = [], []
            for d, numbers in enumerate(self.numbers):
                s = column("s", d) if level else None
                if level < numbers.levels:
                    size = self._level_size(d, level)
                    s = size if s is None else exp.Add(this=s, expression=size)
                if level + 1 < numbers.levels:
                    values.append(alias(self._step(column("v", d), d, level + 1), "v", d))
                sums.append(alias(s, "s", d))
            yield [*values, *sums, *self._all("o"), column("n")]
        mean = real(1.0 / self.n_iter)
        yield self._magnitudes(
            [
                self.words.at_most(exp.Mul(this=column("s", d), expression=mean.copy()), LARGEST)
                for d in self.features
            ]
        )

    def _level_size(self, d: int, level: int) -> Expression:
        """Return the magnitude at a level; the last one stands for all that were not folded."""
        numbers, kept = self.numbers[d], self.n_iter - level
        if level < numbers.levels - 1 and self.homogeneous:
            # As in the compiled kernel, only the mean saturates.
            return numbers.scaled(exp.Abs(this=self.words.column("v", d)), level)
        size = self._size(d, level)
        if level < numbers.levels - 1 or kept == 1:
            return size
        return exp.Mul(this=size, expression=real(kept))

    def all_norms(self) -> Iterator[Stage]:
        """Fold to the end; leave each feature's share of the norms, and their mean as distance.

        A level's norm needs its values, a share needs the norm: each takes a stage, while the
        chain goes on. So the values of a level are two stages old when they are shared out.
        """
        alias, column = self.words.alias, self.words.column
        for level in range(self.n_iter + 2):
            columns = []
            for d, numbers in enumerate(self.numbers):
                v, y = column("v", d), real(0.0)
                if level < numbers.levels:
                    y = exp.Mul(this=column("o", d), expression=self._size(d, level))
                elif level < self.n_iter:
                    y = column("y", d)
                if level + 1 < numbers.levels:
                    v = self._step(v, d, level + 1)
                q = _square(column("y", d)) if level else real(0.0)
                s = real(0.0)
                if level:
                    share = divide(column("q", d), column("e"))
                    s = exp.Add(this=column("s", d), expression=share)
                terms = zip("vyqs", (v, y, q, s), strict=True)
                columns += [alias(value, letter, d) for letter, value in terms]
            squares = add([_square(y) for y in self._all("y")] if level else [real(0.0)])
            # So small a number is only there for division; see the end of this method.
            norm = exp.Sqrt(this=exp.Add(this=squares, expression=real(_TINY * _TINY)))
            before = exp.Add(this=column("d"), expression=column("e")) if level else real(0.0)
            yield [
                *columns,
                *self._all("o"),
                column("n"),
                alias(norm, "e"),
                alias(before, "d"),
            ]
        mean = divide(column("d"), real(self.n_iter))
        small = real(2.0 * _TINY * (self.n_iter + 2))
        total = case_when([(column("d") <= small, real(0.0))], mean)
        distance = divide(total, column("n"))
        yield [
            *(alias(column("s", d), "m", d) for d in self.features),
            alias(distance, "d"),
        ]

    def _step(self, value: Expression, d: int, level: int) -> Expression:
        """Fold and shift, and unless inner scales cancel, scale."""
        numbers = self.numbers[d]
        shift = numbers.shift[level]
        if self.homogeneous:
            return _minus(exp.Abs(this=value), shift)
        folded, reach = _folded(self.fold, value, self.bound[d])
        factor = numbers.factor(level)
        result = numbers.scaled(_paren(_minus(folded, shift)), level)
        self.bound[d] = (reach + abs(shift)) * factor
        if self.bound[d] > _ROOM:
            cap = LARGEST / factor + shift
            cap = math.sqrt(cap) if self.fold == "sqr" else cap
            self.bound[d] = LARGEST
            return case_when([(exp.Abs(this=value.copy()) > real(cap), real(LARGEST))], result)
        return result

    def _size(self, d: int, level: int) -> Expression:
        """Return the magnitude of a folded value, saturated as in Python."""
        size: Expression = exp.Abs(this=self.words.column("v", d))
        if self.homogeneous:
            return self.words.at_most(self.numbers[d].scaled(size, level), LARGEST)
        return self.words.at_most(size, LARGEST) if self.bound[d] > LARGEST else size

    def _magnitudes(self, sizes: Sequence[Expression]) -> Stage:
        masked = [
            exp.Mul(this=self.words.column("o", d), expression=size) for d, size in enumerate(sizes)
        ]
        return [
            *(self.words.alias(size, "m", d) for d, size in enumerate(masked)),
            self.words.column("n"),
        ]

    # ---- answers out ------------------------------------------------------------------------

    def distance(self, kind: str) -> Iterator[Stage]:
        """Put the magnitudes together."""
        sizes = self._all("m")
        total = add(sizes) if kind == "l1" else exp.Sqrt(this=add([_square(m) for m in sizes]))
        total = _paren(total) if kind == "l1" else total
        distance = divide(total, self.words.column("n"))
        yield [*self._all("m"), self.words.alias(distance, "d")]

    def _all(self, letter: str) -> list[Expression]:
        return [self.words.column(letter, d) for d in self.features]


def find_reasons(
    words: Vocabulary,
    features: int,
    count: int,
    *,
    add_up: bool,
    unblamed: Collection[int] = (),
) -> Iterator[Stage]:
    """Find the features with the largest magnitudes, one after the other; the first of equals.

    One that is found is put below all others. Where magnitudes add up, what has less than a
    hundredth of the whole is no reason.
    """
    alias, column = words.alias, words.column

    def sizes() -> list[Expression]:
        return [column("m", d) for d in range(features)]

    if count:
        whole = _paren(add(sizes())) if add_up else real(0.0)
        blamed = [
            alias(real(0.0), "m", d) if d in unblamed else size for d, size in enumerate(sizes())
        ]
        yield [*blamed, column("d"), alias(whole, "s")]
    found: Stage = [column("d"), column("s")]
    for rank in range(1, count + 1):
        yield [*sizes(), *found, alias(words.largest(sizes()), "t")]
        least = exp.Mul(this=column("s"), expression=real(LEAST_SHARE))
        cases = [(column("t") <= real(0.0), integer(-1))]
        cases.append((exp.LT(this=column("t"), expression=least), integer(-1)))
        cases += [(column("m", d).eq(column("t")), integer(d)) for d in range(features)]
        yield [*sizes(), *found, alias(case_when(cases), "k", rank)]
        found = [*found, column("k", rank)]
        if rank < count:
            left = [
                case_when(
                    [(column("k", rank).eq(integer(d)), real(-1.0))],
                    column("m", d),
                )
                for d in range(features)
            ]
            yield [*(alias(m, "m", d) for d, m in enumerate(left)), *found]


def _entered(x: Expression, numbers: Constants) -> Expression:
    """Return ``x * unit - offset``, with a result that is a number and not lost."""
    far = LARGEST if numbers.divide else _FAR
    unit = numbers.unit
    product: Expression = exp.Mul(this=x, expression=real(unit))
    cases = []
    if far < _FINITE * unit:
        cases.append((x.copy() > real(far / unit), real(far)))
        cases.append((x.copy() < real(-far / unit), real(-far)))
    if unit < 1.0:
        cases.append((_between(x.copy(), 1e-300 / unit), real(0.0)))
    return _minus(case_when(cases, product) if cases else product, numbers.offset)


def _folded(fold: str, y: Expression, bound: float) -> tuple[Expression, float]:
    """Return the folded value and the largest that it can be."""
    size = exp.Abs(this=y.copy())
    if fold == "abs":
        return size, bound
    if fold == "sqr":
        return _square(y), bound * bound
    if fold == "cos-abs":
        cosine = exp.Cos(this=y.copy())
        return case_when([(size <= real(1.0), cosine)], size.copy()), max(bound, 1.0)
    function = {"cos": exp.Cos, "sin": exp.Sin}.get(fold)
    return function(this=y.copy()) if function else call("TANH", y.copy()), 1.0


def is_finite(x: Expression) -> Expression:
    """NaN is above all numbers in some databases and equal to none in others: false in both."""
    limit = real(_FINITE)
    return exp.and_(x.copy() <= limit, exp.Neg(this=x.copy()) <= limit.copy(), copy=False)


def is_infinite(x: Expression) -> Expression:
    """Tell infinity, beyond one limit, from NaN, which is within neither."""
    limit = real(_FINITE)
    up, down = x.copy() <= limit, exp.Neg(this=x.copy()) <= limit.copy()
    return exp.or_(
        exp.and_(up, exp.not_(_paren(down))), exp.and_(exp.not_(_paren(up.copy())), down.copy())
    )


def _between(x: Expression, limit: float) -> Expression:
    return exp.Between(this=x, low=real(-limit), high=real(limit))


def _minus(value: Expression, amount: float) -> Expression:
    if amount == 0.0:
        return value
    operation = exp.Sub if amount > 0.0 else exp.Add
    return operation(this=value, expression=real(abs(amount)))


def _square(value: Expression) -> Expression:
    return exp.Mul(this=value.copy(), expression=value.copy())


def add(terms: Sequence[Expression]) -> Expression:
    """Add up; of very many terms groups, so that no expression gets too deep."""
    if len(terms) > _ARGUMENTS:
        groups = [terms[k : k + _ARGUMENTS] for k in range(0, len(terms), _ARGUMENTS)]
        return add([_paren(add(group)) for group in groups])
    return reduce(lambda total, term: exp.Add(this=total, expression=term), terms)


def any_of(tests: Sequence[Expression]) -> Expression:
    if len(tests) > _ARGUMENTS:
        groups = [tests[k : k + _ARGUMENTS] for k in range(0, len(tests), _ARGUMENTS)]
        return any_of([_paren(any_of(group)) for group in groups])
    return exp.or_(*tests, copy=False)


def _paren(value: Expression) -> Expression:
    return exp.Paren(this=value)
