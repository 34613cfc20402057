# Everything a maintainer does often; each line is also what CI runs.
PYTHON ?= python3

.PHONY: help test lint pyz findings gpu-test

help: ## show the targets
	@grep -E '^[a-z-]+:.*##' Makefile | sed 's/:.*##/:/'

test: ## make environments of their own and run all tests that need no GPU
	$(PYTHON) tests/run.py

lint: ## style, formatting and types (in the environment that `make test` made)
	build/tests/venv/bin/ruff check .
	build/tests/venv/bin/ruff format --check .
	build/tests/venv/bin/mypy

pyz: ## build dist/agent.pyz and dist/agent.py, the same bytes from the same input
	$(PYTHON) packaging/pyz.py

findings: ## write docs/findings.md anew from the catalogue
	$(PYTHON) -m agent.catalogue > docs/findings.md

gpu-test: ## every test that needs a GPU, and a bundle, on a machine that has one
	$(PYTHON) tests/run.py -m gpu
	build/tests/venv/bin/python -m agent run \
	  --python $${FIRSTLIGHT_TORCH_PYTHON:-build/tests/torch/bin/python}
