"""What stands in deploy/: it parses, belongs together, and asks for metrics that there are."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import yaml
from starlette.testclient import TestClient

import refold
from refold.monitoring import VERDICTS
from refold.service import ModelStore, Settings, create

DEPLOY = Path(__file__).parents[1] / "deploy"
ALERTS = yaml.safe_load((DEPLOY / "prometheus/alerts.yml").read_text(encoding="utf-8"))
BOARD = json.loads((DEPLOY / "grafana/boards/refold.json").read_text(encoding="utf-8"))
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
RULES = [rule for group in ALERTS["groups"] for rule in group["rules"]]
QUERIES = [rule["expr"] for rule in RULES] + [
    target["expr"] for panel in BOARD["panels"] for target in panel["targets"]
]


@pytest.fixture(scope="module")
def metrics(tmp_path_factory):
    """Return the series of a service that has judged rows: names and labels."""
    file = tmp_path_factory.mktemp("deploy") / "line4.json"
    X = np.random.default_rng(0).normal(size=(200, 2))
    refold.save(refold.REF(alpha=0.05).fit(X), file)
    app = create(ModelStore({"line4": file}), Settings(), lambda entry: None)
    with TestClient(app, base_url="http://127.0.0.1") as client:
        rows = [{"x0": 0.1, "x1": 9.0}]
        assert client.post("/v1/models/line4/score", json=rows).status_code == 200
        text = client.get("/metrics").text
    series = re.findall(r"^(\w+)(?:\{(.*)\})? ", text, re.MULTILINE)
    found = {}
    for name, labels in series:
        found.setdefault(name, set()).update(re.findall(r'(\w+)="([^"]*)"', labels))
    return found


@pytest.mark.parametrize("query", QUERIES)
def test_queries_ask_for_metrics_and_labels_that_there_are(metrics, query):
    used = re.findall(r"\b((?:refold|process)_\w+)(?:\{([^}]*)\})?", query)
    assert used or query == 'up{job="refold"} == 0'
    for name, selected in used:
        assert name in metrics, name
        for label, matcher, value in re.findall(r'(\w+)(=~|=)"([^"]*)"', selected):
            known = {text for key, text in metrics[name] if key == label}
            if label == "job":  # Prometheus adds it
                assert value == "refold"
            elif value not in ("$model", "5.."):
                wanted = value.split("|") if matcher == "=~" else [value]
                assert known >= set(wanted), (name, label)
    for by in re.findall(r"\bby \(([^)]*)\)", query):
        for label in by.split(", "):
            assert any(label in {key for key, _ in metrics[name]} for name, _ in used), label


def test_alerts_are_named_once_and_their_texts_name_labels_that_the_query_keeps(metrics):
    names = [rule["alert"] for rule in RULES]
    assert len(set(names)) == len(names) > 0
    for rule in RULES:
        kept = {"instance", "job"}
        for name in re.findall(r"\brefold_\w+", rule["expr"]):
            kept |= {key for key, _ in metrics[name]}
        for text in rule["annotations"].values():
            assert set(re.findall(r"\$labels\.(\w+)", text)) <= kept, rule["alert"]
        assert rule["labels"]["severity"] in ("warning", "critical")
    (more,) = [rule["expr"] for rule in RULES if rule["alert"] == "RefoldMoreOutliers"]
    named = re.search(r'verdict=~"([^"]*)"', more)[1].split("|")
    assert set(named) == {verdict for verdict in VERDICTS if "outliers" in verdict}


def test_panels_have_a_place_of_their_own():
    taken = set()
    for panel in BOARD["panels"]:
        at = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert not cells & taken, panel["title"]
        assert at["x"] + at["w"] <= 24
        taken |= cells
    assert len({panel["id"] for panel in BOARD["panels"]}) == len(BOARD["panels"])


def test_what_is_mounted_is_there_and_what_is_told_belongs_together():
    services = COMPOSE["services"]
    for name, service in services.items():
        for volume in service["volumes"]:
            source = volume.split(":")[0]
            if source.startswith("."):
                assert (DEPLOY / source).is_dir(), source
            else:
                assert source in COMPOSE["volumes"]
        assert service["cap_drop"] == ["ALL"], name
        assert all(port.startswith("127.0.0.1:") for port in service["ports"]), name
        assert "build" in service or re.search(r":v?\d+\.\d+", service["image"]), name
    assert (DEPLOY / services["refold"]["build"]["context"] / "deploy/Dockerfile").is_file()
    scrape = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text(encoding="utf-8"))
    (job,) = scrape["scrape_configs"]
    (secret,) = services["prometheus"]["secrets"]
    assert job["authorization"]["credentials_file"] == f"/run/secrets/{secret}"
    assert job["static_configs"][0]["targets"] == ["refold:8080"]
    assert COMPOSE["secrets"][secret]["environment"] in services["refold"]["environment"]
    source = DEPLOY / "grafana/provisioning/datasources/prometheus.yml"
    (known,) = yaml.safe_load(source.read_text(encoding="utf-8"))["datasources"]
    assert {panel["datasource"]["uid"] for panel in BOARD["panels"]} == {known["uid"]}


def test_the_image_runs_as_nobody_special_and_says_whether_it_is_well():
    _, build, run = (DEPLOY / "Dockerfile").read_text(encoding="utf-8").split("\nFROM ")
    lines = run.splitlines()
    assert "USER 10001" in lines
    assert lines.index("USER 10001") < next(
        k for k, line in enumerate(lines) if line.startswith("ENTRYPOINT")
    )
    assert "HEALTHCHECK" in run
    assert "apt-get" not in run  # nothing to compile with
    address = re.search(r"127\.0\.0\.1:(\d+)(/\w+)", run)
    assert address[2] == "/readyz"
    entry = json.loads(re.search(r"^ENTRYPOINT (.*)$", run, re.MULTILINE)[1])
    assert entry[entry.index("--port") + 1] == address[1]
    sent = re.search(r"^!src$", (DEPLOY.parent / ".dockerignore").read_text(), re.MULTILINE)
    assert sent
    assert "COPY . ." in build
