"""What a release relies on: one version, one address, workflows that agree with pyproject.toml."""

import re
import shutil
import tomllib
from datetime import date
from pathlib import Path

import pytest
import yaml

from tests import smoke
from tests.release import cited, complaints, prepare, version

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WORKFLOWS = {path.stem: path for path in (ROOT / ".github" / "workflows").glob("*.yaml")}
EXTRAS = PYPROJECT["project"]["optional-dependencies"]
PINNED = r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+"  # a tag can be moved, a hash cannot


def read(name):
    return yaml.safe_load(WORKFLOWS[name].read_text(encoding="utf-8"))


@pytest.fixture
def ready(tmp_path):
    """A copy of what a release is told by, as it should be for version 1.2.3."""
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "1.2.3"\n')
    (tmp_path / "CITATION.cff").write_text("version: 1.2.3\n")
    (tmp_path / "CHANGELOG.md").write_text("# Changes\n\n## 1.2.3 (2027-01-31)\n")
    (tmp_path / "packaging/conda").mkdir(parents=True)
    (tmp_path / "packaging/conda/recipe.yaml").write_text('context:\n  version: "1.2.3"\n')
    return tmp_path


def test_a_release_that_agrees_with_itself_may_go(ready):
    assert list(complaints("v1.2.3", ready)) == []


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("CITATION.cff", "version: 1.2.2\n", "CITATION.cff has version 1.2.2"),
        ("CHANGELOG.md", "## 1.2.3 (unreleased)\n", "no heading '## 1.2.3 (year-month-day)'"),
        ("pyproject.toml", '[project]\nversion = "1.3.0"\n', "The tag is v1.2.3"),
    ],
)
def test_one_that_does_not_is_stopped(ready, file, text, words):
    (ready / file).write_text(text)
    assert words in "\n".join(complaints("v1.2.3", ready))


def test_a_prepared_release_agrees_with_itself(ready):
    (ready / "CHANGELOG.md").write_text("# Changes\n\n## 1.3.0 (unreleased)\n\n- New.\n")
    prepare("1.3.0", ready, date(2027, 2, 28))
    assert list(complaints("v1.3.0", ready)) == []
    assert "## 1.3.0 (2027-02-28)\n\n- New." in (ready / "CHANGELOG.md").read_text()


@pytest.mark.parametrize(
    ("number", "words"),
    [
        ("1.2", "is no version"),
        ("1.2.2", "older than 1.2.3"),
        ("1.2.4", "CHANGELOG.md has no line"),
    ],
)
def test_what_cannot_be_released_is_said(ready, number, words):
    with pytest.raises(SystemExit, match=words):
        prepare(number, ready)


def test_the_citation_has_the_version():
    assert cited() == version()


def test_the_address_of_the_repository_is_the_same_everywhere():
    address = PYPROJECT["project"]["urls"]["Source"]
    files = ["CITATION.cff", ".github/ISSUE_TEMPLATE/config.yml", "pyproject.toml"]
    text = "".join((ROOT / file).read_text(encoding="utf-8") for file in files)
    for found in re.findall(r"https://github\.com/[\w./-]+", text):
        assert found.startswith(address)


@pytest.mark.parametrize("name", WORKFLOWS)
def test_workflows_may_do_little_and_use_known_versions(name):
    text = WORKFLOWS[name].read_text(encoding="utf-8")
    workflow = read(name)
    assert workflow["permissions"] == {"contents": "read"}
    used = re.findall(r"uses: (.+)", text)
    assert all(re.fullmatch(PINNED, each) or each.startswith("./") for each in used)
    for job in workflow["jobs"].values():
        assert "uses" in job or job["timeout-minutes"] <= 120
        for step in job.get("steps", ()):
            if "checkout" in step.get("uses", ""):
                assert step["with"] == {"persist-credentials": False}


def test_only_the_job_that_publishes_can_prove_who_it_is():
    allowed = {
        (name, job): steps["permissions"]
        for name in WORKFLOWS
        for job, steps in read(name)["jobs"].items()
        if "permissions" in steps and steps["permissions"] != {"contents": "read"}
    }
    assert allowed.keys() == {("release", "publish")}
    assert read("release")["jobs"]["publish"]["environment"] == "pypi"


def test_targets_that_workflows_make_are_there():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for name in WORKFLOWS:
        made = re.findall(r"run: make ([a-z-]+)", WORKFLOWS[name].read_text(encoding="utf-8"))
        assert set(made) <= targets


def test_the_oldest_python_is_tested_and_built():
    oldest = PYPROJECT["project"]["requires-python"].removeprefix(">=")
    assert oldest in read("tests")["jobs"]["pythons"]["strategy"]["matrix"]["python"]
    assert f"cp{oldest.replace('.', '')}-*" in PYPROJECT["tool"]["cibuildwheel"]["build"]


def test_every_extra_is_tried_in_a_wheel():
    assert smoke.EXTRAS.keys() == EXTRAS.keys()
    text = (ROOT / "Makefile").read_text()
    installed = re.search(r"dist/\*\.whl\)\[([a-z,-]+)\]", text)[1].split(",")
    brought = {word for name in installed for word in (name, *_included(name))}
    assert brought == EXTRAS.keys()


def _included(extra):
    """Return the extras that an extra includes, theirs too."""
    for requirement in EXTRAS[extra]:
        if found := re.match(r"refold\[([\w,]+)\]", requirement):
            for name in found[1].split(","):
                yield name
                yield from _included(name)


@pytest.mark.slow
@pytest.mark.parametrize("extra", [*sorted(smoke.EXTRAS.keys() - {"airflow"}), "alone"])  # apart
@pytest.mark.filterwarnings("ignore")
def test_extras_work_here(extra, tmp_path, monkeypatch):
    if extra == "spark" and shutil.which("java") is None:
        pytest.skip("There is no Java to run Spark.")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    {**smoke.EXTRAS, "alone": smoke.alone}[extra](tmp_path)


def test_hooks_of_a_commit_are_the_versions_of_the_lint_group():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    versions = {repo["repo"].rsplit("/", 1)[1]: repo["rev"] for repo in hooks["repos"]}
    pins = dict(text.split("==") for text in PYPROJECT["dependency-groups"]["lint"])
    assert versions["ruff-pre-commit"] == f"v{pins['ruff']}"
    assert versions["mirrors-clang-format"] == f"v{pins['clang-format']}"


def test_the_conda_recipe_asks_for_what_pyproject_asks_for():
    text = (ROOT / "packaging/conda/recipe.yaml").read_text(encoding="utf-8")
    recipe = yaml.safe_load(text)

    def wanted(requirements):
        return {re.sub(r"\s", "", each) for each in requirements} - {"python", "pip"}

    assert wanted(recipe["requirements"]["run"]) == wanted(PYPROJECT["project"]["dependencies"])
    assert wanted(recipe["requirements"]["host"]) == wanted(PYPROJECT["build-system"]["requires"])
    assert recipe["context"]["version"] == version()
    assert recipe["about"]["license"] == PYPROJECT["project"]["license"]
    assert recipe["about"]["summary"] == PYPROJECT["project"]["description"]
