"""Agents ask by the official client of MCP, and are answered as the commands answer."""

import asyncio
import json
import os
import re
import subprocess
from contextlib import asynccontextmanager, contextmanager

import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

import refold
from refold.integrations.mcp import ModelTools, create_server
from tests.warm import REFOLD, command

TOKEN = "a-token-of-24-characters"


@pytest.fixture
def folder(faulty, tmp_path):
    """A folder with tables, beside what must not be read."""
    inside = tmp_path / "inside"
    inside.mkdir()
    for file in (faulty.normal, faulty.new, faulty.model):
        (inside / file.name).write_bytes(file.read_bytes())
    (tmp_path / "secret.csv").write_bytes(faulty.new.read_bytes())
    return inside


def asked(server, *calls):
    """Return the answers to calls, (tool, arguments), of one connection."""

    async def ask():
        async with Client(server) as client:
            return [await client.call_tool(tool, arguments) for tool, arguments in calls]

    return asyncio.run(ask())


def one(server, tool, **arguments):
    (answer,) = asked(server, (tool, arguments))
    assert not answer.is_error, answer.content
    assert json.loads(answer.content[0].text) == answer.structured_content
    return answer.structured_content


def refused(server, tool, **arguments):
    (answer,) = asked(server, (tool, arguments))
    assert answer.is_error
    return answer.content[0].text


def records(faulty):
    """Return the rows as JSON has them."""
    frame = faulty.frame.astype(object)
    return frame.where(frame.notna(), None).to_dict("records")


@pytest.fixture
def server(faulty, folder):
    return create_server(ModelTools({"penguins": faulty.model}, folder, max_rows=1_000))


@pytest.mark.slow
def test_over_stdio_the_outliers_are_those_of_refold_score(faulty, folder):
    started = StdioServerParameters(
        command=str(REFOLD), args=["mcp", str(faulty.model), "--folder", str(folder)]
    )
    by_file, by_rows, why, limits = asked(
        started,
        ("score", {"model": "m", "table": "new.csv", "limit": 200}),
        ("score", {"model": "m.json", "rows": records(faulty), "limit": 200}),
        ("explain", {"model": "m", "table": "new.csv", "row_numbers": [112]}),
        ("limits", {"model": "m", "columns": ["body_mass_g"]}),
    )
    assert not by_file.is_error, by_file.content
    found = by_file.structured_content
    assert sorted(row["row"] - 1 for row in found["farthest"]) == faulty.outliers
    for row in found["farthest"]:
        scored = faulty.scored[row["row"] - 1]
        assert row["distance"] == pytest.approx(float(scored["distance"]))
        assert row["sentence"] == scored["because"]
        assert row["reasons"][0] == scored["reason_1"]
    assert by_rows.structured_content == found
    assert "'Mars' was never seen" in why.structured_content["rows"][0]["sentence"]
    model = refold.load(faulty.model)
    assert limits.structured_content["features"] == [
        one for one in refold.limits(model).to_dict()["features"] if one["feature"] == "body_mass_g"
    ]


def test_what_is_noticed_is_what_the_command_notices(server, faulty):
    run = [command(), "check", faulty.new, "--json"]
    printed = json.loads(subprocess.run(run, check=True, capture_output=True).stdout)
    found = one(server, "check", table="new.csv", limit=200)
    assert found["findings"] == printed["findings"]
    assert found["notes"] == printed["notes"]


def test_a_learned_model_is_written_once_and_compared(server, faulty, folder):
    learned = one(server, "learn", table="normal.csv", out="new.json", alpha=0.05)
    assert learned["columns"]["species"] == "category"
    assert refold.load(folder / "new.json").threshold_ == learned["threshold"]
    assert "new file" in refused(server, "learn", table="normal.csv", out="new.json")
    run = [command(), "compare", faulty.model, folder / "new.json", faulty.new, "--json"]
    printed = json.loads(subprocess.run(run, check=True, capture_output=True).stdout)
    found = one(server, "compare", old="penguins", new="new.json", table="new.csv", limit=10)
    assert found == printed


def test_rules_are_those_of_the_command(server, faulty):
    run = [command(), "rules", faulty.model, "--format", "json"]
    printed = json.loads(subprocess.run(run, check=True, capture_output=True).stdout)
    (own,) = [
        rule
        for rule in one(server, "rules", model="penguins", columns=["body_mass_g"])["rules"]
        if "when" not in rule
    ]
    assert own.pop("text").startswith("body_mass_g: 2700–6300")
    assert own.pop("column") == "body_mass_g"
    assert own.items() <= printed["body_mass_g"].items()
    assert one(server, "rules", model="penguins", limit=1)["n_rules"] > 1


