"""Files and requests that mean no good: a sentence, and everything stays as it was."""

import gzip
import html
import json
import re
import threading
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

from refold.app import Session, Workspace
from tests.app.conftest import Visitor, parts

SCRIPT = "<script>document.title='run'</script>"
QUOTED = "\"'><img src=x onerror=alert(1)>{{ 7 * 7 }}"


class Elements(HTMLParser):
    """The scripts of a page, and attributes that would run something."""

    def __init__(self, page):
        super().__init__()
        self.scripts, self.handlers = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        if tag in ("script", "img", "iframe", "object"):
            self.scripts.append(dict(attrs).get("src"))
        self.handlers += [name for name, _ in attrs if name.startswith("on")]


@pytest.fixture
def hostile(tmp_path):
    """A file with scripts wherever something can be written."""
    table = parts(200).rename(columns={"machine": SCRIPT, "torque": QUOTED})
    table[SCRIPT] = [(SCRIPT, QUOTED)[k % 2] for k in range(200)]
    file = tmp_path / "hostile.csv"
    table.to_csv(file, index=False)
    return file


def files_of(visitor):
    """What is on the disk."""
    return set(visitor.workspace.folder.iterdir())


def paths_of(*read):
    """The files of tables, and of news, that may be read again."""
    return {each.file.path for each in read if each.file is not None}


@pytest.fixture(scope="module")
def settled(files, tmp_path_factory):
    """Somebody who has come all the way, and whose work nothing here may change."""
    visitor = Visitor(Workspace(tmp_path_factory.mktemp("settled")), Session(8000))
    visitor.put("/table", files / "parts.csv")
    visitor.post("/learn")
    visitor.put("/check", files / "new.csv")
    return visitor


def test_scripts_in_names_and_cells_are_text(visitor, hostile):
    assert not visitor.put("/table", hostile, name=f"{SCRIPT}.csv").bad
    visitor.post("/learn")
    visitor.put("/check", hostile, name=f"{QUOTED}.csv")
    rows = ("/check?show=all&text=<script>", "/check?show=all&sort=column-0", "/check/rows/0")
    paths = ("/", "/learn", *rows, "/take")
    for path in paths:
        page = visitor.page(path)
        seen = Elements(page)
        assert seen.scripts == ["/assets/behaviour.js"], path
        assert seen.handlers == [], path
        assert "{{ 7 * 7 }}" in page, path
    assert "&lt;script&gt;" in visitor.page("/check/rows/0")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"PK\x03\x04 no workbook", "table"),
        (b"%PDF-1.7 no table", "PDF"),
        (b"\x00\x01\x02\x03" * 50, "table"),
        (b"a,b\n", "no rows"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0)[:20], "table"),
        (b"PAR1 no parquet PAR1", "table"),
        (b'[{"a": 1}, 2', "table"),
        (b"\n\n\n", "table"),
    ],
)
def test_a_broken_file_is_told_in_a_sentence_and_changes_nothing(settled, content, said):
    visitor, before = settled, settled.state
    for path in ("/table", "/check"):
        news = visitor.put(path, content, name="table.csv")
        assert news.bad
        assert said in news.text
        assert "bug" not in news.text
        assert str(visitor.workspace.folder) not in news.text
        assert visitor.state is before
        assert news.text.split("'")[0][:20] in visitor.page("/").replace("&#39;", "'")
    assert files_of(visitor) == paths_of(before.table, before.checked.table, news)


def test_new_rows_without_a_column_are_refused_by_its_name(visitor, files, tmp_path):
    visitor.put("/table", files / "parts.csv")
    visitor.post("/learn")
    file = tmp_path / "less.csv"
    pd.read_csv(files / "new.csv").drop(columns="torque").to_csv(file, index=False)
    news = visitor.put("/check", file)
    assert news.bad
    assert "'torque'" in news.text
    assert visitor.state.checked is None


def test_a_file_that_is_too_large_is_refused_and_not_kept(visitor_of, files):
    visitor = visitor_of(most_bytes=1000)
    answer = visitor.client.put("/table?name=a.csv&version=0", content=b"a,b\n" + b"1,2\n" * 1000)
    assert answer.status_code == 413
    assert "refold fit" in answer.text
    chunked = visitor.client.put("/table?name=a.csv&version=0", content=iter([b"1,2\n" * 100] * 10))
    assert chunked.status_code == 413
    assert list(visitor.workspace.folder.iterdir()) == []
    assert visitor.state.table is None


def test_a_packed_file_that_grows_too_large_is_refused_while_it_is_read(visitor_of):
    visitor = visitor_of(most_cells=10_000)
    news = visitor.put("/table", gzip.compress(b"a,b\n" + b"1,2\n" * 100_000), name="bomb.csv.gz")
    assert news.bad
    assert "bomb.csv.gz has more than 10,000 cells" in news.text


