#!/usr/bin/env bash
# Builds the Lambda functions as `sam build` makes them, for arm64 where this machine can, else for its own kind.
# What it was is in .aws-sam/architecture, for scripts/deploy.sh, and what it is made of in .aws-sam/sbom.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/aws-tools.sh

architecture=arm64
if [ ! -d "$(rustc --print target-libdir --target aarch64-unknown-linux-gnu)" ]; then
    if [ "$(uname -m)" = x86_64 ]; then
        architecture=x86_64
        echo "build-functions: for x86_64, as Rust's arm64 target is not installed" \
            "(rustup target add aarch64-unknown-linux-gnu); arm64 costs a fifth less" >&2
    else
        echo "build-functions: rustup target add aarch64-unknown-linux-gnu, then try again" >&2
        exit 1
    fi
fi
# cargo-lambda and zig are in there.
PATH="$PWD/.tools/aws/bin:$PATH" SAM_CLI_TELEMETRY=0 sam build --parameter-overrides "Architecture=$architecture"
echo "$architecture" >.aws-sam/architecture
scripts/bill-of-materials.sh .aws-sam/sbom
