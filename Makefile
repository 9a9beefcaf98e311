# `make demo` and `make test` each do all the set-up they need on a fresh machine.
#
#   make demo          the main job on examples/: write, build, verify and time kernels, print a table
#   make test          the tests
#   make test-verl     the tests of training at scale, in an environment with verl and Ray of its own (slow)
#   make check         lint, format, types, floors
#   make judge-report  what the judge makes of known cheats and honest kernels; writes docs/judge.md
#   make size          lines of code by room
#   make docs          rewrite the generated parts of the documents, and docs/site/ from docs/results/
#
# PYTHON=...                          which interpreter (3.11 or newer) to make the environment with
# VENV_FLAGS=--system-site-packages   keep the torch that is already installed
# WHEELS=DIR                          install from the wheels in DIR, without network
# JOBS=N                              parallel test processes

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := demo
.PHONY: demo test test-verl check judge-report size docs venv clean

VENV := .venv
VERL := .venv-verl
BIN := $(VENV)/bin
JOBS ?= 2
VENV_FLAGS ?=
WHEELS ?=
PYTHON ?=
POLICY ?= expert
ARGS ?=

demo: $(VENV)/.stamp
	@$(BIN)/cuda-agent run examples/*.py --policy $(POLICY) $(ARGS)

# Tests that measure time would disturb each other, so they run alone, afterwards.
test: $(VENV)/.stamp-dev
	@$(BIN)/pytest -q -n $(JOBS) --dist loadgroup -m "not timing" $(ARGS)
	@$(BIN)/pytest -q -m timing $(ARGS) || [ $$? = 5 ] # 5: no such test was selected

test-verl: $(VERL)/.stamp
	@$(VERL)/bin/python -m pytest -q -m "verl or ray" --run-slow tests/rl tests/workers tests/cli $(ARGS)

check: $(VENV)/.stamp-dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

judge-report: $(VENV)/.stamp-dev
	@$(BIN)/python -m scripts.judge_report $(ARGS)

size:
	@find src tests -name '*.py' -not -path '*/skill/*' -print0 | xargs -0 wc -l | awk ' \
	  $$2 == "total" { next } \
	  { n = split($$2, p, "/"); \
	    room = p[1] == "src" ? (n > 3 ? p[3] : "(floor 0 and 1)") : "tests"; \
	    lines[room] += $$1; files[room]++; sum += $$1; count++ } \
	  END { for (r in lines) printf "%-18s %4d files %6d lines\n", r, files[r], lines[r] | "sort"; \
	        close("sort"); printf "%-18s %4d files %6d lines\n", "total", count, sum }'

docs: $(VENV)/.stamp-dev
	@$(BIN)/python scripts/readme_tree.py --write
	@$(BIN)/cuda-agent report docs/results --out docs/site

venv: $(VENV)/.stamp-dev

export PYTHON VENV_FLAGS WHEELS

$(VENV)/.stamp: pyproject.toml constraints.txt scripts/venv.sh
	@scripts/venv.sh $(VENV)
	@touch $@

$(VENV)/.stamp-dev: $(VENV)/.stamp
	@scripts/venv.sh $(VENV) dev
	@touch $@

$(VERL)/.stamp: pyproject.toml constraints-verl.txt scripts/venv.sh
	@CONSTRAINTS=constraints-verl.txt scripts/venv.sh $(VERL)
	@CONSTRAINTS=constraints-verl.txt scripts/venv.sh $(VERL) verl-dev
	@touch $@

clean:
	rm -rf $(VENV) $(VERL) build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
