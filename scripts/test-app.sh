#!/usr/bin/env bash
# The web application: types, lint, unit tests, its weight, and then a person's journeys in Chromium against the real
# program.
#
#   scripts/test-app.sh                everything
#   scripts/test-app.sh --quick        without the browser
#   scripts/test-app.sh JOURNEY...     only these files of app/e2e, such as inbox
#
# TANDEM_BIN names a program that is built already; without it the debug build of this checkout is made.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/build-app.sh
PATH="$(scripts/node.sh):$PATH"
export PATH
(
  cd app
  npm run --silent check
  npm run --silent lint
  npm run --silent test
  npm run --silent budget
)
[ "${1:-}" != --quick ] || exit 0

if [ ! -x "${CHROMIUM:-/usr/bin/chromium}" ]; then
  echo "Installing Debian's chromium" >&2
  if ! { apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium; } >/dev/null; then
    echo "Chromium is needed, and apt-get cannot install it here: install it yourself, or name one with CHROMIUM." >&2
    exit 1
  fi
fi
if [ -z "${TANDEM_BIN:-}" ]; then
  cargo build --quiet --bin tandem
  TANDEM_BIN="${CARGO_TARGET_DIR:-$PWD/target}/debug/tandem"
fi
export TANDEM_BIN
cd app
npm run --silent e2e -- "$@"
