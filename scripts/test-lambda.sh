#!/usr/bin/env bash
# The functions and their template as AWS would have them, without Docker and without an account: SAM and cfn-lint check
# the template, an emulated CloudFormation creates it, its permissions are held against the sources, the store speaks to
# another DynamoDB, each bootstrap runs under Lambda's own emulator with the template's environment and events/, and a turn
# streams through cargo lambda's.
set -euo pipefail
cd "$(dirname "$0")/.."
target="${CARGO_TARGET_DIR:-$PWD/target}"
rie="$(scripts/aws-tools.sh --rie)"
cargo build --quiet --workspace --bins
export PYTHONDONTWRITEBYTECODE=1
export TANDEM_BIN="${TANDEM_BIN:-$target/debug/tandem}"
.tools/aws/bin/python -W ignore::UserWarning -m unittest discover --start-directory tests/lambda
.tools/aws/bin/python tests/lambda/emulator.py "$rie" "$target/debug"
CARGO_TARGET_DIR="$target" .tools/aws/bin/python tests/lambda/watch.py
