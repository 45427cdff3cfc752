"""The methods that are compared: detectors of whole tables, and encodings with a detector behind.

All work on one thread, so that times can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.impute import SimpleImputer

from refold import Detector
from refold._typing import Booleans, Floats
from refold.base.needs import needs
from refold.judgement import Judge, Judgement
from refold.studies.measured import left_out_threshold
from refold.studies.novelty.methods import METHODS as NUMERIC
from refold.studies.tables.suite import Reading

# One-hot: columns of texts with more values than this are left out; where there are many columns,
# fewer values are too many, so that all have not more features than this.
MOST_VALUES, MOST_FEATURES = 100, 2_000


class TableModel(NamedTuple):
    """A method that has learned; rows are given to it as the table has them."""

    score: Callable[[Any], Floats]  # ``score(rows)``: the higher, the less normal
    # ``reject(rows)``, where it could be asked for a rate of false alarms.
    reject: Callable[[Any], Booleans] | None = None
    # ``blame(rows)`` is the column that its first reason names, where it gives reasons.
    blame: Callable[[Any], list[str]] | None = None


@dataclass(frozen=True)
class TableMethod:
    """A method as it takes part in the comparison."""

    name: str  # unique, as the command line knows it
    origin: str  # where it comes from
    # ``learn(rows, seed, alpha)``: learn from normal rows, if possible at a rate of false alarms.
    learn: Callable[[Any, int, float], TableModel]
    settings: str  # what it is run with; changes whenever one of them does
    reading: Reading = "typed"  # how it is given the table
    module: str | None = None  # what has to be installed

    @property
    def is_installed(self) -> bool:
        """Whether it can be run."""
        return self.module is None or find_spec(self.module) is not None

    def describe(self) -> list[str]:
        """Return its settings, and the versions of what it runs on."""
        own = version(self.module) if self.module else ""
        return [version("scikit-learn"), version("pandas"), own, self.settings]

    def rejecting(
        self, trained: TableModel, train: Any, seed: int, alpha: float
    ) -> Callable[[Any], Booleans]:
        """Return what decides about rows at a rate; the threshold is cross-fitted if need be."""
        if trained.reject is not None:
            return trained.reject
        threshold = left_out_threshold(
            len(train),
            alpha,
            seed,
            lambda others, part: self.learn(train.iloc[others], seed, alpha).score(
                train.iloc[part]
            ),
        )
        return lambda rows: trained.score(rows) > threshold


class OneHot:
    """Numbers as they are; of each column of categories a feature for each value and for others.

    Columns without a value and texts with more than a hundred are left out. A missing value is
    missing in all features; a row that has no value in any is the mean of the training rows.
    """

    def __init__(self, train: Any) -> None:
        is_numeric = needs("pandas", "benchmark").api.types.is_numeric_dtype
        there = [name for name in train.columns if train[name].notna().any()]
        self._numeric = [name for name in there if is_numeric(train[name])]
        texts = [name for name in there if name not in self._numeric]
        values = {name: sorted(train[name].dropna().unique()) for name in texts}
        most = max(2, min(MOST_VALUES, MOST_FEATURES // max(1, len(texts)) - 1))
        self._values = {name: v for name, v in values.items() if len(v) <= most}
        self.owners = [
            *self._numeric,
            *(name for name, v in self._values.items() for _ in range(len(v) + 1)),
        ]
        self._means = np.nanmean(self._encoded(train), axis=0)

    def __call__(self, rows: Any) -> Floats:
        """Return rows as numbers."""
        X = self._encoded(rows)
        X[np.isnan(X).all(axis=1)] = self._means
        return X

    def _encoded(self, rows: Any) -> Floats:
        X = np.empty((len(rows), len(self.owners)), order="F")
        X[:, : len(self._numeric)] = rows[self._numeric].to_numpy(dtype=np.float64)
        at = len(self._numeric)
        for name, values in self._values.items():
            column = rows[name]
            for value in values:
                X[:, at] = column == value
                at += 1
            X[:, at] = ~column.isin(values)
            X[column.isna().to_numpy(), at - len(values) : at + 1] = np.nan
            at += 1
        return X


def _from_refold(fitted: Any, encode: Callable[[Any], Any], owners: Sequence[str]) -> TableModel:
    """Return one of refold's own; `owners` are the columns of its features."""

    def blame(rows: Any) -> list[str]:
        found = Judgement.of(fitted, encode(rows), explained=True)
        return [owners[feature] for feature in found.by_blame[:, 0]]

    return TableModel(
        score=lambda rows: -np.asarray(fitted.score_samples(encode(rows))),
        reject=lambda rows: np.asarray(fitted.predict(encode(rows)) == -1),
        blame=blame,
    )


