# The only commands that a person needs. Each says what it installs.
.PHONY: app dev fmt openapi types test test-quick torture torture-sample bench check build watch-functions deploy \
	deploy-ui logs rotate-keys set

SHELL := /usr/bin/env bash
CARGO ?= cargo
# Files that `cargo fmt` does not find, as a macro lists them.
ACTIONS = --edition 2024 shared/catalog/src/*.rs

dev: ## everything in one process on http://127.0.0.1:8787
	@echo "Building; the first time takes three to ten minutes."
	@$(CARGO) build --bin tandem
	@scripts/build-app.sh || echo "The user interface was not built; the endpoints work without it."
	@$(CARGO) run --quiet --bin tandem -- dev $(ARGS)

app: ## the web application, built into app/dist
	scripts/build-app.sh

check: ## format, lints and the build of everything, the web application too
	@# First, as the commands below would put a stale Cargo.lock right.
	$(CARGO) metadata --locked --format-version 1 --filter-platform x86_64-unknown-linux-gnu >/dev/null
	$(CARGO) fmt --all --check
	rustfmt --check $(ACTIONS)
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	@# Not of all targets, as `cargo test` leaves it out.
	$(CARGO) clippy --workspace --test torture -- -D warnings
	scripts/test-app.sh --check

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

test: test-quick torture-sample ## every test; installs what it needs into .tools/
	scripts/test-instructions.sh
	scripts/test-supply-chain.sh
	scripts/test-types.sh
	scripts/test-openapi.sh
	scripts/test-clients.sh
	scripts/test-app.sh
	scripts/test-lambda.sh

torture-sample: ## a fixed sample of the faults below
	$(CARGO) build --workspace --bins
	$(CARGO) test --workspace --test torture

torture: ## every fault at every write; takes an hour or more, and writes the tables of docs/reliability.md
	$(CARGO) build --profile torture --bin tandem
	TORTURE=all TANDEM_BIN="$${CARGO_TARGET_DIR:-$(CURDIR)/target}/torture/tandem" \
		$(CARGO) test --workspace --test torture -- --nocapture

bench: ## what the runtime costs, into target/bench; ARGS="chunks --repeat 5" for some figures, ARGS=--help lists them
	$(CARGO) build --release --bins --workspace
	TANDEM_BIN="$${TANDEM_BIN:-$${CARGO_TARGET_DIR:-$(CURDIR)/target}/release/tandem}" \
		$(CARGO) run --quiet --release --bin tandem-bench -- $(ARGS)

build: ## the Lambda functions, as `sam build` makes them; for arm64 where this machine can
	scripts/build-functions.sh

watch-functions: ## the functions under `cargo lambda watch`, on http://127.0.0.1:9000 (PORT=...)
	scripts/watch-functions.sh

# An environment of samconfig.toml: default, dev or prod.
ENV ?= dev
STACK = $(if $(filter default,$(ENV)),tandem,tandem-$(ENV))

deploy: ## what was built, to ENV; PARAMETERS="OidcIssuer=... OidcAudience=..." are kept by the stack
	scripts/aws-tools.sh
	scripts/deploy.sh $(ENV) $(PARAMETERS)

set: ## other parameters for ENV as it is deployed, without a build: PARAMETERS="LogLevel=DEBUG"
	scripts/aws-tools.sh
	.tools/aws/bin/python scripts/set-parameters.py $(STACK) $(PARAMETERS)

deploy-ui: ## the user interface, built and put into the bucket of a stack with Ui=true
	scripts/aws-tools.sh
	scripts/build-app.sh
	.tools/aws/bin/python scripts/upload-app.py $(STACK)

logs: ## the log lines of ENV's functions as they come; ARGS="-s '1 hour ago'" for earlier ones
	scripts/aws-tools.sh
	SAM_CLI_TELEMETRY=0 .tools/aws/bin/sam logs --stack-name $(STACK) $(or $(ARGS),--tail)

rotate-keys: ## a new key for dispatches in ENV, without a pause; takes half an hour
	scripts/aws-tools.sh
	.tools/aws/bin/python scripts/rotate-dispatch-keys.py $(STACK)
