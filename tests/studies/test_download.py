"""Files are taken from a local copy, the cache or the network, and never damaged."""

from __future__ import annotations

from hashlib import sha256

import pytest

from refold.studies.download import DataError, PublishedFiles

CONTENT = b"all of it"
FILES = PublishedFiles("made", "https://example.org/x", {"a.mat": sha256(CONTENT).hexdigest()})


def write(folder, content=CONTENT):
    path = folder / "made" / "a.mat"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    return path


@pytest.mark.usefixtures("offline")
def test_the_local_copy_goes_first(tmp_path, monkeypatch):
    write(tmp_path / "cache")
    path = write(tmp_path / "data")
    monkeypatch.setenv("REFOLD_DATA", str(tmp_path / "data"))
    assert FILES.path("a.mat") == path


@pytest.mark.usefixtures("offline")
def test_the_cache_is_used_without_network(tmp_path, monkeypatch):
    monkeypatch.delenv("REFOLD_DATA", raising=False)
    path = write(tmp_path / "cache")
    assert FILES.path("a.mat") == path


def test_a_damaged_copy_is_refused(tmp_path, monkeypatch):
    write(tmp_path, b"half of it")
    monkeypatch.setenv("REFOLD_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"a\.mat is damaged.*https://example.org/x/a\.mat.*delete"):
        FILES.path("a.mat")


@pytest.mark.usefixtures("offline")
def test_no_copy_in_the_folder_and_no_network(tmp_path, monkeypatch):
    monkeypatch.setenv("REFOLD_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"(?s)Connect to the internet.*has no made/a\.mat"):
        FILES.path("a.mat")


@pytest.mark.usefixtures("offline")
def test_no_folder_and_no_network(monkeypatch):
    monkeypatch.delenv("REFOLD_DATA", raising=False)
    with pytest.raises(DataError, match=r"(?s)a\.mat could not.*put a copy.*REFOLD_DATA is not se"):
        FILES.path("a.mat")
