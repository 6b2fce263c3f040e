# Commands for a fresh machine with Python 3.11 or newer: `make demo`, `make test` and `make docs`.
PYTHON ?= python3
RUN = .venv/bin/

.PHONY: demo test docs check fix clean

demo: .venv/installed  ## train, evaluate and compare on the sample world
	$(RUN)embedlab demo

test: check            ## lint, types, import contracts and the default tests
	$(RUN)pytest -n auto

docs: .venv/with-docs   ## the site in build/site; a broken link or an unknown option fails
	NO_MKDOCS_2_WARNING=1 $(RUN)python -m mkdocs build --strict

check: .venv/installed
	$(RUN)ruff check . && $(RUN)ruff format --check . && $(RUN)mypy && $(RUN)lint-imports

fix: .venv/installed
	$(RUN)ruff check --fix . && $(RUN)ruff format .

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "embedlab needs Python 3.11 or newer: make PYTHON=python3.12")'
	$(PYTHON) -m venv .venv
	$(RUN)pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test]'
	touch $@

.venv/with-docs: .venv/installed
	$(RUN)pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test,docs]'
	touch $@

clean:
	rm -rf .venv runs-sample build dist
