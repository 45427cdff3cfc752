PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help demo test asan tsan fuzz lint format bench clean
.DEFAULT_GOAL := help

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

COMPILED := pyproject.toml CMakeLists.txt $(wildcard src/refold/algorithm/kernels/*.[ch]pp)
PYTHON_FILES := $(shell find src -name '*.py')
comma := ,

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

# Here a warning is an error; whoever only wants to use refold may have another compiler.
test lint: export SKBUILD_CMAKE_DEFINE = REFOLD_STRICT=ON

test: lint ## Set everything up, check style and types, run all tests
	$(BIN)/python -m pytest -n auto --dist loadfile

# The loops once more with sanitizers, in a place of their own. There Python is started without its
# site, which would prefer the editable install, and finds the packages by their paths.
build/%/.package: SANITIZERS = $(if $(filter asan,$*),address$(comma)undefined,thread)
build/%/.package: $(COMPILED) $(PYTHON_FILES) | $(VENV)/.test
	$(BIN)/python -m pip install --quiet --no-deps --upgrade --target build/$* \
	  --config-settings=build-dir=build/$*-objects \
	  --config-settings=cmake.build-type=RelWithDebInfo \
	  --config-settings=cmake.define.REFOLD_STRICT=ON \
	  --config-settings=cmake.define.REFOLD_SANITIZE=$(SANITIZERS) .
	@touch $@

SANITIZED = PYTHONPATH=build/$@:$$($(BIN)/python -c "import sys; print(*sys.path[1:], sep=':')") \
  LD_PRELOAD="$$($(CXX) -print-file-name=lib$@.so) $$($(CXX) -print-file-name=libstdc++.so)" \
  ASAN_OPTIONS=detect_leaks=0 TSAN_OPTIONS=halt_on_error=1 \
  $(BIN)/python -S -m pytest --capture=sys -p no:cacheprovider

asan: build/asan/.package ## Run engines and random arrays with AddressSanitizer and UBSan
	REFOLD_FUZZ_CASES=1500 $(SANITIZED) tests/algorithm
	REFOLD_ISA=baseline $(SANITIZED) tests/algorithm/test_kernel_fuzz.py

tsan: build/tsan/.package ## Run the tests of threads with ThreadSanitizer
	$(SANITIZED) tests/algorithm -m threads

$(VENV)/.fuzz: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --group fuzz
	@touch $@

# What it finds interesting is kept apart; a file that breaks a reader is written to build/fuzz and
# belongs into the corpus, which make test reads, with the change that mends it.
SECONDS ?= 60
FUZZ = mkdir -p build/fuzz/$(1) && $(BIN)/python -m tests.hardening.fuzz_$(1) build/fuzz/$(1) \
  tests/hardening/corpus/$(1) -artifact_prefix=build/fuzz/$(1)- -max_total_time=$(SECONDS) \
  -timeout=10 -rss_limit_mb=2000 -max_len=20000

fuzz: $(VENV)/.fuzz ## Search for model files and tables that break a reader, SECONDS=60 for each
	$(call FUZZ,model_file)
	$(call FUZZ,table)

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
