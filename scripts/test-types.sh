#!/usr/bin/env bash
# The description of the API is valid OpenAPI 3.1, the TypeScript types in app/src/api are made from it, and tsc accepts
# them.
#
#   scripts/test-types.sh            check; fails where the types are not up to date
#   scripts/test-types.sh --write    write the types anew
set -euo pipefail
cd "$(dirname "$0")/.."
PATH="$(scripts/node.sh):$PATH"
export PATH
cd app
if [ ! -d node_modules ] || [ package-lock.json -nt node_modules ]; then
  echo "Installing what the web application is made of"
  # Not `npm ci`: it refuses a lock file that leaves out another system's optional package.
  npm install --no-save --silent --no-audit --no-fund
  touch node_modules
fi
npx --no-install validate-api ../docs/openapi.json
fresh="$(mktemp -d)"
trap 'rm -rf "$fresh"' EXIT
npx --no-install openapi-typescript ../docs/openapi.json --output "$fresh/schema.d.ts" >/dev/null
if [ "${1:-}" = --write ]; then
  cp "$fresh/schema.d.ts" src/api/schema.d.ts
elif ! diff -q "$fresh/schema.d.ts" src/api/schema.d.ts >/dev/null; then
  diff "$fresh/schema.d.ts" src/api/schema.d.ts | head -20 >&2 || true
  echo "app/src/api/schema.d.ts is not made from docs/openapi.json. Write it anew with: make types" >&2
  exit 1
fi
npm run --silent check
echo "The description is valid, and its types are up to date."
