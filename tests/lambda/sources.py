"""What the functions' own sources ask of AWS, read from the sources."""

import re
import tomllib

import botocore.session
from botocore import xform_name

from deployment import TOP

# Linked into the `tandem` program and the tests alone.
NOT_IN_FUNCTIONS = {"cli", "embedded", "testkit"}
TRANSACTED = {"put": "PutItem", "update": "UpdateItem", "delete": "DeleteItem", "condition_check": "ConditionCheckItem"}
# `Store::create_table`, which shared/host calls on a local endpoint alone.
TABLE_MAKING = {"CreateTable", "DescribeTable", "UpdateTimeToLive"}


def calls(service):
    """The operations of a service that sources call, each with the files: {"PutItem": {"write.rs"}, ...}."""
    operations = botocore.session.get_session().get_service_model(service).operation_names
    by_method = {xform_name(operation): operation for operation in operations}
    found = {}
    for path, text in sources(f"aws-sdk-{service}"):
        for method in re.findall(r"\.([a-z_]+)\(\)", text):
            if operation := by_method.get(method):
                found.setdefault(operation, set()).add(path.name)
    return found


def dynamodb_actions():
    """The actions that the store needs on its table: a transaction needs those of what is in it."""
    needed = set(calls("dynamodb")) - TABLE_MAKING - {"TransactWriteItems"}
    text = "".join(text for _, text in sources("aws-sdk-dynamodb"))
    for kind in re.findall(r"TransactWriteItem::builder\(\)\s*\.(?:set_)?([a-z_]+)\(", text):
        needed.add(TRANSACTED[kind])
    return {f"dynamodb:{operation}" for operation in needed}


def indexes():
    """The names of the indexes that sources query."""
    text = "".join(text for _, text in sources("aws-sdk-dynamodb"))
    constants = set(re.findall(r"\.index_name\(([A-Z_]+)\)", text))
    return {re.search(rf'const {name}: &str = "(\w+)"', text)[1] for name in constants}


def bedrock_actions():
    """The model's library makes these calls; the tests of its wire say which."""
    text = (TOP / "shared/model/tests/providers/requests.rs").read_text()
    called = re.findall(r'Wire::Bedrock, format!\("/model/\{model\}/([a-z-]+)"\)', text)
    action = {"converse": "bedrock:InvokeModel", "converse-stream": "bedrock:InvokeModelWithResponseStream"}
    return {action[path] for path in called}


def other_sdks():
    """The AWS SDKs that the functions' crates name besides those that are dealt with here."""
    named = {name for manifest in crates() for name in dependencies(manifest) if name.startswith("aws-sdk-")}
    return named - {"aws-sdk-dynamodb", "aws-sdk-lambda", "aws-sdk-bedrockruntime"}


def sources(dependency):
    """(path, text) of every source of the functions' crates that have this dependency."""
    for manifest in crates():
        if dependency in dependencies(manifest):
            for path in sorted(manifest.parent.glob("src/**/*.rs")):
                if not path.stem.endswith("tests"):
                    yield path, path.read_text()


def crates():
    manifests = [*TOP.glob("shared/*/Cargo.toml"), *TOP.glob("functions/*/Cargo.toml")]
    return sorted(manifest for manifest in manifests if manifest.parent.name not in NOT_IN_FUNCTIONS)


def dependencies(manifest):
    return set(tomllib.loads(manifest.read_text()).get("dependencies", {}))
