#!/usr/bin/env bash
# A Python package with a program, in a virtual environment below .tools/; installs it where it is missing or another
# version. Prints the folder of its programs.
#
#   scripts/python-tool.sh NAME PACKAGE     such as: schemathesis "schemathesis==4.32.*"
set -euo pipefail
cd "$(dirname "$0")/.."
venv=".tools/$1" package="$2"
if [ "$(cat "$venv/installed" 2>/dev/null)" != "$package" ]; then
  command -v python3 >/dev/null || { echo "python3 is needed" >&2; exit 1; }
  echo "Installing $package into $venv" >&2
  rm -rf "$venv"
  python3 -m venv "$venv" || { echo "python3 has no venv module (Debian: apt-get install python3-venv)" >&2; exit 1; }
  "$venv/bin/pip" install --quiet --disable-pip-version-check "$package" >&2
  echo "$package" >"$venv/installed"
fi
echo "$PWD/$venv/bin"
