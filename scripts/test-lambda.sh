#!/usr/bin/env bash
# The functions as Lambda would run them, without Docker and without an account: SAM checks the template, and each
# bootstrap runs under Lambda's own emulator with the template's environment and events/*.json.
set -euo pipefail
cd "$(dirname "$0")/.."
target="${CARGO_TARGET_DIR:-$PWD/target}"
rie="$(scripts/aws-tools.sh --rie)"
cargo build --quiet --workspace --bins
PYTHONDONTWRITEBYTECODE=1 .tools/aws/bin/python tests/lambda/emulator.py "$rie" "$target/debug" .tools/aws/bin/sam
