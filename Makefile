# Two commands on a fresh machine with python3, git and make: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help venv lint types contracts check controlplane tools cluster test test-all demo bench bench-read schemas bench-rehearse golden

# Network namespaces need root: here, or in a user namespace, where the system has them.
AS_ROOT := $(shell [ "$$(id -u)" = 0 ] || [ "$$(uname)" != Linux ] || echo unshare --user --map-root-user)
PYTEST := $(AS_ROOT) $(BIN)/python -m pytest -n 2 --dist worksteal

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

$(READY): requirements-dev.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements-dev.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

venv: $(READY) ## the virtual environment with the locked dependencies

lint: $(READY) ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY) ## mypy, strict
	$(BIN)/mypy

contracts: $(READY) ## the import contracts
	$(BIN)/lint-imports

check: lint types contracts ## lint, types, contracts

controlplane: $(READY) ## the control plane of the tests: from the cache, else built
	@if [ "$$(uname)" = Linux ]; then $(BIN)/python -m tests.rig build; fi

tools: $(READY) ## Helm, kubectl and Flux's applying for the slow tests: from the cache, else built
	@if [ "$$(uname)" = Linux ]; then $(BIN)/python -m tests.rig build -- all; fi

cluster: controlplane ## a control plane to play with, until Ctrl-C
	$(BIN)/python -m tests.rig cluster

ifeq ($(CLUSTER),real)
demo: controlplane
	$(BIN)/python -m tests.rig run -- sh -c '$(BIN)/python -m agent.demo --kubeconfig "$$KUBECONFIG"'
else
demo: $(READY) ## a handoff to watch, in a model cluster; CLUSTER=real: on a real control plane
	$(BIN)/python -m agent.demo
endif

bench: controlplane ## what a tick with nothing to do costs, beside bare LISTs, for 1,000 objects
	$(BIN)/python -m tests.rig run -- $(BIN)/python -m benchmarks.quiet_tick

bench-model: $(READY) ## what a transition of the model costs in a world of 270 objects
	$(BIN)/python -m benchmarks.model

bench-read: $(READY) ## what reading the corpus costs, beside other loaders
	$(BIN)/python -m benchmarks.reading

schemas: controlplane ## renew the shipped schemas of the built-in kinds
	$(BIN)/python -m tests.rig.schemas

bench-rehearse: $(READY) ## how many scenes a rehearsal visits, and what they cost
	$(BIN)/python -m benchmarks.rehearsing

golden: $(READY) ## renew golden files and what the README shows
	TRAPEZE_UPDATE_GOLDEN=1 $(BIN)/python -m pytest -q tests/core/test_render_text.py \
		tests/core/test_render_markdown.py tests/test_demo.py

test: controlplane ## all tests but the slow ones
	$(PYTEST) -m "not slow"

test-all: tools ## all tests, the handoffs also with requests routed by kube-proxy
	$(PYTEST)
	$(PYTEST) tests/e2e -m "not slow" --aggregator-routing=off
