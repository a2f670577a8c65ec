# Everything runs in .venv, made from the lock file, so that a machine with only Python, git and make is enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test faults defects check lock clean

demo: $(VENV)/.ready ## start a local Kafka and a worker, publish articles, show the verdicts: make demo [FILE=articles.jsonl]
	$(BIN)/stream-dedup demo $(if $(FILE),"$(FILE)")

test: $(VENV)/.ready ## run the tests: make test [ARGS="-k index"]
	$(BIN)/python -m pytest $(ARGS)

faults: $(VENV)/.ready ## kill workers at every point, on a Kafka of its own: make faults [ARGS="--seeds 1 2 3"]
	$(BIN)/python -m tests.faults.matrix $(ARGS)

defects: $(VENV)/.ready ## put known defects into a copy of the source, one by one: each must make its tests fail
	$(BIN)/python -m tests.faults.defects $(ARGS)

check: $(VENV)/.ready ## lint, types and layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

$(VENV)/.ready: requirements-dev.lock pyproject.toml
	@echo "Setting up $(VENV) (once; about a minute)"
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "stream-dedup needs Python 3.11 or later; this is " + sys.version.split()[0] + ": make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

lock: ## write the lock files anew from pyproject.toml (needs uv)
	uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --custom-compile-command "make lock" --output-file requirements.lock
	uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --generate-hashes --custom-compile-command "make lock" --output-file requirements-dev.lock

clean: ## remove the environment and the local broker's data
	rm -rf $(VENV) .stream-dedup
