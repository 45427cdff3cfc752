"""Files that the fuzzers were given or have found: none may break a reader again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hardening.targets import read_model, read_table

CORPUS = Path(__file__).with_name("corpus")


def files(kind):
    return sorted((CORPUS / kind).iterdir())


@pytest.mark.parametrize("file", files("model_file"), ids=lambda file: file.name)
def test_model_files(file):
    read_model(file.read_bytes())


@pytest.mark.parametrize("file", files("table"), ids=lambda file: file.name)
def test_tables(file):
    read_table(file.read_bytes())


def test_the_corpus_stays_small():
    assert sum(file.stat().st_size for file in CORPUS.rglob("*")) < 300_000
