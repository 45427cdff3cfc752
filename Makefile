PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help demo test test-slow slow growth coverage mutation oldest sdist-test wheel lock asan tsan no-threads fuzz lint format docs images \
  screenshots workflows bench release clean
.DEFAULT_GOAL := help

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

KERNELS := $(wildcard src/refold/algorithm/kernels/*.[ch]pp)
COMPILED := pyproject.toml CMakeLists.txt $(KERNELS)
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

# The versions that the tests are known to pass with. With a Python for which one of them has no
# wheel: make test LOCK=
LOCK := --constraint constraints.txt --build-constraint constraints.txt

$(VENV)/.test: $(VENV)/.package constraints.txt
	$(BIN)/python -m pip install --quiet --editable .[all] --group lint --group test $(LOCK)
	@touch $@

# Spark is tested where there is a Java to run it.
SPARK := $(if $(shell command -v java 2>/dev/null),--group test-spark)

$(VENV)/.test-slow: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --group docs --group test-slow $(SPARK) $(LOCK)
	@touch $@

# dbt and Airflow cannot live with the versions above: each has an environment of its own, where its
# tests start it. refold runs within Airflow, which finds what it has not in ours.
.venv-dbt/.installed: constraints-dbt.txt
	$(PYTHON) -m venv .venv-dbt
	.venv-dbt/bin/python -m pip install --quiet --only-binary :all: --constraint $< \
	  dbt-core dbt-duckdb dbt-postgres
	@touch $@

.venv-airflow/.installed: constraints-airflow.txt | $(BIN)/python
	$(PYTHON) -m venv .venv-airflow
	.venv-airflow/bin/python -m pip install --quiet --only-binary :all: --constraint $< apache-airflow-core
	$(BIN)/python -c "import sysconfig; print('import site; site.addsitedir(%r)' % sysconfig.get_path('purelib'))" \
	  > $$(.venv-airflow/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")/refold.pth
	@touch $@

$(VENV)/.bench: $(VENV)/.package
	$(BIN)/python -m pip install --quiet --editable .[onnx,sql,plot,report] --group bench
	@touch $@

$(VENV)/.demo: $(VENV)/.package
	$(BIN)/python -m pip install --quiet --editable .[cli,report]
	@touch $@

demo: $(VENV)/.demo ## Learn from the parcels of a shop and say which new ones are outliers, and why: report.html
	$(BIN)/refold demo

# Many processes import the same modules: they are compiled once, whatever the shell passes on.
unexport PYTHONDONTWRITEBYTECODE

# Here a warning is an error; whoever only wants to use refold may have another compiler.
test lint: export SKBUILD_CMAKE_DEFINE = REFOLD_STRICT=ON

# One worker more than there are cores: tests wait for processes that they have started.
WORKERS := $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN) + 1 )))
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --durations 25

test: lint ## Set everything up, check style and types, run the tests that tell whether it works
	$(PYTEST) -m "not slow"
	@echo "Not run: every variant, browsers, Spark, PostgreSQL, the site and its gallery, long" \
	  "fuzzing, sanitizers, data that no package brings. They are for: make test-slow"

test-slow: $(VENV)/.test-slow ## Run the other tests: some need a browser, Java, PostgreSQL, valgrind, data
	$(MAKE) --jobs 3 slow asan $(if $(shell command -v valgrind),growth)

slow: $(VENV)/.test-slow .venv-dbt/.installed .venv-airflow/.installed
	$(PYTEST) -m slow

# Work within one call, on one long text, shows only so; make test counts calls and bytes.
LONG_TEXTS := characters or long_line or long_text or quotes
GROWTH := $(shell grep -rl --include='test_*.py' mark.growth tests)
growth: $(VENV)/.test ## Count instructions of reading long texts, which must grow as these do; needs valgrind
	rm -rf build/growth && mkdir -p build/growth
	REFOLD_CALLGRIND=build/growth valgrind --quiet --tool=callgrind --instr-atstart=no \
	  --vgdb-prefix=build/growth/pipe --callgrind-out-file=build/growth/counted $(BIN)/python -m pytest -p no:cacheprovider \
	  -m growth -k "$(LONG_TEXTS)" $(GROWTH)

coverage: $(VENV)/.test ## Say which lines and branches make test leaves out
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow" --cov --cov-report=term tests

MUTANTS ?= 100
SEED ?= 0
ROOMS ?= algorithm decisions models columns judgement
mutation: $(VENV)/.test ## Change the code at MUTANTS=100 random places and say which change no test notices
	$(BIN)/python -m tests.mutation --mutants $(MUTANTS) --seed $(SEED) --rooms $(ROOMS)

# A part of the tests that needs few packages, for the two targets below. Each makes an environment
# and compiles, which takes some minutes: they are for releases and new bounds, not for .ci/run.
QUICK := -m "not slow" $(addprefix tests/,algorithm models decisions columns modelfile)

# Old packages warn of what newer ones, of which no oldest version is set, have deprecated since.
oldest: ## Run a quick part of the tests with the oldest version allowed of every package
	$(PYTHON) -m venv --clear .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --upgrade pip packaging
	.venv-oldest/bin/python tests/lower_bounds.py > .venv-oldest/constraints.txt
	.venv-oldest/bin/python -m pip install --quiet --config-settings=build-dir=.venv-oldest/objects \
	  --constraint .venv-oldest/constraints.txt --build-constraint .venv-oldest/constraints.txt \
	  .[all] --group quick
	.venv-oldest/bin/python -m pytest -W default::DeprecationWarning $(QUICK)

sdist-test: ## Build the sdist, unpack it elsewhere, install it and run the same part from there
	$(PYTHON) -m venv --clear .venv-sdist
	.venv-sdist/bin/python -m pip install --quiet --upgrade pip build
	.venv-sdist/bin/python -m build --sdist --outdir .venv-sdist/dist
	folder=$$(mktemp -d) && trap "rm -rf $$folder" EXIT && \
	tar -xf .venv-sdist/dist/refold-*.tar.gz --strip-components=1 -C $$folder && cd $$folder && \
	$(CURDIR)/.venv-sdist/bin/python -m pip install --quiet .[paper] --group quick $(LOCK) && \
	$(CURDIR)/.venv-sdist/bin/python -m pytest $(QUICK) tests/test_supply_chain.py

# A wheel that works on other machines too, and is tried where there is nothing: neither a compiler
# nor another package. Extras are tried one after the other; EXTRAS= leaves them out.
EXTRAS ?= every
WHEEL_BIN := .venv-wheel/bin
BARE := PATH=$(CURDIR)/.venv-wheel/of-wheel/bin .venv-wheel/of-wheel/bin/python
wheel: ## Build the sdist and a wheel into dist, install each where nothing is, and try every extra
	rm -rf dist
	$(PYTHON) -m venv --clear .venv-wheel
	$(WHEEL_BIN)/python -m pip install --quiet --upgrade pip
	$(WHEEL_BIN)/python -m pip install --quiet --group wheel
	$(WHEEL_BIN)/python -m build --outdir dist/built
	PATH="$(CURDIR)/$(WHEEL_BIN):$$PATH" $(WHEEL_BIN)/auditwheel repair --wheel-dir dist dist/built/*.whl
	mv dist/built/*.tar.gz dist && rm -r dist/built
	if ls dist/*-abi3-*.whl; then $(WHEEL_BIN)/abi3audit --strict dist/*-abi3-*.whl; fi
	$(WHEEL_BIN)/twine check --strict dist/*
	$(PYTHON) -m venv --clear .venv-wheel/of-sdist
	.venv-wheel/of-sdist/bin/python -m pip install --quiet dist/*.tar.gz
	.venv-wheel/of-sdist/bin/python tests/smoke.py
	$(PYTHON) -m venv --clear .venv-wheel/of-wheel
	$(BARE) -m pip install --quiet --only-binary :all: dist/*.whl
	$(BARE) tests/smoke.py
ifneq ($(EXTRAS),)
	$(BARE) -m pip install --quiet "$$(echo dist/*.whl)[all,benchmark,dask,spark,mlflow,pyod,mcp,great-expectations,dagster,airflow,pandera]"
	$(BARE) tests/smoke.py $(EXTRAS)
endif

# Everything is done in a clone. With DRY_RUN= its commit and tag are taken over at the end; pushing
# the tag publishes it (RELEASING.md).
DRY_RUN ?= yes
release: ## Make VERSION=1.2.3: number, change log, checks, wheels, tag; a dry run unless DRY_RUN=
	folder=$$(mktemp -d) && trap "rm -rf $$folder" EXIT && git clone --quiet . $$folder/refold && \
	cd $$folder/refold && $(PYTHON) tests/release.py prepare "$(VERSION)" && \
	git commit --quiet --all --message "Release $(VERSION)" && \
	git tag --annotate "v$(VERSION)" --message "refold $(VERSION)" && \
	$(PYTHON) tests/release.py "v$(VERSION)" && $(MAKE) test workflows wheel && \
	git show --stat HEAD && cp -r dist $(CURDIR) && $(if $(DRY_RUN), \
	  echo "A dry run: no commit, no tag. What would be published is in dist.", \
	  git -C $(CURDIR) pull --ff-only --tags $$folder/refold HEAD)

lock: ## Write the newest versions that pyproject.toml allows to constraints.txt
	$(PYTHON) -m venv --clear .venv-lock
	.venv-lock/bin/python -m pip install --quiet --upgrade pip
	.venv-lock/bin/python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))\
	['build-system']['requires'], 'cmake', 'ninja', sep='\n')" > .venv-lock/build.txt
	.venv-lock/bin/python -m pip install --quiet --config-settings=build-dir=.venv-lock/objects \
	  .[all] --requirement .venv-lock/build.txt \
	  $(addprefix --group ,lint test test-slow test-spark docs fuzz wheel workflows asv)
	printf '%s\n' "# What make test installs, and users do not: versions known to pass the tests." \
	  "# Made with $$(.venv-lock/bin/python --version); make lock renews it." > constraints.txt
	.venv-lock/bin/python -m pip freeze --exclude refold >> constraints.txt
	$(call LOCK_APART,dbt,dbt-core dbt-duckdb dbt-postgres)
	$(call LOCK_APART,airflow,apache-airflow-core)

define LOCK_APART
	$(PYTHON) -m venv --clear .venv-lock
	.venv-lock/bin/python -m pip install --quiet --only-binary :all: $(2)
	echo "# What the tests of $(1) install, apart from the rest; make lock renews it." > constraints-$(1).txt
	.venv-lock/bin/python -m pip freeze >> constraints-$(1).txt
endef

# The loops built in other ways, in places of their own. There Python is started without its
# site, which would prefer the editable install, and finds the packages by their paths.
build/asan/.package: DEFINE = REFOLD_SANITIZE=address$(comma)undefined
build/tsan/.package: DEFINE = REFOLD_SANITIZE=thread
build/no-threads/.package: DEFINE = REFOLD_THREADS=OFF
build/%/.package: $(COMPILED) $(PYTHON_FILES) | $(VENV)/.test
	$(BIN)/python -m pip install --quiet --no-deps --upgrade --target build/$* \
	  --config-settings=build-dir=build/$*-objects \
	  --config-settings=cmake.build-type=RelWithDebInfo \
	  --config-settings=cmake.define.REFOLD_STRICT=ON \
	  --config-settings=cmake.define.$(DEFINE) .
	@touch $@

APART = PYTHONPATH=build/$@:$$($(BIN)/python -c "import sys; print(*sys.path[1:], sep=':')") \
  $(BIN)/python -S -m pytest --capture=sys -p no:cacheprovider
SANITIZED = LD_PRELOAD="$$($(CXX) -print-file-name=lib$@.so) $$($(CXX) -print-file-name=libstdc++.so)" \
  ASAN_OPTIONS=detect_leaks=0 TSAN_OPTIONS=halt_on_error=1 $(APART)

asan: build/asan/.package ## Run engines and random arrays with AddressSanitizer and UBSan
	REFOLD_FUZZ_CASES=1500 $(SANITIZED) tests/algorithm
	REFOLD_ISA=baseline $(SANITIZED) tests/algorithm/test_kernel_fuzz.py

# NumPy's BLAS is not compiled for it: its own threads would be reported.
tsan: build/tsan/.package ## Run the tests of threads with ThreadSanitizer
	OPENBLAS_NUM_THREADS=1 $(SANITIZED) tests/algorithm -m threads

no-threads: build/no-threads/.package ## Run engines and models with kernels that start no thread, as Pyodide needs them
	! nm --dynamic --undefined-only build/$@/refold/algorithm/kernels/*.so | \
	  grep -E "pthread_create|condition_variable|mutex|thread"
	$(APART) -m "not slow" tests/algorithm tests/models

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
	$(BIN)/clang-format --dry-run --Werror $(KERNELS)
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(VENV)/.test ## Put the code into the project's format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(KERNELS)

workflows: $(BIN)/python ## Look for faults in the workflow files; actionlint too, where it is installed
	$(BIN)/python -m pip install --quiet --group workflows
	$(BIN)/zizmor --offline .github
	if command -v actionlint; then actionlint; fi

bench: $(VENV)/.bench ## Compare speed and memory with other libraries
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.parquet
	$(BIN)/python -m benchmarks.duckdb_scale
	$(BIN)/python -m benchmarks.serving
	$(BIN)/python -m benchmarks.one_row
	$(BIN)/python -m benchmarks.creased
	$(BIN)/python -m benchmarks.beside_peers
	$(BIN)/python -m benchmarks.context
	$(BIN)/python -m benchmarks.modelfile
	$(BIN)/python -m benchmarks.tables
	$(BIN)/python -m benchmarks.csv_file
	$(BIN)/python -m benchmarks.report

# A warning is an error: a link or a name that leads nowhere, an example that fails.
docs: $(VENV)/.test-slow ## Build the site: build/docs/index.html
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet docs build/docs

images: $(VENV)/.test-slow ## Draw the picture of README.md again
	$(BIN)/python docs/extensions/drawn_pictures.py docs/pictures/overview.py docs/images/overview.png

screenshots: $(VENV)/.test-slow ## Take pictures of each step of refold app, for docs/app.md
	$(BIN)/python -m tests.app.screenshots docs/images

clean: ## Remove what the other targets made
	rm -rf $(VENV) .venv-airflow .venv-dbt .venv-lock .venv-oldest .venv-sdist .venv-wheel build dist
	rm -rf docs/auto_gallery docs/drawn docs/reference/*/
