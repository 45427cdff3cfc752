PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help demo test lint format bench clean
.DEFAULT_GOAL := help

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

COMPILED := pyproject.toml CMakeLists.txt $(wildcard src/refold/algorithm/kernels/*.[ch]pp)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

# One stamp per set of packages: what is there already is not installed again. The package is
# installed as editable, so that only a change to compiled code needs a new build.
$(VENV)/.package: $(COMPILED) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

# Spark is tested where there is a Java to run it.
SPARK := $(if $(shell command -v java 2>/dev/null),--group test-spark)

$(VENV)/.test: $(VENV)/.package
	$(BIN)/python -m pip install --quiet --editable .[all] --group lint --group test $(SPARK)
	@touch $@

$(VENV)/.bench: $(VENV)/.package
	$(BIN)/python -m pip install --quiet --editable .[onnx,sql] --group bench
	@touch $@

$(VENV)/.demo: $(VENV)/.package
	$(BIN)/python -m pip install --quiet --editable .[parquet,report]
	@touch $@

demo: $(VENV)/.demo ## Learn from healthy cases and say which new ones are not normal, and why: report.html
	$(BIN)/python examples/demo.py

test: lint ## Set everything up, check style and types, run all tests
	$(BIN)/python -m pytest -n auto --dist loadfile

lint: $(VENV)/.test ## Check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(VENV)/.test ## Put the code into the project's format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.bench ## Compare speed and memory with other libraries
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.parquet
	$(BIN)/python -m benchmarks.serving
	$(BIN)/python -m benchmarks.creased

clean: ## Remove what the other targets made
	rm -rf $(VENV) build dist