@pytest.mark.parametrize("name", ["../../etc/passwd", "C:\\x\\y.csv", "", "a\x00b.csv", "x" * 999])
def test_a_name_of_a_file_is_only_shown(visitor, files, name):
    visitor.put("/table", (files / "parts.csv").read_bytes(), name=name or " ")
    shown = visitor.state.table.name
    assert "/" not in shown
    assert len(shown) <= 100
    visitor.page("/")


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/table/sample", {}),
        ("/table/sample", {"sample": "../x"}),
        ("/table/columns", {"target": "99-0"}),
        ("/table/columns", {"target": "0-99"}),
        ("/learn", {"without": "x"}),
        ("/learn", {"method": "pickle"}),
        ("/check/accept", {}),
        ("/check/accept", {"row": "x"}),
        ("/check/rate", {"rate": "99999"}),
        ("/take", {"name": "../../etc/passwd"}),
    ],
)
def test_forms_that_make_no_sense_are_refused(settled, path, fields):
    visitor, before = settled, settled.state
    answer = visitor.send(path, **fields)
    assert answer.status_code in (400, 404, 409), answer.text
    assert "bug" not in answer.text
    visitor.workspace.worker.wait(60)
    assert visitor.state is before


def test_a_role_that_there_is_not_is_said_and_changes_nothing(visitor, files):
    visitor.put("/table", files / "parts.csv")
    before = visitor.state
    news = visitor.post("/table/columns", **{"role-0": "nonsense"})
    assert news.bad
    assert "nonsense" in news.text
    assert visitor.state is before


def test_steps_that_are_not_there_yet_are_said(visitor):
    for path in ("/learn", "/check", "/limits", "/take"):
        assert "yet" in visitor.page(path)
    for path in ("/learn", "/limits", "/check/undo", "/check/rest"):
        assert visitor.post(path).bad
    assert visitor.get("/check/rows/0").status_code == 404


def test_one_thing_at_a_time(visitor, files):
    go_on = threading.Event()
    visitor.workspace.begin("Waiting", lambda state, job: (state, str(go_on.wait(60))))
    answer = visitor.send("/learn")
    assert answer.status_code == 409
    assert "Under way: Waiting" in answer.text
    assert visitor.client.put("/table?name=a.csv&version=0", content=b"a\n1\n").status_code == 409
    assert visitor.client.get("/progress").json()["what"] == "Waiting"
    assert "Waiting" in visitor.page("/")
    go_on.set()
    visitor.workspace.worker.wait(60)
    assert visitor.client.get("/progress").json() == {
        "what": "", "rows": 0, "share": None, "seconds": 0, "finished": 1
    }  # fmt: skip
    assert list(Path(visitor.workspace.folder).iterdir()) == []


def test_no_control_character_reaches_what_is_copied_from_the_last_page(visitor):
    """They turn the direction of what follows, or are not seen at all."""
    unseen = "".join(map(chr, [0x85, 0x9B, 0xAD, 0x200B, 0x202E, 0x2066, 0xFEFF, 0xE0041]))
    rows = [f"{1 + k % 7}.5,part{unseen}{k % 3},it's" for k in range(40)]
    body = "\n".join([f"torque{unseen},kind,note", *rows]).encode()
    assert not visitor.put("/table", body, name=f"parts{unseen}.csv").bad
    visitor.post("/learn")
    page = visitor.page("/take")
    blocks = re.findall(r"<pre[^>]*>(.*?)</pre>", page, re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        assert all(line.isprintable() for line in block.split("\n"))
    sent = html.unescape(re.search(r"-d &#39;(.*)&#39;</code>", page, re.DOTALL)[1])
    (row,) = json.loads(sent.replace("'\\''", "'"))
    assert row["kind"].startswith(f"part{unseen}")
    assert {**row, "kind": ""} == {f"torque{unseen}": 4.5, "kind": "", "note": "it's"}


def test_no_page_turns_the_direction_of_what_it_shows(visitor):
    unseen = "".join(map(chr, [0x1B, 0x9B, 0x202E, 0x2028, 0x2066, 0xFEFF]))
    rows = [f"{1 + k % 7}.5,part{unseen}{k % 3},it's" for k in range(60)]
    body = "\n".join([f"torque{unseen},kind,note", *rows])
    assert not visitor.put("/table", body.encode(), name=f"parts{unseen}.csv").bad
    visitor.post("/learn")
    visitor.put("/check", f"{body}\n99.5,z{unseen},it's".encode(), name=f"new{unseen}.csv")
    visitor.post("/limits")
    for address in ("/", "/learn", "/check", "/check/rows/60", "/limits", "/take"):
        assert not set(unseen) & set(visitor.page(address)), address


def test_a_form_brings_back_what_was_typed_though_it_is_not_seen(visitor):
    rows = [f"{1 + k % 7}.5,part{k % 3}" for k in range(60)]
    visitor.put("/table", "\n".join(["torque,kind", *rows]).encode(), name="parts.csv")
    visitor.post("/learn")
    typed = "kind = part\u202e1 and nothing"
    assert visitor.post("/learn", rule=[1], mute=typed).bad
    assert typed in html.unescape(visitor.page("/learn"))
