# The only commands that a person needs. Each says what it installs.
.PHONY: dev fmt openapi types test test-quick torture torture-sample check build

SHELL := /usr/bin/env bash
CARGO ?= cargo
# Files that `cargo fmt` does not find, as a macro lists them.
ACTIONS = --edition 2024 shared/catalog/src/*.rs

dev: ## everything in one process on http://127.0.0.1:8787
	@echo "Building; the first time takes three to ten minutes."
	@$(CARGO) build --bin tandem
	@$(CARGO) run --quiet --bin tandem -- dev $(ARGS)

check: ## format, lints and the build of everything
	$(CARGO) fmt --all --check
	rustfmt --check $(ACTIONS)
	$(CARGO) clippy --workspace --all-targets -- -D warnings

fmt: ## format everything
	$(CARGO) fmt --all
	rustfmt $(ACTIONS)

openapi: ## write docs/openapi.json anew, from the routes and the actions
	$(CARGO) build --quiet --bin tandem
	$(CARGO) run --quiet --bin tandem -- openapi > docs/openapi.json.new
	mv docs/openapi.json.new docs/openapi.json

types: openapi ## the same, and the TypeScript types of app/src/api made from it
	scripts/test-types.sh --write

test-quick: ## every Rust test; the end-to-end tests run the programs themselves
	$(CARGO) build --workspace --bins
	$(CARGO) test --workspace

test: test-quick ## every test; installs what it needs into .tools/
	scripts/test-types.sh
	scripts/test-openapi.sh
	scripts/test-clients.sh
	scripts/test-lambda.sh

torture-sample: ## a fixed sample of the faults below
	$(CARGO) build --workspace --bins
	$(CARGO) test -p tandem-tests --test torture

torture: ## every fault at every write; takes an hour or more, and writes the tables of docs/reliability.md
	$(CARGO) build --workspace --bins
	TORTURE=all $(CARGO) test -p tandem-tests --test torture -- --nocapture

build: ## the Lambda functions, as `sam build` makes them
	scripts/aws-tools.sh
	SAM_CLI_TELEMETRY=0 .tools/aws/bin/sam build
