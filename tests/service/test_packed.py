"""Bodies that are larger when unpacked: gzip, Parquet, Arrow with compression."""

import contextlib
import gzip
import io
import json
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from refold.service.bodies import _footer, check_parquet, gunzip
from refold.service.errors import RequestError

ROWS = [{"x0": 0.1, "x1": 0.2, "x2": 0.3}, {"x0": 9.0, "x1": 0.2, "x2": None}]
AT = "/v1/models/ref/score"
KIND = {
    "parquet": "application/vnd.apache.parquet",
    "stream": "application/vnd.apache.arrow.stream",
    "file": "application/vnd.apache.arrow.file",
}


def send(client, body, kind, **headers):
    return client.post(AT, content=body, headers={"content-type": kind, **headers})


def parquet(table, **options):
    out = io.BytesIO()
    pq.write_table(table, out, **options)
    return out.getvalue()


def arrow(table, kind, compression=None):
    out = io.BytesIO()
    new = pa.ipc.new_stream if kind == "stream" else pa.ipc.new_file
    with new(out, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table)
    return out.getvalue()


def numbers(rows, **more):
    return pa.table({name: np.zeros(rows) for name in ("x0", "x1", "x2")} | more)


@pytest.mark.parametrize("encoding", ["gzip", "GZIP", "x-gzip"])
def test_gzip_is_unpacked(client, encoding):
    body = json.dumps(ROWS).encode()
    plain = send(client, body, "application/json").json()
    half = len(body) // 2
    members = gzip.compress(body[:half]) + gzip.compress(body[half:])
    for packed in (gzip.compress(body), members):
        answer = send(client, packed, "application/json", **{"content-encoding": encoding})
        assert answer.json() == plain
    lines = gzip.compress(b"x0,x1,x2\n0.1,0.2,0.3\n9.0,0.2,\n")
    assert send(client, lines, "text/csv", **{"content-encoding": encoding}).json() == plain


@pytest.mark.parametrize(
    "body", [b"", b"[]", gzip.compress(b"[]", mtime=0)[:-3], gzip.compress(b"[]", mtime=0) + b"x"]
)
def test_what_is_no_gzip_is_a_sentence(client, body):
    answer = send(client, body, "application/json", **{"content-encoding": "gzip"})
    assert answer.status_code == 400
    assert answer.json()["error"].endswith(".")


def test_a_gzip_of_many_members_is_unpacked_piece_by_piece():
    """Like those of bgzip; what follows a member is not copied with each of them."""
    parts = [b"%d\n" % k * 9000 for k in range(300)]
    packed = [gzip.compress(part) for part in parts]
    for body in (b"".join(packed), b"".join(packed) + gzip.compress(b"")):
        assert gunzip(body, 10**8) == b"".join(parts)
    with pytest.raises(RequestError, match="cut short"):
        gunzip(b"".join(packed)[:-1], 10**8)


def test_a_gzip_of_too_many_members_is_refused():
    assert gunzip(gzip.compress(b"") * 9_999 + gzip.compress(b"x"), 10) == b"x"
    with pytest.raises(RequestError, match="10,000 members"):
        gunzip(gzip.compress(b"") * 20_000, 10)


def test_a_bomb_of_gzip_is_refused_before_it_is_unpacked(client_of):
    bomb = gzip.compress(bytes(50_000_000))
    client = client_of(max_body=100_000)
    answer = send(client, bomb, "application/json", **{"content-encoding": "gzip"})
    assert answer.status_code == 413
    tracemalloc.start()
    with pytest.raises(RequestError, match="unpacked"):
        gunzip(bomb + gzip.compress(bytes(10**6)), 1_000_000)
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()


@pytest.mark.parametrize("kind", KIND)
@pytest.mark.parametrize("compression", [None, "zstd", "lz4"])
def test_columns_that_are_compressed_are_judged_as_json_is(client, kind, compression):
    table = pa.Table.from_pylist(ROWS)
    if kind == "parquet":
        body = parquet(table, compression=compression or "none")
    else:
        body = arrow(table, kind, compression)
    answer = send(client, body, KIND[kind])
    assert answer.json() == send(client, json.dumps(ROWS), "application/json").json()


