# The only commands that a person needs. Each says what it installs.
.PHONY: dev test test-quick torture torture-sample check build

SHELL := /usr/bin/env bash
CARGO ?= cargo

dev: ## everything in one process on http://127.0.0.1:8787
	@echo "Building; the first time takes three to ten minutes."
	@$(CARGO) build --bin tandem
	@$(CARGO) run --quiet --bin tandem -- dev $(ARGS)

check: ## format, lints and the build of everything
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings

test-quick: ## every Rust test; the end-to-end tests run the programs themselves
	$(CARGO) build --workspace --bins
	$(CARGO) test --workspace

test: test-quick ## every test; installs what it needs into .tools/
	scripts/test-clients.sh
	scripts/test-lambda.sh

torture-sample: ## a fixed sample of the faults below
	$(CARGO) build --workspace --bins
	$(CARGO) test -p tandem-tests --test torture

torture: ## every fault at every write; takes long, and writes the tables of docs/reliability.md
	$(CARGO) build --release --bin tandem
	TORTURE=all $(CARGO) test --release -p tandem-tests --test torture -- --nocapture

build: ## the Lambda functions, as `sam build` makes them
	scripts/aws-tools.sh
	SAM_CLI_TELEMETRY=0 .tools/aws/bin/sam build
