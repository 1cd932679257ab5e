"""The operator's scripts, on moto."""

import contextlib
import copy
import importlib.util
import inspect
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
import unittest
from pathlib import Path
from unittest import mock

import boto3
from botocore.exceptions import ClientError, WaiterError
from moto import mock_aws
from moto.cloudformation import cloudformation_backends

from samcli.cli.types import CfnParameterOverridesType
from samcli.commands.delete.delete_context import DeleteContext
from samcli.commands.deploy.deploy_context import DeployContext

from deployment import TOP
from moto_server import Moto
from stack import template

# The scripts share a module, as they find it beside themselves.
sys.path.append(str(TOP / "scripts"))

KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}


def script(name):
    spec = importlib.util.spec_from_file_location(name.replace("-", "_"), TOP / f"scripts/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stack(parameters, outputs):
    """A stack with these outputs, and a queue as moto needs something to create."""
    body = {
        "Parameters": {name: {"Type": "String", "Default": ""} for name in parameters},
        "Resources": {"Queue": {"Type": "AWS::SQS::Queue"}},
        "Outputs": {name: {"Value": value} for name, value in outputs.items()},
    }
    given = [{"ParameterKey": name, "ParameterValue": ""} for name in parameters]
    boto3.client("cloudformation").create_stack(StackName="tandem", TemplateBody=json.dumps(body), Parameters=given)


@mock.patch.dict(os.environ, KEYS)
class Operations(unittest.TestCase):
    def test_keys_are_exchanged_so_that_every_dispatch_can_be_verified(self):
        rotate = script("rotate-dispatch-keys")
        with mock_aws():
            manager = boto3.client("secretsmanager")
            arn = manager.create_secret(Name="keys", SecretString='{"first": "old"}')["ARN"]
            stack(["DispatchKeysVersion", "OidcIssuer"], {"DispatchKeysArn": arn})
            seen = []

            def deploy(name, version, real=rotate.deploy):
                real(name, version)
                self.assertEqual(rotate.deployed_version(name), version)
                seen.append(list(json.loads(manager.get_secret_value(SecretId=arn, VersionId=version)["SecretString"])))

            with mock.patch.object(rotate, "deploy", deploy), mock.patch.object(rotate, "say"):
                rotate.main("tandem", 0)
                [old, new] = seen[0]
                self.assertEqual((old, seen), ("first", [[old, new], [new, old], [new]]))
                seen.clear()
                rotate.main("tandem", 0)
            # A second time it begins with the key that is there.
            self.assertEqual([len(keys) for keys in seen], [2, 2, 1])
            self.assertEqual(seen[0][0], new)

    def test_an_exchange_that_broke_off_goes_on(self):
        rotate = script("rotate-dispatch-keys")
        for keys, deployed, step, names in [
            ({"first": "a"}, False, "add", 2),
            ({"first": "a", "k5": "b"}, False, "deploy", 2),
            ({"first": "a", "k5": "b"}, True, "sign", 2),
            ({"k5": "b", "first": "a"}, False, "deploy", 2),
            ({"k5": "b", "first": "a"}, True, "drop", 1),
            ({"k5": "b", "k9": "c"}, True, "sign", 2),
        ]:
            told, after = rotate.next_step(keys, deployed)
            self.assertEqual((told, len(after)), (step, names))
        self.assertEqual(list(rotate.next_step({"first": "a", "k5": "b"}, True)[1]), ["k5", "first"])

    def test_the_user_interface_is_uploaded_with_its_page_last(self):
        upload = script("upload-app")
        with mock_aws(), tempfile.TemporaryDirectory() as folder:
            dist = Path(folder)
            (dist / "assets").mkdir()
            for name in ("index.html", "assets/app-1.js", "config.json"):
                (dist / name).write_text("{}")
            s3 = boto3.client("s3")
            s3.create_bucket(Bucket="files")
            config = '{"oidc": {}}'
            stack([], {"UiBucketName": "files", "UiDistributionId": "D", "UiConfig": config, "UiUrl": "https://x/app/"})
            client = without_invalidation(boto3.client)
            with mock.patch.object(upload.boto3, "client", client), mock.patch("builtins.print"):
                upload.main("tandem", dist)
            keys = [one["Key"] for one in s3.list_objects_v2(Bucket="files")["Contents"]]
            stored = {key: s3.get_object(Bucket="files", Key=key) for key in keys}
            told = {key: (one["ContentType"], one["CacheControl"]) for key, one in stored.items()}
            self.assertEqual(told["app/index.html"], ("text/html", "no-cache"))
            self.assertEqual(told["app/assets/app-1.js"][1], upload.FOR_EVER)
            self.assertEqual(stored["app/config.json"]["Body"].read().decode(), config)

    def test_the_documents_commands_find_due_runs_and_delete_a_table(self):
        table = copy.deepcopy(template()["Resources"]["Table"]["Properties"])
        for name in ("TimeToLiveSpecification", "PointInTimeRecoverySpecification"):
            del table[name]
        with mock_aws():
            dynamodb = boto3.client("dynamodb")
            dynamodb.create_table(TableName="runs", **table | {"DeletionProtectionEnabled": True})
            for run, shard, due in [("late", 3, 5), ("living", 3, 9_999_999_999_999)]:
                keys = {"pk": {"S": f"RUN#{run}"}, "sk": {"S": "RUN"}}
                times = {"due_shard": {"N": str(shard)}, "due_at": {"N": str(due)}}
                dynamodb.put_item(TableName="runs", Item=keys | times)
            told = run_command("operate.md", "IndexName='due'", "runs")
            self.assertIn("RUN#late since", told)
            self.assertNotIn("RUN#living", told)
            run_command("deploy.md", "delete_table", "runs")
            self.assertEqual(dynamodb.list_tables()["TableNames"], [])

    def test_the_documents_command_makes_a_restored_table_like_the_stacks_own(self):
        wanted = copy.deepcopy(template()["Resources"]["Table"]["Properties"])
        table = {name: wanted[name] for name in ("BillingMode", "AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes")}
        with mock_aws():
            dynamodb = boto3.client("dynamodb")
            dynamodb.create_table(TableName="restored", **table)
            run_command("operate.md", "update_continuous_backups", "restored")
            expiry = dynamodb.describe_time_to_live(TableName="restored")["TimeToLiveDescription"]
            self.assertEqual(expiry["AttributeName"], wanted["TimeToLiveSpecification"]["AttributeName"])
            self.assertEqual(expiry["TimeToLiveStatus"], "ENABLED")
            backups = dynamodb.describe_continuous_backups(TableName="restored")["ContinuousBackupsDescription"]
            self.assertEqual(backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"], "ENABLED")
            self.assertTrue(dynamodb.describe_table(TableName="restored")["Table"]["DeletionProtectionEnabled"])

    def test_parameters_of_a_deployed_stack_are_set_and_nothing_else(self):
        setting = script("set-parameters")
        with mock_aws(), mock.patch("builtins.print"):
            stack(["LogLevel", "UiConnectSources", "Models"], {})
            setting.main("tandem", "LogLevel=DEBUG", "UiConnectSources=https://a https://b")
            setting.main("tandem", "LogLevel=INFO", "Models=")
            values = setting.deployed.parameters("tandem")
            self.assertEqual(values, {"LogLevel": "INFO", "UiConnectSources": "https://a https://b", "Models": ""})
            for words, why in [(["Nonsense=1"], "knows no Nonsense"), ([], "which"), (["LogLevel"], "which")]:
                with self.assertRaisesRegex(SystemExit, why):
                    setting.main("tandem", *words)
            with self.assertRaisesRegex(SystemExit, "make deploy comes first"):
                setting.main("tandem-elsewhere", "LogLevel=DEBUG")

    def test_a_change_that_cannot_be_made_says_why(self):
        setting = script("set-parameters")
        event = lambda name, status, why="": {"LogicalResourceId": name, "ResourceStatus": status, "ResourceStatusReason": why}
        events = [
            event("tandem", "UPDATE_ROLLBACK_COMPLETE"),
            event("BackgroundFunction", "UPDATE_FAILED", "fewer than 100 are left"),
            event("tandem", "UPDATE_IN_PROGRESS"),
            event("Table", "UPDATE_FAILED", "last week"),
        ]
        client = mock.Mock()
        given = [{"ParameterKey": "BackgroundConcurrency", "ParameterValue": "0"}]
        client.describe_stacks.return_value = {"Stacks": [{"StackStatus": "UPDATE_COMPLETE", "Parameters": given}]}
        client.describe_stack_events.return_value = {"StackEvents": events}
        client.get_waiter.return_value.wait.side_effect = WaiterError("stack_update_complete", "failed", {})
        with mock.patch.object(setting.deployed.boto3, "client", return_value=client), mock.patch("builtins.print") as said:
            with self.assertRaisesRegex(SystemExit, "BackgroundFunction: fewer than 100 are left$"):
                setting.main("tandem", "BackgroundConcurrency=100")
            nothing = {"Error": {"Code": "ValidationError", "Message": "No updates are to be performed."}}
            client.update_stack.side_effect = ClientError(nothing, "UpdateStack")
            setting.main("tandem", "BackgroundConcurrency=0")
            self.assertIn("has these values already", said.call_args.args[0])

    def test_a_new_stack_has_the_environments_parameters_and_one_that_exists_keeps_its_own(self):
        given = ["Alarms=true", "OidcAudience=tandem", "Models=", "UiConnectSources=https://a.example https://b.example"]
        with Moto() as moto:
            new = deployment(moto, *given)
            create_stack(moto, "tandem-dev")
            again = deployment(moto, *given)
        self.assertEqual((new["Alarms"], new["DeletionProtection"]), ("true", "false"))
        for told in (new, again):
            self.assertEqual((told["OidcAudience"], told["Architecture"]), ("tandem", "x86_64"))
            # What was given once is taken back, and nothing is cut off at a space.
            self.assertEqual((told["Models"], told["UiConnectSources"]), ("", "https://a.example https://b.example"))
        # Whatever an operator has set since is not set back.
        self.assertEqual(set(again), {"Architecture", *(word.partition("=")[0] for word in given)})

    def test_the_documents_command_tells_a_stacks_outputs(self):
        [command] = re.findall(r"^(\.tools/aws/bin/sam list .*)$", (TOP / "docs/operate.md").read_text(), re.MULTILINE)
        environments = tomllib.loads((TOP / "samconfig.toml").read_text())
        self.assertEqual(command.split()[-1], environments["prod"]["global"]["parameters"]["stack_name"])
        with Moto() as moto:
            body = {"Resources": {"Queue": {"Type": "AWS::SQS::Queue"}}, "Outputs": {"Url": {"Value": "https://a.example/"}}}
            client = boto3.client("cloudformation", endpoint_url=moto.url)
            client.create_stack(StackName="tandem-prod", TemplateBody=json.dumps(body))
            env = os.environ | {"AWS_ENDPOINT_URL": moto.url, "NO_PROXY": "*", "SAM_CLI_TELEMETRY": "0"}
            told = subprocess.run(shlex.split(command), cwd=TOP, env=env, capture_output=True, text=True)
        self.assertEqual((told.returncode, "https://a.example/" in told.stdout), (0, True), told.stdout + told.stderr)

    def test_a_pipeline_can_answer_what_sam_asks(self):
        asks = {name for name, one in tomllib.loads((TOP / "samconfig.toml").read_text()).items()
                if name != "version" and one.get("deploy", {}).get("parameters", {}).get("confirm_changeset")}
        text = one_line("docs/deploy.md")
        [told] = re.findall(r"For `(\w+)` and `(\w+)` sam shows what will change and asks", text)
        self.assertEqual(set(told), asks)
        self.assertIn("`echo y | make deploy ENV=prod`", text)
        with Moto() as moto, tempfile.TemporaryDirectory() as folder:
            # What sam does with its question, in the place of sam.
            asking = "#!/bin/sh\nexec %s -c 'import click; print(\"yes\" if click.confirm(\"Deploy?\") else \"no\")'\n"
            copied = deploying(Path(folder), asking % (TOP / ".tools/aws/bin/python"))
            env = os.environ | {"AWS_ENDPOINT_URL": moto.url, "NO_PROXY": "*"}
            command = ["bash", "scripts/deploy.sh", "prod"]
            said = subprocess.run(command, cwd=copied, env=env, input="y\n", capture_output=True, text=True).stdout
        self.assertTrue(said.endswith("yes\n"), said)
        question = inspect.getsource(DeployContext.deploy)
        self.assertIn("if not click.confirm(", question)

    def test_the_document_tells_what_sam_asks_before_it_deletes(self):
        asked = inspect.getsource(DeleteContext)
        self.assertIn("Are you sure you want to delete the stack", asked)
        self.assertIn("Do you want to delete the template file", asked)
        # The folder is asked for where packages have a prefix.
        self.assertNotIn("s3_prefix", (TOP / "samconfig.toml").read_text())
        self.assertIn("whether the file of the stack's template in the packages' bucket may go too", one_line("docs/deploy.md"))

    def test_a_stack_whose_first_deployment_failed_has_a_way_out(self):
        with Moto() as moto:
            create_stack(moto, "tandem-dev", "ROLLBACK_COMPLETE")
            with self.assertRaises(subprocess.CalledProcessError) as failed:
                deployment(moto)
        self.assertIn("sam delete --config-env dev", failed.exception.stderr)


def deployment(moto, *given):
    """The parameters that scripts/deploy.sh would give to sam for `dev`, as sam reads them."""
    with tempfile.TemporaryDirectory() as folder:
        copied = deploying(Path(folder))
        command = ["bash", "scripts/deploy.sh", "dev", "--print", *given]
        env = os.environ | {"AWS_ENDPOINT_URL": moto.url, "NO_PROXY": "*"}
        told = subprocess.run(command, cwd=copied, env=env, capture_output=True, text=True, check=True).stdout
    words = shlex.split(told)
    assert words[1:5] == ["deploy", "--config-env", "dev", "--parameter-overrides"], words
    return CfnParameterOverridesType().convert(tuple(words[5:]), None, None)


def deploying(folder, sam=None):
    """A checkout in which something is built, with sam, or what stands in its place."""
    for name in ("scripts/deploy.sh", "scripts/deployed.py", "samconfig.toml"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes((TOP / name).read_bytes())
    (folder / ".aws-sam").mkdir()
    (folder / ".aws-sam/architecture").write_text("x86_64\n")
    if sam is None:
        (folder / ".tools").symlink_to(TOP / ".tools")
        return folder
    tools = folder / ".tools/aws/bin"
    tools.mkdir(parents=True)
    (tools / "sam").write_text(sam)
    (tools / "python").write_text(f'#!/bin/sh\nexec {TOP}/.tools/aws/bin/python "$@"\n')
    for name in ("sam", "python"):
        (tools / name).chmod(0o755)
    return folder


def one_line(document):
    return " ".join((TOP / document).read_text().split())


def create_stack(moto, name, status=None):
    """A stack of this name on moto, perhaps in a state that only AWS brings it to."""
    body = json.dumps({"Resources": {"Queue": {"Type": "AWS::SQS::Queue"}}})
    boto3.client("cloudformation", endpoint_url=moto.url).create_stack(StackName=name, TemplateBody=body)
    if status:
        [region] = [one["us-east-1"] for one in cloudformation_backends.values() if "us-east-1" in one]
        [made] = region.stacks.values()
        made.status = status


def run_command(document, part, *arguments):
    """What the Python command of a document that has this part, and takes a table, prints."""
    codes = re.findall(r'python -c "\n([^"]*)" THE-TABLE', (TOP / "docs" / document).read_text())
    [code] = [code for code in codes if part in code]
    told = io.StringIO()
    with mock.patch.object(sys, "argv", ["-c", *arguments]), contextlib.redirect_stdout(told):
        exec(code, {})
    return told.getvalue()


def without_invalidation(client):
    """moto has no distribution here; the rest is real."""
    return lambda name, **more: mock.Mock() if name == "cloudfront" else client(name, **more)


if __name__ == "__main__":
    unittest.main()
