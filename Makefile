# `make check` and `make test` need python3 (3.11 or newer), and nothing else that is not in requirements.lock.
#
#   make check             the store against the model, killed at every marked point; the verdict is the last line
#   make test              all tests, on all cores
#   make lint              ruff and mypy
#   make lock              works out requirements.lock again from pyproject.toml (needs a package index)
#   make clean             removes what these targets made
#
# ARGS goes to the command that is run:  make check ARGS='--profile ci'   make test ARGS='-k audit'
# PYTHON says which interpreter to build the environment from:  make check PYTHON=python3.13

PYTHON ?= python3
ARGS ?=

BIN := .venv/bin
STAMP := .venv/.installed-from-lock

# A virtual environment holds absolute paths: in a moved or copied project it would go on running the old
# place's code. So the stamp says where it was made, and a stamp of elsewhere does not count.
ifneq ($(shell cat $(STAMP) 2>/dev/null),$(CURDIR))
.PHONY: $(STAMP)
endif

.PHONY: check test lint lock clean
.DELETE_ON_ERROR:

check: $(STAMP)
	@$(BIN)/holdtrue check $(ARGS)

test: $(STAMP)
	$(BIN)/python -m pytest -n auto $(ARGS)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "holdtrue needs Python 3.11 or newer, and '$(PYTHON)' is: $$($(PYTHON) --version 2>&1)." >&2; \
	  echo "Name another one:  make $(MAKECMDGOALS) PYTHON=python3.13" >&2; exit 2; }
	@if [ -e $(STAMP) ] && [ "$$(cat $(STAMP))" != "$(CURDIR)" ]; then rm -rf .venv; fi
	@$(PYTHON) -m venv .venv || { \
	  echo "'$(PYTHON) -m venv' failed. On Debian and Ubuntu it is a package of its own: python3-venv." >&2; exit 2; }
	@echo "Setting up .venv from requirements.lock ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-index -e .
	@echo "$(CURDIR)" > $(STAMP)

lock:
	$(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip install --quiet --disable-pip-version-check pip-tools==7.6.2
	.venv-lock/bin/pip-compile --quiet --generate-hashes --strip-extras --allow-unsafe --extra dev --no-header \
	  --no-emit-index-url --no-emit-trusted-host --no-emit-find-links -o requirements.lock pyproject.toml
	rm -rf .venv-lock

clean:
	rm -rf .venv .venv-lock build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
