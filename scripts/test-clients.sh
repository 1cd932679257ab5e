#!/usr/bin/env bash
# The stock npm clients against the real program.
set -euo pipefail
cd "$(dirname "$0")/.."
target="${CARGO_TARGET_DIR:-$PWD/target}"
PATH="$(scripts/node.sh):$PATH"
export PATH TANDEM_BIN="$target/debug/tandem"
cargo build --quiet --bin tandem
cd tests/clients
if [ ! -d node_modules ] || [ package-lock.json -nt node_modules ]; then
  echo "Installing the npm clients"
  # Not `npm ci`: it refuses a lock file that leaves out another system's optional package.
  npm install --no-save --silent --no-audit --no-fund
  touch node_modules
fi
npm test
