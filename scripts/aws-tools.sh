#!/usr/bin/env bash
# Installs the AWS tools that need neither Docker nor an account into .tools/aws: sam, cargo-lambda, cfn-lint, the
# Lambda Runtime Interface Emulator that comes with sam, and moto, which emulates AWS for tests. Does nothing when they
# are there already.
#
#   scripts/aws-tools.sh            install
#   scripts/aws-tools.sh --rie      print the emulator's path
set -euo pipefail

cd "$(dirname "$0")/.."
venv=.tools/aws
# The versions that template.yaml was checked with. zig is the C compiler and linker of cargo-lambda.
packages=(
    aws-sam-cli==1.170.0 cfn-lint==1.58.0 cargo-lambda==1.9.2 ziglang==0.17.1
    "moto[cloudformation,dynamodb]==5.2.5" flask-cors==6.0.5
)
stamp="$venv/installed"

say() { echo "aws-tools: $*" >&2; }

rie() {
    local machine
    case "$(uname -m)" in
    aarch64 | arm64) machine=arm64 ;;
    *) machine=x86_64 ;;
    esac
    find -L "$PWD/$venv" -path "*/samcli/local/rapid/aws-lambda-rie-$machine" -print -quit
}

if [ "$(cat "$stamp" 2>/dev/null)" != "${packages[*]}" ]; then
    command -v python3 >/dev/null || { say "python3 is needed"; exit 1; }
    say "installing ${packages[*]} into $venv, which takes two minutes"
    rm -rf "$venv"
    python3 -m venv "$venv" || { say "python3 has no venv module (Debian: apt-get install python3-venv)"; exit 1; }
    "$venv/bin/pip" install --quiet --disable-pip-version-check "${packages[@]}"
    # pip unpacks the emulator as data, without the right to run it.
    chmod +x "$(rie)"
    echo "${packages[*]}" >"$stamp"
    say "done: $("$venv/bin/sam" --version), $("$venv/bin/cargo-lambda" lambda --version)"
else
    say "$venv is up to date"
fi

if [ "${1:-}" = --rie ]; then
    rie
fi
