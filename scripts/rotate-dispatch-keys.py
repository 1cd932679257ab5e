"""Exchanges the key that signs dispatches, without a pause and without a lost one. It takes about half an hour.

    make rotate-keys ENV=prod

1. The new key is added at the end and deployed: from then on every new invocation knows both, and the old one signs.
2. The new key moves to the front and is deployed: it signs.
3. Twenty minutes later, when no invocation that signed with the old key can be alive, the old one is dropped.

When it breaks off, run it again: it looks at the secret and goes on where it was.
"""

import json
import secrets
import sys
import time

import boto3

import deployed

DRAIN_MINUTES = 20


def main(stack, drain_minutes=DRAIN_MINUTES):
    secret = secret_of(stack)
    manager = boto3.client("secretsmanager")
    while True:
        stored = manager.get_secret_value(SecretId=secret)
        keys = json.loads(stored["SecretString"])
        step, keys = next_step(keys, deployed_version(stack) == stored["VersionId"])
        if step == "deploy":
            # What is in the secret has not been deployed yet: an earlier try broke off, or somebody edited it.
            say(f"deploying {list(keys)}")
            deploy(stack, stored["VersionId"])
            continue
        if step == "drop":
            say(f"waiting {drain_minutes} minutes for what the old key has signed")
            time.sleep(drain_minutes * 60)
        version = manager.put_secret_value(SecretId=secret, SecretString=json.dumps(keys))["VersionId"]
        say(f"{step}: deploying {list(keys)}; the first signs")
        deploy(stack, version)
        if step == "drop":
            return


def next_step(keys, is_deployed):
    """What comes next, and the keys after it. A key is called by the time at which it was made."""
    if not is_deployed and len(keys) > 1:
        return "deploy", keys
    match list(keys):
        case [_]:
            return "add", keys | {f"k{time.time_ns() // 1_000_000}": secrets.token_hex(32)}
        case [old, new] if old_first(old, new):
            return "sign", {new: keys[new], old: keys[old]}
        case [new, _]:
            return "drop", {new: keys[new]}
    sys.exit(f"rotate-dispatch-keys: the secret has the keys {list(keys)}; one or two are expected")


def old_first(first, second):
    """Whether the first was made before: names are k<milliseconds>, and the stack's own first key is `first`."""
    made = lambda name: int(name[1:]) if name[1:].isdigit() else 0
    return made(first) < made(second)


def secret_of(stack):
    return deployed.outputs(stack)["DispatchKeysArn"]


def deployed_version(stack):
    return deployed.parameters(stack).get("DispatchKeysVersion") or None


def deploy(stack, version):
    """The stack as it is, but for the version of the keys."""
    deployed.update(stack, {"DispatchKeysVersion": version})


def say(text):
    print(f"rotate-dispatch-keys: {text}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:2])
