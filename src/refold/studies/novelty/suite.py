"""Suites of labelled tables, ADBench and OddBench, and how a table is divided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from refold._typing import Booleans, Floats
from refold.studies.download import DataError, PublishedFiles, local_files

MAX_TRAINING = 5_000
MAX_GIVEN = 2_500  # where the task says which rows to learn from
MAX_NORMALS = 5_000
MAX_ANOMALIES = 2_000


@dataclass(frozen=True, eq=False)
class Dataset:
    """A labelled table."""

    name: str  # unique in its suite
    normals: Floats  # the rows of each kind, in file order
    anomalies: Floats
    # Normal rows to learn from, where the suite says which; `normals` are then all to judge by.
    train: Floats | None = None


class DataFiles(Protocol):
    """Where the files of a suite are."""

    @property
    def sha256(self) -> dict[str, str]:
        """Each file's hash by its name."""

    def path(self, name: str) -> Path:
        """Find a file, wherever it is."""

    def local(self, name: str) -> Path | None:
        """Return the copy of a file in ``REFOLD_DATA``; None if there is none."""


@dataclass(frozen=True)
class Suite:
    """Data sets, one file each; another layout of the files needs another `read`."""

    title: str  # what the suite is called
    source: DataFiles  # where the files are
    files: dict[str, str]  # each data set's file by the set's name
    learns_from: str = "half of the normal rows"  # which rows a method learns from, in words
    seeds: int = 5  # how many times each set is divided unless something else is asked for

    def load(self, name: str) -> Dataset:
        """Load a data set, from a local copy or from where it was published.

        Examples
        --------
        >>> from refold.studies.novelty.suite import ADBENCH
        >>> ADBENCH.load("wine").normals.shape  # doctest: +SKIP
        (119, 13)
        """
        if name not in self.files:
            raise ValueError(f"There is no data set {name!r}; there are {', '.join(self.files)}.")
        X, y, train = self.read(self.source.path(self.files[name]))
        finite = np.isfinite(X).all() and (train is None or np.isfinite(train).all())
        if not (np.isin(y, (0, 1)).all() and len(X) == len(y) and finite):
            raise DataError(f"{self.files[name]} should have finite rows, each labelled 0 or 1.")
        return Dataset(name, X[y == 0], X[y == 1], train)

    def read(self, path: Path) -> tuple[Floats, NDArray[Any], Floats | None]:
        """Return a file's rows, for each whether it is normal (0) or an anomaly (1), and others.

        The others are normal rows to learn from; None if those are to be drawn.
        """
        with np.load(path) as file:
            return file["X"].astype(np.float64), file["y"].ravel(), None

    def fetch(self, names: Sequence[str]) -> None:
        """Make sure that data sets can be loaded; if not, DataError names those that are local."""
        local = [name for name in names if self.source.local(self.files[name])]
        try:
            for name in names:
                self.source.path(self.files[name])
        except DataError as error:
            if not local:
                raise
            raise DataError(
                f"{error}\nTo go on with the sets that REFOLD_DATA has: --sets {','.join(local)}"
            ) from error


@dataclass(frozen=True, eq=False)
class Division:
    """What a method learns from and what it is judged by."""

    train: Floats  # normal rows
    test: Floats  # other normal rows, and after them anomalies
    is_anomaly: Booleans  # which of the test rows are anomalies


def divide(dataset: Dataset, seed: int) -> Division:
    """Divide a data set: half of the normals to learn from, the rest and the anomalies to judge."""
    rng = np.random.default_rng([crc32(dataset.name.encode()), seed])
    normals = rng.permutation(len(dataset.normals))
    half = len(normals) // 2 if dataset.train is None else 0
    test_normals = dataset.normals[normals[half:][:MAX_NORMALS]]
    chosen = rng.permutation(len(dataset.anomalies))[:MAX_ANOMALIES]
    if dataset.train is None:
        train = dataset.normals[normals[:half][:MAX_TRAINING]]
    else:
        train = dataset.train[rng.permutation(len(dataset.train))[:MAX_GIVEN]]
    return Division(
        train=train,
        test=np.concatenate([test_normals, dataset.anomalies[chosen]]),
        is_anomaly=np.repeat([False, True], [len(test_normals), len(chosen)]),
    )


