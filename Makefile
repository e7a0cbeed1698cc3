# `make demo` and `make test` each do all of their own set-up; nothing but Python 3.11 is needed beforehand.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

.PHONY: demo test test-all lint check bench dist clean

demo: $(VENV)/.installed
	$(BIN)/acidtest demo
	@echo
	@echo 'To go on:  . $(BIN)/activate'

# TiDB is built beforehand where Go is on the machine, because that takes longer than a test may.
test: $(VENV)/.installed-dev
	-! command -v go >/dev/null || $(BIN)/acidtest server install tidb@5.4.2
	ACIDTEST_PROVIDE=1 $(BIN)/python -m pytest

# Every server that a test asks for, TiDB built from source among them: gigabytes, and half an hour or more.
ALL_SERVERS := mariadb@10.1 mariadb@10.2 mariadb@10.5.23 mariadb@10.11 mariadb@11.4 mariadb@11.8 \
  mysql@5.5 mysql@5.6 mysql@5.7 mysql@8.0.12 mysql@8.0.15 mysql@8.0.33 mysql@9.7 \
  postgres@9.6 postgres@12 postgres@15 postgres@16 postgres@18 seekdb tidb@5.4.2 tidb@8.5.4

test-all: $(VENV)/.installed-dev
	$(BIN)/acidtest server install $(ALL_SERVERS)
	ACIDTEST_PROVIDE=all $(BIN)/python -m pytest --timeout 3600

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check src tests
	$(BIN)/ruff format --check src tests
	$(BIN)/mypy

check: lint
	$(BIN)/python -m pytest tests/unit tests/golden

bench: $(VENV)/.installed
	$(BIN)/acidtest bench execute
	$(BIN)/acidtest bench judge
	$(BIN)/acidtest bench fuzz
	$(BIN)/acidtest bench reduce
	$(BIN)/acidtest bench check

# The source archive and the wheel, in dist/.
dist: $(VENV)/.installed-dev
	rm -rf build dist
	$(BIN)/python -m build

clean:
	rm -rf $(VENV) build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[all]'
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@
