#!/usr/bin/env bash
# Deploys what scripts/build-functions.sh has built, with the parameters of samconfig.toml and those given here.
#
#   scripts/deploy.sh dev OidcIssuer=https://... OidcAudience=...
#   scripts/deploy.sh dev --print OidcIssuer=...        show the command and do nothing
set -euo pipefail
cd "$(dirname "$0")/.."
environment="${1:?which environment of samconfig.toml: default, dev or prod}"
shift
run=()
if [ "${1:-}" = --print ]; then
    run=(echo)
    shift
fi
if [ ! -f .aws-sam/architecture ]; then
    echo "deploy: nothing is built yet: make build" >&2
    exit 1
fi
parameters="$(.tools/aws/bin/python - "$environment" <<'PYTHON'
import sys, tomllib
environments = tomllib.load(open("samconfig.toml", "rb"))
name = sys.argv[1]
if name not in environments or name == "version":
    sys.exit(f"deploy: samconfig.toml has no environment {name}")
print("\n".join(environments[name].get("deploy", {}).get("parameters", {}).get("parameter_overrides", [])))
PYTHON
)"
mapfile -t parameters <<<"$parameters"
# Later ones win.
parameters+=("Architecture=$(cat .aws-sam/architecture)" "$@")
declare -A last
for parameter in "${parameters[@]}"; do
    [ -z "$parameter" ] || last["${parameter%%=*}"]="$parameter"
    # sam reads an empty value only in quotes.
    [ -n "${parameter#*=}" ] || last["${parameter%%=*}"]="$parameter\"\""
done
SAM_CLI_TELEMETRY=0 "${run[@]}" .tools/aws/bin/sam deploy --config-env "$environment" --parameter-overrides "${last[@]}"