def test_texts_of_parquet_are_judged_as_those_of_json(client, penguins):
    table = pa.Table.from_pandas(penguins, preserve_index=False)
    at = "/v1/models/penguins/score?reasons=2"
    answer = client.post(at, content=parquet(table), headers={"content-type": KIND["parquet"]})
    rows = json.loads(penguins.to_json(orient="records"))
    assert answer.json() == client.post(at, json=rows).json()


def test_answers_can_be_parquet(client):
    answer = send(client, json.dumps(ROWS), "application/json", accept=KIND["parquet"])
    assert answer.headers["content-type"] == KIND["parquet"]
    table = pq.read_table(io.BytesIO(answer.content))
    (first, second) = send(client, json.dumps(ROWS), "application/json").json()["rows"]
    assert table["label"].to_pylist() == [first["label"], second["label"]]
    assert table["distance"].to_pylist() == [first["distance"], second["distance"]]


def repeated(text, rows):
    return pa.DictionaryArray.from_arrays(np.zeros(rows, np.int32), [text])


BOMBS = {
    "rows of Parquet": lambda: parquet(numbers(20_000)),
    "bytes of Parquet": lambda: parquet(
        numbers(100, t=["x" * 10_000 + str(k) for k in range(100)]), compression="zstd"
    ),
    "list in Parquet": lambda: parquet(numbers(2, t=pa.array([[], [0] * 30_000]))),
    "long cells of Parquet": lambda: parquet(
        numbers(100, t=pa.array([bytes(10_000)] * 100, pa.binary(10_000)))
    ),
    "rows of a stream": lambda: arrow(numbers(20_000), "stream", "zstd"),
    "rows of a file": lambda: arrow(numbers(20_000), "file", "lz4"),
    "bytes of a stream": lambda: arrow(numbers(100, t=["x" * 10_000] * 100), "stream", "zstd"),
    "dictionary of a stream": lambda: arrow(
        numbers(100, t=repeated("x" * 1_000_000, 100)), "stream", "zstd"
    ),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_columns_that_are_too_large_unpacked_are_refused(client_of, bomb):
    body = BOMBS[bomb]()
    assert len(body) < 100_000
    client = client_of(max_body=200_000, max_rows=1000)
    kind = "parquet" if "Parquet" in bomb else bomb.split()[-1]
    before = pa.total_allocated_bytes()
    answer = send(client, body, KIND[kind])
    assert answer.status_code == 413, answer.text
    assert pa.total_allocated_bytes() - before < 100_000


def varint(value, length=0):
    """Return a number as Thrift writes it, in so many bytes at least."""
    value, out = value << 1, []
    while value > 127 or len(out) + 1 < length:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def test_a_footer_that_lies_about_the_size_of_its_columns_is_refused(client_of):
    body = BOMBS["bytes of Parquet"]()
    (group,) = [pq.read_metadata(io.BytesIO(body)).row_group(0)]
    for k in range(group.num_columns):
        said = varint(group.column(k).total_uncompressed_size)
        body = body[:-8].replace(said, varint(100, len(said))) + body[-8:]
    found = pq.read_metadata(io.BytesIO(body)).row_group(0)
    assert sum(found.column(k).total_uncompressed_size for k in range(found.num_columns)) < 1000
    assert sum(map(len, pq.read_table(io.BytesIO(body))["t"].to_pylist())) > 10**6
    client = client_of(max_body=200_000, max_rows=1000)
    before = pa.default_memory_pool().max_memory()
    assert send(client, body, KIND["parquet"]).status_code == 413
    assert pa.default_memory_pool().max_memory() == before


def test_a_page_whose_header_is_damaged_is_refused(client):
    body = bytearray(parquet(numbers(100)))
    body[4] = 0xFF  # of the first page
    answer = send(client, bytes(body), KIND["parquet"])
    assert answer.status_code == 400
    assert "it is no Parquet" in answer.json()["error"]


def test_a_long_text_in_many_rows_of_parquet_is_kept_once(client, penguins):
    table = pa.Table.from_pandas(penguins, preserve_index=False)
    at = table.schema.get_field_index("island")
    table = table.set_column(at, "island", repeated("x" * 500_000, len(table)))
    body = parquet(table, dictionary_pagesize_limit=2**20)
    before = pa.default_memory_pool().max_memory()
    at = "/v1/models/penguins/score?reasons=1"
    answer = client.post(at, content=body, headers={"content-type": KIND["parquet"]})
    assert {row["label"] for row in answer.json()["rows"]} == {-1}
    assert pa.default_memory_pool().max_memory() - before < 20_000_000


@pytest.mark.parametrize("compression", ["none", "zstd"])
@pytest.mark.parametrize("options", [{}, {"data_page_version": "2.0"}, {"use_dictionary": False}])
def test_footers_are_read_as_pyarrow_reads_them(compression, options):
    table = numbers(1000, text=["a", "b"] * 500, when=pa.array(range(1000), pa.timestamp("us")))
    table = table.append_column("part", pa.array([[1, 2], []] * 500))
    table = table.append_column("fixed", pa.array([b"abc"] * 1000, pa.binary(3)))
    body = parquet(
        table, compression=compression, row_group_size=300, write_page_index=True, **options
    )
    found, groups = pq.read_metadata(io.BytesIO(body)), _footer(body)[4]
    assert len(groups) == found.num_row_groups == 4
    for k, group in enumerate(groups):
        assert len(group[1]) == found.num_columns
        for j, column in enumerate(group[1]):
            expected, said = found.row_group(k).column(j), column[3]
            assert said[5] == expected.num_values
            assert said[6] == expected.total_uncompressed_size
            assert said[7] == expected.total_compressed_size
            assert said[9] == expected.data_page_offset
            assert said.get(11) == expected.dictionary_page_offset


def test_any_footer_is_read_or_refused(client):
    """pyarrow ends the process when it is asked for columns whose statistics do not fit."""
    body = parquet(numbers(5, text=list("abcab")))
    size = int.from_bytes(body[-8:-4], "little")
    for place in range(len(body) - 8 - size, len(body) - 8):
        for byte in (0, 1, 2, 255):
            damaged = body[:place] + bytes([byte]) + body[place + 1 :]
            with contextlib.suppress(RequestError):
                check_parquet(damaged, 1000, 2**20)
    answer = send(client, damaged, KIND["parquet"])
    assert answer.status_code in (200, 400)


@pytest.mark.parametrize("kind", ["stream", "file", "parquet"])
def test_bytes_that_are_no_text_are_an_error(client, kind):
    text = pa.array([b"\xff\xfe", b"a"]).dictionary_encode()
    table = pa.table({"island": text, "species": ["Adelie", "Adelie"]})
    for name in ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g", "year"):
        table = table.append_column(name, pa.array([1.0, 2.0]))
    table = table.append_column("sex", pa.array(["male", None]))
    body = parquet(table) if kind == "parquet" else arrow(table, kind)
    for on_bad in ("error", "skip", "judge"):
        address = f"/v1/models/penguins/score?on_bad={on_bad}"
        answer = client.post(address, content=body, headers={"content-type": KIND[kind]})
        assert answer.status_code == 400
        assert "'island'" in answer.json()["error"]


def test_names_that_are_no_utf8_are_an_error_in_our_words(client):
    for body, kind in (
        (parquet(numbers(3)).replace(b"x1", b"x\xff"), "parquet"),
        (arrow(numbers(3), "stream").replace(b"x1", b"x\xff"), "stream"),
    ):
        answer = send(client, body, KIND[kind])
        assert answer.status_code == 400
        assert "UTF-8" in answer.json()["error"]
        assert "codec" not in answer.json()["error"]
