"""ZIP archives with a table in them."""

from __future__ import annotations

import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from refold.tabular import InputError, open_table, read_arrow


def packed(path, **files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def read(path):
    with open_table(path) as table:
        return read_arrow(table).to_pydict()


def test_the_one_file_is_read(tmp_path):
    files = {"data/": "", "data/t.csv": "a;b\n1,5;x\n", "__MACOSX/._t.csv": "no", ".DS_Store": "no"}
    assert read(packed(tmp_path / "t", **files)) == {"a": ["1,5"], "b": ["x"]}


def test_whatever_its_format(tmp_path):
    pq.write_table(pa.table({"a": [1, 2]}), tmp_path / "p")
    assert read(packed(tmp_path / "t", p=(tmp_path / "p").read_bytes())) == {"a": [1, 2]}
    assert read(packed(tmp_path / "t", p='[{"a": 1}]')) == {"a": [1]}


def test_several_files_are_named(tmp_path):
    with pytest.raises(InputError, match=r"several files: 'a.csv', 'b.csv'. Pack one table"):
        read(packed(tmp_path / "t", **{"a.csv": "a\n1\n", "b.csv": "a\n1\n"}))
    with pytest.raises(InputError, match="has no file in it"):
        read(packed(tmp_path / "t", **{"a/": ""}))


def test_damage_is_said(tmp_path):
    content = packed(tmp_path / "t", a="a,b\n" + "1,2\n" * 999).read_bytes()
    (tmp_path / "t").write_bytes(content[:-30])
    with pytest.raises(InputError, match="ZIP archive is damaged"):
        read(tmp_path / "t")
    (tmp_path / "t").write_bytes(content[:45] + b"\xff\xff\xff" + content[48:])
    with pytest.raises(InputError, match="ZIP data is damaged"):
        read(tmp_path / "t")


def test_a_bomb_is_a_line_too_long(tmp_path):
    with pytest.raises(InputError, match="16 million characters"):
        read(packed(tmp_path / "t", a=b"a" * 2**26))


def test_a_file_that_is_locked_is_said_to_be(tmp_path):
    path = packed(tmp_path / "t", **{"a.csv": "a\n1\n"})
    raw = bytearray(path.read_bytes())
    raw[6] |= 1  # the flags of the file, and those in the list of files
    raw[raw.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(raw)
    with pytest.raises(InputError, match="t is locked by a password: unpack it first"):
        read(path)
