"""How usual texts are in their group, shrunk to the groups above it and to all rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from refold._typing import Booleans, Floats, Integers
from refold.base.once import once
from refold.columns.context.design import GroupIndex, learned_apart
from refold.columns.encoding.shapes import shapes_of
from refold.columns.table import Table, TextColumn

# So many labels of a column are told apart, if at least so many rows have them.
MOST_LABELS, _OFTEN = 1_000, 2
N_VIEWS = 3  # values, shapes, collapsed shapes
# How many rows the distribution of the parent may be worth; a group must tell so much (in nats).
_CONCENTRATIONS = 2.0 ** np.arange(-4.0, 21.0)
_LEAST_GAIN = 5.0
# A label that no row of a group has is a contradiction if its parent lets expect so many there; the
# least of these numbers that would make of no larger share of the rows one, had it been left out.
_EXPECTED = (3.0, 10.0, 30.0, 100.0, 300.0)
_MOST_ONCE = 2e-3
_NAMED = 3  # so many other groups are named
# A new row has the label of a row less if more than so many of its group have it, and what groups
# add comes in steps: rows that were learned and new ones have the same few numbers then. Between
# these a model of what was learned would find all new rows.
_FEW, _STEP = 4, 0.5


@dataclass(frozen=True, eq=False)
class LabelCounts:
    """How many rows of each group have each label; pairs that no row has take no memory."""

    labels: tuple[str, ...]  # then come all others, and none
    keys: Integers  # number of the group * width + that of the label, ascending
    counts: Integers

    @classmethod
    def learn(cls, labels: Sequence[str], rows: Integers) -> LabelCounts:
        """Choose labels that so many rows have; nothing is counted yet."""
        often = [(-n, label) for label, n in zip(labels, rows.tolist(), strict=True) if n >= _OFTEN]
        chosen = tuple(label for _, label in sorted(often)[:MOST_LABELS])
        return cls(chosen, np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))

    @property
    def width(self) -> int:
        """How many labels there are, others and none among them."""
        return len(self.labels) + 2

    @once
    def code_of(self) -> dict[str, int]:
        """The number of each label."""
        return {label: code for code, label in enumerate(self.labels)}

    def codes(self, labels: Sequence[str]) -> Integers:
        """Return the number of each label, and last that of none."""
        known, other = self.code_of, len(self.labels)
        return np.array([*(known.get(label, other) for label in labels), other + 1])

    def plus_rows(self, groups: Integers, codes: Integers) -> LabelCounts:
        """Count rows with a group."""
        counted = np.unique(groups * self.width + codes, return_counts=True)
        return self.plus(LabelCounts(self.labels, *counted))

    def plus(self, other: LabelCounts, sign: int = 1) -> LabelCounts:
        """Return the counts of the rows of both; with -1 without those of the other."""
        if self.labels != other.labels:
            raise learned_apart()
        keys = np.concatenate([self.keys, other.keys])
        return self._added_up(keys, np.concatenate([self.counts, sign * other.counts]))

    def numbered(self, places: Integers) -> LabelCounts:
        """Return the same for other numbers of groups, of which several may become one."""
        group, label = np.divmod(self.keys, self.width)
        return self._added_up(places[group] * self.width + label, self.counts)

    def _added_up(self, keys: Integers, counts: Integers) -> LabelCounts:
        different, place = np.unique(keys, return_inverse=True)
        total = np.bincount(place, weights=counts, minlength=len(different)).astype(np.int64)
        return LabelCounts(self.labels, different[total > 0], total[total > 0])

    def of(self, groups: Integers, codes: Integers) -> Integers:
        """Return how many rows of a group have a label."""
        if len(self.keys) == 0:
            return np.zeros(len(groups), dtype=np.int64)
        wanted = groups * self.width + codes
        place = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.where(self.keys[place] == wanted, self.counts[place], 0)

    @once
    def sizes(self) -> Floats:
        """How many rows each group has."""
        return np.bincount(self.keys // self.width, weights=self.counts).astype(np.float64)

    def size_of(self, groups: Integers) -> Floats:
        """Return how many rows groups have."""
        return np.append(self.sizes, 0.0)[np.minimum(groups, len(self.sizes))]

    def most_frequent(self, group: int) -> str | None:
        """Return the label that most rows of a group have; None if none is told apart."""
        part = slice(
            *np.searchsorted(self.keys, [group * self.width, (group + 1) * self.width - 2])
        )
        if part.start == part.stop:
            return None
        return self.labels[int(self.keys[part][self.counts[part].argmax()]) % self.width]

    def groups_with(self, code: int) -> list[int]:
        """Return the groups that have a label, those with most such rows first."""
        some = np.flatnonzero(self.keys % self.width == code)
        order = np.argsort(-self.counts[some], kind="stable")
        return [int(key) // self.width for key in self.keys[some[order]]]


@dataclass(frozen=True, eq=False)
class GroupTree:
    """Groups, and the groups above them: site, line, machine."""

    levels: tuple[GroupIndex, ...]  # the largest first
    paths: tuple[Integers, ...]  # by depth, (G, depth): the number of a group, and of those above

    @classmethod
    def of(cls, groups: GroupIndex) -> GroupTree:
        """Take the groups above some groups."""
        keys, levels, paths = list(groups.keys), [], []
        for depth in range(1, len(groups.columns)):
            above = dict.fromkeys(key[:depth] for key in keys)
            numbers = {key: number for number, key in enumerate(above)}
            levels.append(GroupIndex(groups.columns[:depth], numbers))
        levels.append(groups)
        for depth, level in enumerate(levels, start=1):
            own = [[levels[d].keys[key[: d + 1]] for d in range(depth)] for key in level.keys]
            paths.append(np.array(own, dtype=np.int64).reshape(-1, depth))
        return cls(tuple(levels), tuple(paths))

    @once
    def keys(self) -> list[list[tuple[str, ...]]]:
        """The groups of each depth in the order of their numbers."""
        return [list(level.keys) for level in self.levels]

    def codes(self, table: Table) -> Integers:
        """Return the numbers of the groups of rows, (n, depth); -1 where one is not known."""
        return np.column_stack([level.codes(table) for level in self.levels])


@dataclass(frozen=True, eq=False)
class GroupShares:
    """The share of each label among the rows of a group: hierarchical Dirichlet shrinkage.

    It is (n_gv + κ q_v) / (n_g + κ), q_v being the share in the group above. κ is that of its depth
    by the likelihood of rows left out; it is infinite where groups do not differ.
    """

    leaves: LabelCounts
    tree: GroupTree

    @once
    def depths(self) -> list[LabelCounts]:
        """The counts of groups, the largest first."""
        own = self.tree.paths[-1]
        above = [self.leaves.numbered(own[:, d]) for d in range(own.shape[1] - 1)]
        return [*above, self.leaves]

    @once
    def total(self) -> Floats:
        """How many rows have each label."""
        label, width = self.leaves.keys % self.leaves.width, self.leaves.width
        found = np.bincount(label, weights=self.leaves.counts, minlength=width)
        return found.astype(np.float64)

    @once
    def concentrations(self) -> list[float]:
        """κ of each depth."""
        found: list[float] = []
        for counts, path, codes in self._pairs():
            above = self._below(path, codes, found)[-1]
            have, size = (counts.counts - 1.0) / above, counts.size_of(path[:, -1]) - 1.0
            gains = [
                float(counts.counts @ np.log((have + kappa) / (size + kappa)))
                for kappa in _CONCENTRATIONS
            ]
            best = int(np.argmax(gains))
            found.append(float(_CONCENTRATIONS[best]) if gains[best] > _LEAST_GAIN else np.inf)
        return found

    @once
    def expected(self) -> tuple[list[float], int]:
        """How many rows make it a contradiction that there is none, by depth, and of how many rows.

        These are rows that would be one had they been left out.
        """
        least, once_seen = [], 0
        for depth, (counts, path, codes) in enumerate(self._pairs()):
            above = self._below(path, codes, self.concentrations[:depth])[-1]
            single = (counts.counts == 1) & (codes != len(counts.labels))
            expected = ((counts.size_of(path[:, -1]) - 1.0) * above)[single]
            numbers = [int((expected >= limit).sum()) for limit in _EXPECTED]
            most = max(_MOST_ONCE * float(self.total.sum()), 1.0)
            rare = [k for k, number in enumerate(numbers) if number <= most]
            some = bool(rare) and self.concentrations[depth] < np.inf
            least.append(_EXPECTED[rare[0]] if some else np.inf)
            once_seen += numbers[rare[0]] if some else 0
        return least, once_seen

    def _pairs(self) -> Iterator[tuple[LabelCounts, Integers, Integers]]:
        """Give the pairs of each depth: their counts, groups from the largest on, and labels."""
        for counts, path in zip(self.depths, self.tree.paths, strict=True):
            group, label = np.divmod(counts.keys, counts.width)
            yield counts, path[group], label

    def _below(
        self,
        path: Integers,
        codes: Integers,
        kappas: Sequence[float],
        counted: Booleans | None = None,
    ) -> list[Floats]:
        """Return the share of labels among all rows, and in the groups of a path one by one.

        Each row is left out of all counts. Or `counted` says which rows are among them: shares
        are then such that these and new rows have the same ones.
        """
        counts, less = self.leaves, float(counted is None)
        shares = [(self.total[codes] - less + 0.5) / (self.total.sum() - less + 0.5 * counts.width)]
        for depth, kappa in enumerate(kappas):
            group, above = path[:, depth], shares[-1]
            if kappa < np.inf:
                have = self.depths[depth].of(group, codes)
                others = have - (1 if counted is None else counted | (have > _FEW))
                size = self.depths[depth].size_of(group) - less
                above = np.where(group >= 0, (others + kappa * above) / (size + kappa), above)
            shares.append(above)
        return shares

    def added(self, path: Integers, codes: Integers, counted: Booleans) -> Floats | None:
        """Return what the groups of rows add to how surprising their labels are.

        It is below 0 for what is more usual there than elsewhere, and infinite for a contradiction.
        In an unknown group nothing surprises that was ever seen. Rows that were counted are left
        out. None is returned where groups do not differ.
        """
        kappas, (least, _) = self.concentrations, self.expected
        if min(kappas) == np.inf:
            return None
        counted = counted & (self.leaves.of(path[:, -1], codes) > 0)  # some may be held out
        shares = self._below(path, codes, kappas, counted)
        differ = int(np.flatnonzero(np.array(kappas) < np.inf)[-1])
        steps = np.round(np.log(shares[0] / shares[-1]) / _STEP)
        out = np.where(path[:, differ] < 0, -np.inf, _STEP * steps)
        for depth, limit in enumerate(least):
            group, counts = path[:, depth], self.depths[depth]
            never = (group >= 0) & ~counted & (codes != len(counts.labels))
            never &= counts.size_of(group) * shares[depth] >= limit
            out[never & (counts.of(group, codes) == 0)] = np.inf
        return np.asarray(out)


@dataclass(frozen=True, eq=False)
class GroupTexts:
    """The values and shapes of a column of texts in each group."""

    views: tuple[LabelCounts, ...]  # values, shapes, collapsed shapes
    tree: GroupTree

    @classmethod
    def learn(cls, texts: TextColumn, tree: GroupTree) -> GroupTexts:
        """Choose what is told apart by the rows of a column; nothing is counted yet."""
        found = []
        for labels, codes in _labels(texts):
            rows = np.bincount(codes, weights=texts.counts, minlength=len(labels))
            found.append(LabelCounts.learn(labels, rows))
        return cls(tuple(found), tree)

    @once
    def shares(self) -> list[GroupShares]:
        """What is expected of each view."""
        return [GroupShares(counts, self.tree) for counts in self.views]

    @property
    def matters(self) -> bool:
        """Whether groups differ in a view."""
        return any(min(each.concentrations) < np.inf for each in self.shares)

    @property
    def once_seen(self) -> int:
        """How many rows would be a contradiction had they been left out."""
        return sum(each.expected[1] for each in self.shares)

    def plus_rows(self, texts: TextColumn, groups: Integers) -> GroupTexts:
        """Count rows; those without a group are not."""
        seen = groups >= 0
        pairs = zip(self.views, self.codes(texts), strict=True)
        return replace(
            self, views=tuple(each.plus_rows(groups[seen], codes[seen]) for each, codes in pairs)
        )

    def plus(self, other: GroupTexts, sign: int = 1) -> GroupTexts:
        """Return the counts of the rows of both; with -1 without those of the other."""
        pairs = zip(self.views, other.views, strict=True)
        return replace(self, views=tuple(mine.plus(theirs, sign) for mine, theirs in pairs))

    def mapped(self, places: Integers, tree: GroupTree) -> GroupTexts:
        """Return the same with other numbers of groups."""
        return GroupTexts(tuple(each.numbered(places) for each in self.views), tree)

    def codes(self, texts: TextColumn) -> list[Integers]:
        """Return which label each row has, in each view."""
        found = zip(self.views, _labels(texts), strict=True)
        return [
            np.append(each.codes(labels)[codes], each.width - 1)[texts.codes]
            for each, (labels, codes) in found
        ]

    def apply(self, texts: TextColumn, path: Integers, *, left_out: bool) -> TextColumn:
        """Return a column with what the groups of its rows add to their surprise."""
        counted = (path[:, -1] >= 0) & left_out
        pairs = zip(self.shares, self.codes(texts), strict=True)
        added = [shares.added(path, codes, counted) for shares, codes in pairs]
        if all(each is None for each in added):
            return texts
        nothing = np.zeros(len(texts))
        columns = [nothing if each is None else each for each in added]
        return replace(texts, in_group=np.column_stack(columns))

    def words(self, texts: TextColumn, view: int, path: Integers) -> str:
        """Say how rare the text of one row is in its group; nothing of one that is rare anywhere.

        `view` is 0 for values, else shapes; `path` the numbers of its groups.
        """
        shares, code = self.shares[view], self.codes(texts)[view]
        known = (path >= 0) & (np.array(shares.concentrations) < np.inf)
        if not known.any() or code[0] == shares.leaves.width - 2:
            return ""
        depth = int(np.flatnonzero(known)[-1])
        counts, group = shares.depths[depth], path[depth : depth + 1]
        keys, columns = self.tree.keys[depth], self.tree.levels[depth].columns
        own = zip(columns, keys[int(group[0])], strict=True)
        where = f"for {' '.join(f'{name} {key}' for name, key in own)}"
        if have := int(counts.of(group, code)[0]):
            rows = f"({have:,} of {int(counts.size_of(group)[0]):,} rows)"
            if code[0] == counts.width - 1:
                return f"that is rare {where} {rows}"
            return f"{'has a form that is' if view else 'is'} rare {where} {rows}"
        others = [" ".join(keys[number]) for number in counts.groups_with(int(code[0]))]
        if not others:
            return ""
        more = f" and {len(others) - _NAMED:,} more" if len(others) > _NAMED else ""
        seen = f"(seen for {', '.join(others[:_NAMED])}{more})"
        if code[0] == counts.width - 1:
            return f"it never was {where} {seen}"
        return f"{'has a form that was' if view else 'was'} never seen {where} {seen}"


def _labels(texts: TextColumn) -> Iterator[tuple[Sequence[str], Integers]]:
    """Give the different values and shapes, and which one each text has."""
    yield texts.values, np.arange(len(texts.values))
    for collapsed in (False, True):
        codes, shapes = shapes_of(texts.values, collapsed=collapsed)
        yield shapes, codes