# 43 of ADBench's 47: backdoor, census, fraud and speech are left out for their size.
SHA256 = {
    "1_ALOI.npz": "792d0b5bd1147bfc9574a1974f157b39fbd4cbed8ecd04cf983fd554498ed477",
    "2_annthyroid.npz": "e738f7c58a8740d2c4aac4c71ff49ce5e1d1aa16f44178135fc9c09df05fad1b",
    "4_breastw.npz": "4f37ce07dbc25ddad8178fdc6d664ab46d2d0000ee28c2787c3c7ff3c03ef9f6",
    "5_campaign.npz": "74dd4d0072d6c6f1aabab63bc102f9633454f32bb936fa9bcfbd38f9f2386bcd",
    "6_cardio.npz": "bc5009bde6930b4d298b594f31b34485a9a17210cff0e8fb00a8c3068b885a2d",
    "7_Cardiotocography.npz": "5ae84910430f05923e11b6f537243263977c9136949dabd891e3570aeec51e29",
    "8_celeba.npz": "1cadfdea14cd8d240eca715a70c09c88af8621d086a7478c63f602d97adef0b5",
    "10_cover.npz": "945a097c3542ae81a551bf1c06dcad78a755d94f84fcaf1d60687e42d1a656df",
    "11_donors.npz": "5824ec854465f2763b4bfe3da1ae9f25ed5433b5c6e265d42e37da4f82a58679",
    "12_fault.npz": "ec27301f9a4cf7c5d8b22c360cf37ddb043b7fb062465723dfd8b34e2771e5dd",
    "14_glass.npz": "aa7a8db1d475ba01a10488af454bc15220a3d5951b010b03b7020567d8152cdc",
    "15_Hepatitis.npz": "4a87a2f7d8013e5bfde63294fae61ec7a612322de72f338a7f9491749025ad98",
    "16_http.npz": "9d98710091551587f4740cfc851a6b064fff6319a337c2dc77ee6da4bcc2e02c",
    "17_InternetAds.npz": "bdd8ad5cf5bf2cb96cba53dde30d522d0f6a279083a8e2bc7efbac5981b04385",
    "18_Ionosphere.npz": "bca46cb0cfd1bf9ddef6cde5ad2215d54fb0189508d0d4c4eb98e788cad69001",
    "19_landsat.npz": "ba17e2158c07469597b89db49d3982c874c6b713ff6670721ddc88969da77987",
    "20_letter.npz": "f986d3da80cf1fa2aea83a5ebe73b7d4800e0d4c01fdd1ae074b58d20f10d039",
    "21_Lymphography.npz": "dad977b04f4ea65b78ccd0e9f76b45175bad605165b37e63f3cc177845e67037",
    "22_magic.gamma.npz": "0be375984d7af9ea7a63b12206c240840d8b7daa3607021c5fb8756407dd86f1",
    "23_mammography.npz": "a0308ac9712d78321073b1c2dc98dc37665c0f35c1cc33019416fe8f8d7de7ea",
    "24_mnist.npz": "be7706272325fdd3592c1be555ae1a82f916a2f8545f4f8cbaa548ab102cc44c",
    "25_musk.npz": "2ed3f4392197b76a1e59116ff880c7720a4b026cf4842073a53b56fdea265017",
    "26_optdigits.npz": "60de17a375a278ba220a7849727d998aa02b5e2f9fd17732a004bba28de4656e",
    "27_PageBlocks.npz": "10a9b4d5bb5d3b9083caab4c4062f665610eada703c3d927bf7c34b1f2d0d223",
    "28_pendigits.npz": "c4936b89dcdad59d303020e492f763a0f54170080d787c77497609acbb9c2d79",
    "29_Pima.npz": "215454bb263a2f040945c9ea7bd7f06f1e89a61a3143bdb6f196e3887e801a7d",
    "30_satellite.npz": "1f048f5686f1b8c16a227fdfa3c81a62cd9a92715714a6b24c69b1c5ad96b46e",
    "31_satimage-2.npz": "1b056e357f801b8b20c3f380a30224a3c4088d7ed764ec5a24828dc9b1918d6f",
    "32_shuttle.npz": "26900b0f6be45d9ddb7a402c9b2f956ceda42d23a8ca4cf4406b8bc1352823d1",
    "33_skin.npz": "d02aa01ffc1b6bf2b8b1ac250c90e8a8eacd0cefc962940ed5cc4bf5deac9c95",
    "34_smtp.npz": "d2569fc9bc12115419e3f5b37d19921e10e6c26e5ad1e61064cfb0fbc402dfdd",
    "35_SpamBase.npz": "d0c46c7928e43f6496bcd06e09de0b70f6bc8143792dfa0a43f450263d254e9b",
    "37_Stamps.npz": "99fe739447284f613fa54bf2dccdb51c5120175ce6260adec6dad77576c42509",
    "38_thyroid.npz": "8de161b3f235b7647bb0b39a836d983ff61d67bf234edac461da2d71e889cb87",
    "39_vertebral.npz": "0816286f92b96fe6867664a41a031ac7228dcfbf1a5feefe50ca3883b2e9073d",
    "40_vowels.npz": "4bfc4244d1c882773bbbc50d4a5db5e52276e53506e46b2d45e02d074cfcb1b6",
    "41_Waveform.npz": "6c9d867337ad1a2f8372c1d27f4c032f0401237e2041b7c45f00de8d319ff30f",
    "42_WBC.npz": "650f9dcb129248f67a291be0974f533ef259fcbde50fce5c8ad2a1cb2652d03b",
    "43_WDBC.npz": "78d4606a1ab516f5b60b00c196497f3bbd6bd5e4548fd04cf5f2475209b34b85",
    "44_Wilt.npz": "c70b72aa611ec87b20efb400943ef3ce4f8bf7aa58fcef825fbd28cc5cee3cc9",
    "45_wine.npz": "d5ad8965d92cc57122fe1e6572bb301adbaf795b3e166d187ae00a704d8f6e20",
    "46_WPBC.npz": "68a6d67242643855713bcdad07d89ecc472bd00000dccc17ba87916eb2693d19",
    "47_yeast.npz": "bbb15c873d78a4f6a589f46d0f75814595e2282d2ae7ce7779c750f276c3770d",
}

