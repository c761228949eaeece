# `make` lists the targets. PYTHON=... picks the interpreter; everything else lives in .venv.
PYTHON ?= python3
BIN    := .venv/bin
JOBS   ?= 2

# Tests start a hundred processes and more: each would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test guards lint bench coverage clean

help: ## list the targets
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/'

$(BIN)/qdialect-opt: pyproject.toml
	$(PYTHON) -m venv .venv
	# compat: a plain path in site-packages, which type checkers and editors find; the default is a hook that they do not run.
	$(BIN)/pip install -qq --disable-pip-version-check --config-settings editable_mode=compat --editable '.[dev]'
	@touch $@

demo: $(BIN)/qdialect-opt ## compile a trained int8 model: kernels, accuracy and latency, before and after
	@$(BIN)/python examples/demo.py

test: $(BIN)/qdialect-opt ## lit, then pytest
	$(BIN)/lit --quiet -j $(JOBS) test
	$(BIN)/pytest --quiet --numprocesses $(JOBS)

guards: export QDIALECT_REASONS_MET := $(CURDIR)/build/reasons.txt
guards: $(BIN)/qdialect-opt ## lit and pytest, and every reason that a pass declares was met in some test
	mkdir -p build
	: > $(QDIALECT_REASONS_MET)
	$(BIN)/lit --quiet -j $(JOBS) test
	$(BIN)/pytest --quiet --numprocesses $(JOBS)
	@$(BIN)/python test/support/declared_reasons.py

lint: $(BIN)/qdialect-opt ## ruff and pyright (strict)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python

bench: $(BIN)/qdialect-opt ## compile time and memory against onnxruntime's offline optimizer
	$(BIN)/python benchmarks/compile_time.py

coverage: export COVERAGE_FILE = $(CURDIR)/.coverage
coverage: $(BIN)/qdialect-opt ## line and branch coverage of lit and pytest together
	$(BIN)/coverage run $(BIN)/lit --quiet -j $(JOBS) test
	$(BIN)/coverage run -m pytest --quiet
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

clean: ## remove what the targets made
	rm -rf .venv build *.egg-info .coverage*
