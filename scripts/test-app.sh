#!/usr/bin/env bash
# The web application: types, lint, unit tests, its weight, and then a person's journeys in Chromium against the real
# program. Ends with what took how long; where GITHUB_STEP_SUMMARY names a file, that is written there too.
#
#   scripts/test-app.sh                everything
#   scripts/test-app.sh --check        types and lint
#   scripts/test-app.sh --quick        without the browser
#   scripts/test-app.sh JOURNEY...     only these files of app/e2e, such as inbox
#
# TANDEM_BIN names a program that is built already; without it the debug build of this checkout is made. JOURNEYS=require
# fails where there is no browser, instead of leaving the journeys out. What was left out, or passed only when it was tried
# again, is a line of the file LEFT_OUT too, where that names one.
set -euo pipefail
cd "$(dirname "$0")/.."

summary=""
# step NAME COMMAND...: runs it, and keeps how long it took.
step() {
  local name="$1" began="$SECONDS" result="done"
  shift
  "$@" || result="failed"
  summary+="| $name | $result | $((SECONDS - began)) s |"$'\n'
  [ "$result" = "done" ] || finish 1
}

finish() {
  [ -z "$summary" ] || printf '\n| web application | | |\n| --- | --- | --- |\n%s' "$summary" | tee -a "${GITHUB_STEP_SUMMARY:-/dev/null}"
  exit "$1"
}

in_app() { (cd app && npm run --silent "$@"); }

# Debian and Ubuntu have a package; elsewhere a browser is the person's own business.
find_chromium() {
  [ ! -x "${CHROMIUM:-/usr/bin/chromium}" ] || return 0
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "There is no Chromium for the journeys, and only root on Debian or Ubuntu can install it here." >&2
    echo "Install it yourself, or name one with CHROMIUM, and run scripts/test-app.sh again." >&2
    [ "${JOURNEYS:-}" != require ] || return 1
    echo "NOT CHECKED: the journeys through the web application, as there is no Chromium" | tee -a "${LEFT_OUT:-/dev/null}" >&2
    summary+="| journeys | left out, no Chromium | |"$'\n'
    finish 0
  fi
  echo "Installing Debian's chromium" >&2
  apt-get update -qq >/dev/null && apt-get install -qq -y --no-install-recommends chromium >/dev/null
}

build_program() {
  [ -z "${TANDEM_BIN:-}" ] || return 0
  cargo build --quiet --bin tandem || return 1
  TANDEM_BIN="${CARGO_TARGET_DIR:-$PWD/target}/debug/tandem"
}

step "build" scripts/build-app.sh
PATH="$(scripts/node.sh):$PATH"
export PATH
step "types" in_app check
step "lint" in_app lint
[ "${1:-}" != --check ] || finish 0
step "unit tests" in_app test
step "weight" in_app budget
[ "${1:-}" != --quick ] || finish 0
step "browser" find_chromium
step "program" build_program
export TANDEM_BIN
step "journeys" in_app e2e -- "$@"
finish 0