@pytest.mark.parametrize(
    "name", ["../secret.csv", "link.csv", "linked/secret.csv", "/etc/hostname", "a\0b", "x" * 400]
)
def test_nothing_outside_the_folder_is_read(server, folder, name):
    (folder / "link.csv").symlink_to(folder.parent / "secret.csv")
    (folder / "linked").symlink_to(folder.parent, target_is_directory=True)
    assert "rows" not in refused(server, "score", model="penguins", table=name)
    assert str(folder) not in refused(server, "check", table=name)


@pytest.mark.parametrize("name", ["../out.json", "linked/out.json", "new.csv", "no/out.json"])
def test_nothing_outside_the_folder_is_written(server, folder, name):
    (folder / "linked").symlink_to(folder.parent, target_is_directory=True)
    before = sorted(folder.parent.rglob("*"))
    refused(server, "learn", table="normal.csv", out=name)
    assert sorted(folder.parent.rglob("*")) == before


def test_what_is_too_much_is_refused(server, faulty, folder):
    with (folder / "long.csv").open("w", encoding="utf-8") as file:
        file.write("a,b\n" + "1,2\n" * 1_001)
    assert "1,000 rows" in refused(server, "check", table="long.csv")
    assert "1000" in refused(server, "check", rows=[{"a": 1}] * 1_001)
    assert "200" in refused(server, "score", model="penguins", table="new.csv", limit=201)
    os.mkfifo(folder / "pipe.csv")
    assert "no file" in refused(server, "check", table="pipe.csv")
    small = create_server(ModelTools({"penguins": faulty.model}, folder, max_bytes=100))
    assert "100 bytes" in refused(small, "check", table="new.csv")


def test_a_server_without_a_folder_takes_rows_only(faulty):
    server = create_server(ModelTools({"penguins": faulty.model}))

    async def tools():
        async with Client(server) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    assert asyncio.run(tools()) == {*("check", "score", "explain", "compare", "limits", "rules")}
    assert "no folder" in refused(server, "score", model="penguins", table="new.csv")
    assert "no model 'm.json'" in refused(server, "limits", model="m.json")
    assert "Either" in refused(server, "score", model="penguins")
    assert "no row 2" in refused(
        server, "explain", model="penguins", rows=records(faulty)[:1], row_numbers=[2]
    )


@contextmanager
def serving(faulty, folder):
    file = folder / "token.txt"
    file.write_text(f"{TOKEN}\n")
    started = [REFOLD, "mcp", faulty.model, "--folder", folder]
    started += ["--http", "127.0.0.1:0", "--token-file", file]
    with subprocess.Popen(started, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield re.search(r"http\S+", process.stderr.readline())[0]
        finally:
            process.terminate()


@pytest.mark.slow
def test_over_http_only_those_with_the_token_are_answered(faulty, folder):
    @asynccontextmanager
    async def connected(address, token):
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(address, http_client=http)) as client,
        ):
            yield client

    async def ask(address):
        async with connected(address, TOKEN) as client:
            found = await client.call_tool("score", {"model": "m", "table": "new.csv"})
        with pytest.raises((MCPError, ExceptionGroup, httpx2.HTTPStatusError)):
            async with connected(address, "another-token-of-that-length"):
                pass
        async with httpx2.AsyncClient() as http:
            return found, (await http.post(address, json={})).status_code

    with serving(faulty, folder) as address:
        found, status = asyncio.run(ask(address))
    assert found.structured_content["outliers"] == len(faulty.outliers)
    assert status == 401


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "A model or a --folder is needed"),
        (["--folder", ".", "--http", "127.0.0.1:0"], "go together"),
        (["--folder", "nowhere"], "is not a folder"),
        (["--folder", ".", "--http", "8080", "--token-file", "token"], "an address and a port"),
        (["--folder", ".", "--http", "127.0.0.1:0", "--token-file", "short"], "At least 16"),
        (["absent.json"], "absent.json"),
    ],
)
def test_the_command_refuses_what_it_cannot_serve(tmp_path, given, said):
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "short").write_text("short")
    done = subprocess.run(
        [command(), "mcp", *given], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert said in done.stderr
