#!/usr/bin/env bash
# The running server keeps what /openapi.json says: schemathesis calls every operation with generated inputs, good ones
# and bad ones, and finds no answer that is not described, and no 500.
#
#   scripts/test-openapi.sh                  a minute
#   EXAMPLES=500 scripts/test-openapi.sh     500 examples for each operation; further arguments go to `st run`
#   TANDEM_BIN=...                           this program, instead of the one that cargo builds here
set -euo pipefail
cd "$(dirname "$0")/.."
target="${CARGO_TARGET_DIR:-$PWD/target}"
tools="$(scripts/python-tool.sh schemathesis "schemathesis==4.32.*")"
[ -n "${TANDEM_BIN:-}" ] || cargo build --quiet --bin tandem

work="$(mktemp -d)"
# Only what this script says: a key in the environment would choose a real model.
env -i PATH="$PATH" HOME="$work" MODEL=scripted RUST_LOG="${RUST_LOG:-error}" OUTBOX_DIR="$work/outbox" \
  STREAM_WINDOW_MS=300 KEEP_ALIVE_MS=100 \
  "${TANDEM_BIN:-$target/debug/tandem}" dev --port 0 --data "$work/data" 2>"$work/log" &
server=$!
trap 'kill "$server" 2>/dev/null; wait "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
url=
for _ in $(seq 200); do
  url="$(sed -nE 's/^tandem dev at (http[^,]*),.*/\1/p' "$work/log")"
  [ -n "$url" ] && break
  kill -0 "$server" 2>/dev/null || { cat "$work/log" >&2; exit 1; }
  sleep 0.1
done
[ -n "$url" ] || { echo "tandem dev did not start" >&2; cat "$work/log" >&2; exit 1; }

status=0
SCHEMATHESIS_HOOKS=tests/openapi/hooks.py PYTHONDONTWRITEBYTECODE=1 \
  "$tools/st" --config-file tests/openapi/schemathesis.toml run "$url/openapi.json" \
  --max-examples "${EXAMPLES:-5}" --continue-on-failure --request-timeout 60 "$@" || status=$?
if [ "$status" -ne 0 ]; then
  echo "--- what the server wrote:" >&2
  tail -50 "$work/log" >&2
fi
exit "$status"