def detector(name: str, method: Literal["creased", "ref"], reading: Reading) -> TableMethod:
    """Return the front door, which takes the table as it is."""

    def learn(train: Any, seed: int, alpha: float) -> TableModel:
        model = Detector(method=method, alpha=alpha, random_state=seed, n_jobs=1).fit(train)
        return _from_refold(model, lambda rows: rows, Judge.of(model).names)

    settings = repr(Detector(method=method).get_params())
    return TableMethod(name, "refold", learn, settings, reading)


def one_hot(name: str, model: str) -> TableMethod:
    """Return one of refold's estimators of numbers behind one-hot; `model` is its name there."""
    method = NUMERIC[model]

    def learn(train: Any, seed: int, alpha: float) -> TableModel:
        assert method.make_at_rate is not None
        encode = OneHot(train)
        fitted = method.make_at_rate(seed, alpha).fit(encode(train))
        return _from_refold(fitted, encode, encode.owners)

    return TableMethod(name, "refold", learn, method.describe(0))


def one_hot_peer(
    name: str, model: str, *, imputes: bool = True, module: str | None = None
) -> TableMethod:
    """Return another's estimator of numbers behind one-hot; what is missing becomes the mean."""
    method = NUMERIC[model]

    def learn(train: Any, seed: int, alpha: float) -> TableModel:
        encode = OneHot(train)
        X = encode(train)
        fill = SimpleImputer(keep_empty_features=True).fit(X).transform if imputes else np.asarray
        trained = method.learn(method.make(seed), fill(X))
        return TableModel(score=lambda rows: trained.score(fill(encode(rows))))

    there = module is None or find_spec(module) is not None
    settings = method.describe(0) if there else "not installed"
    return TableMethod(name, method.origin, learn, settings, module=module)


def _isotree(train: Any, seed: int, alpha: float) -> TableModel:
    """Learn a forest that splits categories as such; of texts and dates every value is one."""
    is_numeric = needs("pandas", "benchmark").api.types.is_numeric_dtype
    texts = [name for name in train.columns if not is_numeric(train[name])]

    def categories(rows: Any) -> Any:
        return rows.astype(dict.fromkeys(texts, "category"))

    # In no extra: where there is no wheel of it, it takes minutes to be compiled.
    forest = import_module("isotree").IsolationForest(nthreads=1, random_seed=seed)
    forest.fit(categories(train))
    return TableModel(score=lambda rows: np.asarray(forest.predict(categories(rows))))


def _skrub(train: Any, seed: int, alpha: float) -> TableModel:
    """Learn nearest neighbours behind skrub's vectorizer; what is missing becomes the mean."""
    impute = SimpleImputer(keep_empty_features=True)
    skrub = needs("skrub", "benchmark")
    encoder = skrub.StringEncoder(random_state=seed)  # the default, but for the seed
    vectorizer = skrub.TableVectorizer(high_cardinality=encoder, n_jobs=1)
    method = NUMERIC["kNN-5"]
    X = impute.fit_transform(vectorizer.fit_transform(train))
    trained = method.learn(method.make(seed), X)
    return TableModel(
        score=lambda rows: trained.score(impute.transform(vectorizer.transform(rows)))
    )


_NUMERIC_PEERS = ("kNN-1", "kNN-5", "DTE-NP", "LOF", "OneClassSVM", "HBOS", "ECOD")
_ALL = (
    detector("detector-creased", "creased", "typed"),
    detector("detector-ref", "ref", "typed"),
    detector("detector-creased-texts", "creased", "texts"),
    detector("detector-ref-texts", "ref", "texts"),
    one_hot("one-hot-CreasedREF", "CreasedREF"),
    one_hot("one-hot-REF", "REF-all"),
    one_hot_peer("one-hot-IsolationForest", "IsolationForest", imputes=False),
    *(one_hot_peer(f"one-hot-{name}", name) for name in _NUMERIC_PEERS),
    TableMethod("isotree", "isotree", _isotree, "its own", module="isotree"),
    TableMethod("skrub-kNN", "skrub, PyOD", _skrub, "its own, kNN-5", module="skrub"),
)

METHODS: dict[str, TableMethod] = {method.name: method for method in _ALL}
