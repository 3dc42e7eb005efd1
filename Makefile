# Every target creates the environment it needs; `make demo` and `make test` work on a clean clone.
PYTHON ?= python3
BIN := .venv/bin
LEAN := .venv/.lean
READY := .venv/.ready
CLIP ?= $(firstword $(wildcard $(or $(BUDGETSEG_DATA),../shared/data)/clips/*.mp4))

.PHONY: demo test browser tables docs commands figures lint format clean
.DEFAULT_GOAL := demo

$(LEAN): pyproject.toml  # the package and what it runs with, nothing else
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(READY): $(LEAN)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,docs,test-train]'
	$(BIN)/python -c "import budgetseg; [budgetseg.load(name, space=space) for name, space in (('synthetic', 'regions'), ('camvid', 'frames'), ('camvid', 'regions'))]"  # compiles, once
	touch $@

demo: $(LEAN)  ## a rendered street at three budgets, and a real clip: CLIP=VIDEO, or one of the data at hand
	$(BIN)/budgetseg demo --output demo $(if $(CLIP),--clip "$(CLIP)")

test: $(READY)  ## run the whole test suite
	$(BIN)/python -m pytest

browser:  ## a browser for the tests of pages, where there is none (Debian, Ubuntu; as root)
	command -v chromium >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; }

tables: $(READY)  ## the paper's tables and figures from ROOT, which holds camvid/ and suny/: hours
	@test -n "$(ROOT)" || { echo "say where camvid/ and suny/ are: make tables ROOT=DIR"; exit 2; }
	BIN=$(BIN) benchmarks/reproduce.sh "$(ROOT)" $(OUT)

docs: $(READY)  ## the documentation as a site, in site/; warnings are errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

commands: $(READY)  ## bring the pages of commands and of the Python API up to date with the code
	$(BIN)/python -m docs.scripts.commands
	$(BIN)/python -m docs.scripts.api

figures: $(READY)  ## the pictures of README.md and docs/concepts.md; trains a small model in figures-work/ first
	$(BIN)/python -m docs.figures.diagrams
	$(BIN)/python -m docs.figures.budgets figures-work/demo
	$(BIN)/python -m docs.figures.concepts figures-work

lint: $(READY)  ## formatting, lint, types, import direction
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)  ## let ruff rewrite what it can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:  ## forget the environment, compiled code and every output
	rm -rf .venv demo site figures-work .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find budgetseg -name __pycache__ -type d -prune -exec rm -rf {} +