ADBENCH = Suite(
    title="ADBench",
    source=PublishedFiles(
        folder="adbench",
        url="https://raw.githubusercontent.com/Minqi824/ADBench/"
        "3dac8221081e190f157d78e93bfa8867f90d0965/adbench/datasets/Classical",
        sha256=SHA256,
    ),
    files={
        file.partition("_")[2].removesuffix(".npz"): file
        for file in sorted(SHA256, key=lambda file: file.partition("_")[2].lower())
    },
)


class GivenTraining(Suite):
    """A suite of tasks that say which rows to learn from."""

    def read(self, path: Path) -> tuple[Floats, NDArray[Any], Floats | None]:
        """Return the test rows, their labels and the training rows."""
        with np.load(path) as file:
            if missing := {"train", "test", "test_labels"}.difference(file.files):
                raise DataError(f"{path} has no {' and no '.join(sorted(missing))}.")
            labels = file["test_labels"].ravel()
            return file["test"].astype(np.float64), labels, file["train"].astype(np.float64)


def oddbench() -> Suite:
    """Return the tasks in ``REFOLD_DATA``; DataError if there are none."""
    wanted = "the tasks of OddBench, .npz files with train, test and test_labels,"
    source = local_files("oddbench", ".npz", wanted)
    files = {name.removesuffix(".npz"): name for name in source.sha256}
    return GivenTraining("OddBench", source, files, "the training rows of a task", seeds=1)
