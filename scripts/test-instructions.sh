#!/usr/bin/env bash
# What a word and a request cost in instructions: valgrind counts them in shared/http/tests/http/instructions.rs, where the
# bounds stand too (docs/performance.md). A busy machine makes it slow and no count much larger; another compiler does.
#
#   scripts/test-instructions.sh
#   INSTRUCTIONS=require ...       fails where they cannot be counted, instead of saying so
#
# What could not be checked is a line of the file LEFT_OUT too, where that names one.
set -euo pipefail
cd "$(dirname "$0")/.."

missing() {
  echo "NOT CHECKED: instructions, as $1" | tee -a "${LEFT_OUT:-/dev/null}" >&2
  [ "${INSTRUCTIONS:-}" != require ] || exit 1
  exit 0
}

command -v valgrind >/dev/null || missing "there is no valgrind"
[ "$(uname -sm)" = "Linux x86_64" ] || missing "their bounds are those of Linux on x86-64"

binary="$(cargo test --quiet --workspace --test http --no-run --message-format json | python3 -c '
import json, sys
for line in sys.stdin:
    built = json.loads(line)
    if built.get("executable") and built["target"]["name"] == "http":
        print(built["executable"])')"
kept="$(mktemp -d)"
trap 'rm -rf "$kept"' EXIT

# A dump at the end of each call: counted.1, counted.2 and so on.
count() {
  rm -f "$kept"/counted*
  valgrind --tool=callgrind --callgrind-out-file="$kept/counted" --toggle-collect='http::instructions::only_this' \
    --dump-after='http::instructions::only_this' "$binary" --ignored --nocapture instructions:: \
    >"$kept/said" 2>"$kept/valgrind" || { cat "$kept/said" "$kept/valgrind" >&2; return 1; }
}

check() {
  python3 - "$kept" <<'PY'
import re, sys
from pathlib import Path

kept = Path(sys.argv[1])
said = re.findall(r"counted: (.*): (\d+) and (\d+): at most (\d+)$", (kept / "said").read_text(), re.MULTILINE)
dumps = len(list(kept.glob("counted.*")))
if not said or dumps != 2 * len(said):
    sys.exit(f"{len(said)} things were to be counted twice, and {dumps} counts are there")


def total(number):
    return int(re.search(r"^totals: (\d+)", (kept / f"counted.{number}").read_text(), re.MULTILINE)[1])


# Within its bounds in an earlier try.
held = set((kept / "held").read_text().splitlines()) if (kept / "held").exists() else set()
for at, (what, few, many, most) in enumerate(said):
    each = (total(2 * at + 2) - total(2 * at + 1)) / (int(many) - int(few))
    print(f"{what}: {each:,.0f} instructions, at most {int(most):,}")
    # Under half of it the bound would hold nothing.
    if int(most) / 2 <= each <= int(most):
        held.add(what)
(kept / "held").write_text("\n".join(held))
failed = [what for what, *_ in said if what not in held]
if failed:
    sys.exit("Not between half of what it may cost and that: " + "; ".join(failed))
PY
}

# Who follows a run reads its log once more where the run's holder is late, which a machine that is very busy decides: what
# a thing costs is its best of three tries.
for try in 1 2 3; do
  count
  if check; then exit 0; fi
  [ "$try" = 3 ] || echo "Counting again" >&2
done
exit 1
