#!/usr/bin/env bash
# Deploys what scripts/build-functions.sh has built, with the parameters given here. A stack keeps what it was given once,
# so those of samconfig.toml go to a new stack alone.
#
#   scripts/deploy.sh dev OidcIssuer=https://... OidcAudience=...
#   scripts/deploy.sh dev --print OidcIssuer=...        show the command and change nothing: AWS is asked whether there is a stack
set -euo pipefail
cd "$(dirname "$0")/.."
environment="${1:?which environment of samconfig.toml: default, dev or prod}"
shift
print=
if [ "${1:-}" = --print ]; then
    print=1
    shift
fi
if [ ! -f .aws-sam/architecture ]; then
    echo "deploy: nothing is built yet: make build" >&2
    exit 1
fi
parameters="$(PYTHONPATH=scripts .tools/aws/bin/python - "$environment" "$@" <<'PYTHON'
import sys, tomllib
from botocore.exceptions import BotoCoreError, ClientError
import deployed

environments = tomllib.load(open("samconfig.toml", "rb"))
name, given = sys.argv[1], sys.argv[2:]
if name not in environments or name == "version":
    sys.exit(f"deploy: samconfig.toml has no environment {name}")
if wrong := [word for word in given if "=" not in word]:
    sys.exit(f"deploy: {wrong[0]} is no Name=value; a value with spaces needs quotes: PARAMETERS='Name=\"a b\"'")
if wrong := [word for word in given if "\\" in word]:
    sys.exit(f"deploy: {wrong[0]} holds a backslash, which sam does not take")
stack = environments[name]["global"]["parameters"]["stack_name"]
try:
    found = deployed.described(stack)
except (BotoCoreError, ClientError) as error:
    sys.exit(f"deploy: AWS does not say whether there is a stack {stack}: {error}")
if found and found["StackStatus"] in deployed.FAILED:
    sys.exit(
        f"deploy: the first deployment of {stack} failed ({found['StackStatus']}), and it takes no other. Its events in the "
        f"console say why. Delete it, then deploy again: .tools/aws/bin/sam delete --config-env {name}"
    )
words = [f"Architecture={open('.aws-sam/architecture').read().strip()}", *given]
if not found:
    words = environments[name].get("deploy", {}).get("parameters", {}).get("parameter_overrides", []) + words
# Later ones win. sam cuts a value at its first space, and takes no empty one, unless it stands in quotes.
for key, value in dict(word.split("=", 1) for word in words).items():
    quoted = value.replace('"', '\\"')
    print(f'{key}="{quoted}"')
PYTHON
)"
mapfile -t parameters <<<"$parameters"
command=(.tools/aws/bin/sam deploy --config-env "$environment" --parameter-overrides "${parameters[@]}")
if [ -n "$print" ]; then
    printf '%q ' "${command[@]}"
    echo
    exit
fi
SAM_CLI_TELEMETRY=0 exec "${command[@]}"
