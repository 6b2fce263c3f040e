# Commands for a fresh machine with Python 3.11 or newer: `make demo`, `make test` and `make docs`.
PYTHON ?= python3
CONSTRAINTS ?= constraints.txt
RUN = .venv/bin/
INSTALL = $(RUN)pip install --quiet --disable-pip-version-check -c $(CONSTRAINTS)

.PHONY: demo test research test-gpu gpu-report measure suite docs dist check fix clean

demo: .venv/installed  ## fine-tune a real model, and compare on real pairs
	$(RUN)embedlab demo

test: check measure suite ## lint, types, import contracts and the default tests

measure: .venv/installed ## how large the package is, and how much of it a stored compare goes through
	-$(RUN)python benchmarks/nodes.py
	-$(RUN)python benchmarks/walk.py compare dice wordllama --task starter --data starter

suite: .venv/installed ## the default tests alone: `make suite CONSTRAINTS=constraints-lowest.txt`
	$(RUN)pytest -n auto

docs: .venv/with-docs   ## the site in build/site; a broken link or an unknown option fails
	NO_MKDOCS_2_WARNING=1 $(RUN)python -m mkdocs build --strict

dist: .venv/installed  ## the wheel and the source archive in dist, and the wheel tried in an environment of its own
	rm -rf dist build/fresh
	$(RUN)python -m hatchling build
	$(PYTHON) -m venv build/fresh
	build/fresh/bin/pip install --quiet --disable-pip-version-check -c $(CONSTRAINTS) "$$(echo dist/*.whl)[demo]"
	cd build/fresh && bin/embedlab demo

research: .venv/installed ## the tests of research/: simulations, results pages and their stored scores; whether all programs fit the package
	MYPYPATH=.:benchmarks:benchmarks/fuzz:research/programs $(RUN)mypy --config-file research/mypy.ini benchmarks/*.py benchmarks/fuzz/*.py research/programs/*.py
	$(RUN)pytest -n auto research/tests

# A machine with a GPU may have no network for .venv: then its own Python does.
GPU_PYTHON = $(if $(wildcard .venv/bin/python),$(RUN))python
GPU_TESTS = $$(grep -rl --include='*.py' 'mark\.gpu' tests)

test-gpu: ## the tests marked gpu, on a machine with one; no other test file is read
	$(GPU_PYTHON) -m pytest -m gpu -rs $(GPU_TESTS)

gpu-report: ## at most 8 minutes on a GPU: times beside the peer in benchmarks/results/gpu-training.md, then the tests marked gpu
	-timeout 330 $(GPU_PYTHON) benchmarks/gpu_training.py --minutes 4.5
	timeout 140 $(GPU_PYTHON) -m pytest -m gpu -rs $(GPU_TESTS)

check: .venv/installed
	$(RUN)ruff check . && $(RUN)ruff format --check . && $(RUN)mypy && $(RUN)lint-imports

fix: .venv/installed
	$(RUN)ruff check --fix . && $(RUN)ruff format .

.venv/installed: pyproject.toml $(CONSTRAINTS)
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "embedlab needs Python 3.11 or newer: make PYTHON=python3.12")'
	$(PYTHON) -m venv .venv
	$(INSTALL) -e '.[test]'
	touch $@

.venv/with-docs: .venv/installed
	$(INSTALL) -e '.[test,docs]'
	touch $@

clean:
	rm -rf .venv runs-sample build dist
