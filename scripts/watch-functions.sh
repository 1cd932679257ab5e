#!/usr/bin/env bash
# The functions under `cargo lambda watch`, with a database in memory: a change is built and started with the next
# request. They begin to build with their first one, which takes minutes.
#
#   scripts/watch-functions.sh            on http://127.0.0.1:9000; another port: PORT=9001
#   scripts/watch-functions.sh --built    with the functions as they were built, for scripts/test-lambda.sh
#
# What it is not: Lambda. Dispatches are waited for and not queued, and nothing is over time or frozen
# (tests/tests/e2e/lambda has that).
set -euo pipefail
cd "$(dirname "$0")/.."
port="${PORT:-9000}"
target="${CARGO_TARGET_DIR:-$PWD/target}/debug"
scripts/aws-tools.sh 2>/dev/null
[ "${1:-}" = --built ] || cargo build --quiet --bin tandem

said="$(mktemp)"
# Whoever ends this ends what it started.
trap 'trap - EXIT INT TERM; kill $(jobs -p) 2>/dev/null; wait; rm -f "$said"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
"$target/tandem" dynamodb --port 0 >"$said" 2>&1 &
for _ in $(seq 100); do
    database="$(grep -o 'http://[0-9.:]*' "$said" | head -n 1 || true)"
    [ -z "$database" ] || break
    sleep 0.1
done
[ -n "$database" ] || { cat "$said" >&2; exit 1; }

lambda="http://127.0.0.1:$port"
export AWS_ENDPOINT_URL_DYNAMODB="$database" AWS_ENDPOINT_URL_LAMBDA="$lambda"
export AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local AWS_REGION=us-east-1
export BACKGROUND_FUNCTION_NAME=tandem-background
export DISPATCH_KEYS='{"local": "no secret, and good for this machine only"}'
# Several at a time of each, as a turn needs a second one for whoever looks on.
watch=(.tools/aws/bin/cargo-lambda lambda watch --invoke-address 127.0.0.1 --invoke-port "$port" --concurrency 4)
echo "The endpoints: $lambda/lambda-url/tandem-foreground/" >&2
if [ "${1:-}" != --built ]; then
    PATH="$PWD/.tools/aws/bin:$PATH" "${watch[@]}" &
    wait -n
    exit
fi
"${watch[@]}" --only-lambda-apis &
until (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do sleep 0.1; done
for function in foreground background sweeper; do
    AWS_LAMBDA_RUNTIME_API="$lambda/.rt/tandem-$function" AWS_LAMBDA_FUNCTION_NAME="tandem-$function" \
        AWS_LAMBDA_FUNCTION_MEMORY_SIZE=512 AWS_LAMBDA_FUNCTION_VERSION=1 "$target/tandem-$function" &
done
wait -n
