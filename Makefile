# Sets up a virtual environment in .venv by itself; every target is quick when it is there already.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --disable-pip-version-check install -qq --constraint constraints.txt
# One test process more than cores, as some wait for browsers, servers and disks; but at most four.
JOBS ?= $(shell n=$$(nproc 2>/dev/null || echo 2); [ $$n -gt 3 ] && n=3; echo $$((n + 1)))

# Images often forbid bytecode; every process that a test starts would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test verify check bench docs wheel clean

demo: $(VENV)/.demo
	@$(BIN)/bestgroup demo

# A file at a time, in their order: the last ones are small, so that no process waits long for another.
test: $(VENV)/.test $(VENV)/.browser
	@$(BIN)/python -m pytest -q -n $(JOBS) --dist loadfile --no-loadscope-reorder --max-worker-restart 0

# Heavy statistical runs: error rates, laws, long property tests. docs/verification.md keeps what they print.
verify: $(VENV)/.test $(VENV)/.browser docs
	@$(BIN)/python -m pytest -q -n $(JOBS) --dist load -m verify -rP tests

check: $(VENV)/.check
	@$(BIN)/ruff check src tests benchmarks
	@$(BIN)/ruff format --check src tests benchmarks
	@$(BIN)/pyright
	@$(BIN)/python -m pytest -q tests/test_architecture.py

docs: $(VENV)/.docs
	@$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

# The wheel alone in a new environment, then each extra by itself.
wheel: $(VENV)/.made
	@$(BIN)/python .ci/wheel

bench: $(VENV)/.test
	@for script in benchmarks/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

clean:
	@rm -rf $(VENV) docs/_build docs/generated .pytest_cache .ruff_cache .hypothesis demo-output

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "error: bestgroup needs Python 3.11 or newer; set PYTHON=..."; exit 2; }
	@echo "setting up $(VENV) (once)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.demo: $(VENV)/.made pyproject.toml constraints.txt
	@$(PIP) --editable '.[plots]'
	@touch $@

$(VENV)/.test: $(VENV)/.made pyproject.toml constraints.txt
	@$(PIP) --editable '.[test]'
	@touch $@ $(VENV)/.demo

# The browser tests are left out, with a word, where no Chromium can be had.
$(VENV)/.browser: $(VENV)/.test tests/browser/install.sh
	@sh tests/browser/install.sh $(BIN)/playwright
	@touch $@

$(VENV)/.docs: $(VENV)/.made pyproject.toml constraints.txt
	@$(PIP) --editable '.[docs]'
	@touch $@ $(VENV)/.demo

$(VENV)/.check: $(VENV)/.test
	@$(PIP) --editable '.[test,check]'
	@touch $@
