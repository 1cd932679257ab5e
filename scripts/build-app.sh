#!/usr/bin/env bash
# Builds the web application into app/dist. Does nothing when that is up to date.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH="$(scripts/node.sh):$PATH"
export PATH
cd app
if [ ! -d node_modules ] || [ package-lock.json -nt node_modules ]; then
  echo "Installing what the web application is made of" >&2
  # Not `npm ci`: it refuses a lock file that leaves out another system's optional package.
  npm install --no-save --silent --no-audit --no-fund
  touch node_modules
fi
sources=(index.html package.json package-lock.json tsconfig.json vite.config.ts src public)
if [ -f dist/index.html ] && [ -z "$(find "${sources[@]}" -newer dist/index.html -print -quit)" ]; then
  exit 0
fi
npm run --silent build -- --logLevel warn
touch dist/index.html
