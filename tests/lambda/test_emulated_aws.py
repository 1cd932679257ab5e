"""A second opinion: the stack, and every kind of call of the store, on moto."""

import json
import os
import re
import tempfile
import unittest
import urllib.error
import urllib.request
from pathlib import Path

import boto3
from moto.cloudformation import parsing

import sources
from deployment import TOP, Process, wait_for
from moto_server import Moto
from stack import Stack, expanded, template

TANDEM = Path(os.environ.get("TANDEM_BIN", TOP / "target/debug/tandem")).resolve()
KEYS = {"aws_access_key_id": "test", "aws_secret_access_key": "test", "region_name": "us-east-1"}
# moto creates nothing for these; cfn-lint has checked them against CloudFormation's own schemas.
UNKNOWN_TO_MOTO = {
    "AWS::ApiGateway::GatewayResponse",
    "AWS::ApiGateway::Stage",
    "AWS::CloudFront::Distribution",
    "AWS::CloudFront::Function",
    "AWS::CloudFront::OriginAccessControl",
    "AWS::CloudFront::ResponseHeadersPolicy",
    "AWS::CloudWatch::Alarm",
    "AWS::Lambda::EventInvokeConfig",
    "AWS::Lambda::Url",
    "AWS::S3::BucketPolicy",
    "AWS::Scheduler::Schedule",
    "AWS::SecretsManager::Secret",
}
ON_INSTANCES = {"CapacityProviderArn": "arn:aws:lambda:us-east-1:123456789012:capacity-provider:tandem"}
SIGN_IN = {"OidcIssuer": "https://issuer.example/realm", "OidcAudience": "tandem"}


class CloudFormation(unittest.TestCase):
    def test_the_stack_is_created(self):
        whole, unknown = expanded(), set()
        for parameters in [{}, {"Ui": "true", "UiClientId": "page"}, {"Entrance": "RestApi", "Alarms": "false"}, ON_INSTANCES]:
            wanted = Stack(whole, **SIGN_IN, **parameters).resources
            kinds = {one["Type"] for one in wanted.values()}
            new = {kind for kind in kinds if kind not in parsing.get_model_map()}
            unknown |= new
            known = {name for name, one in wanted.items() if one["Type"] not in new}
            self.assertEqual(created(whole, SIGN_IN | parameters), known, parameters)
        self.assertEqual(unknown, UNKNOWN_TO_MOTO)


def created(whole, parameters):
    """The names of what moto creates."""
    with Moto() as moto:
        boto3.client("s3", endpoint_url=moto.url, **KEYS).create_bucket(Bucket="code")
        cloudformation = boto3.client("cloudformation", endpoint_url=moto.url, **KEYS)
        given = [{"ParameterKey": name, "ParameterValue": value} for name, value in parameters.items()]
        # It cannot answer with outputs of resources that it does not know.
        body = json.dumps(whole | {"Outputs": {}})
        cloudformation.create_stack(StackName="tandem", TemplateBody=body, Parameters=given)
        [stack] = cloudformation.describe_stacks(StackName="tandem")["Stacks"]
        assert stack["StackStatus"] == "CREATE_COMPLETE", stack
        made = cloudformation.describe_stack_resources(StackName="tandem")["StackResources"]
        # What it does not know has no name in its answer.
        return {one["LogicalResourceId"] for one in made if "LogicalResourceId" in one}


class Store(unittest.TestCase):
    def test_every_kind_of_call_is_accepted(self):
        with Moto() as moto, tempfile.TemporaryDirectory() as logs, Host(moto, Path(logs)) as host:
            host.use_everything()
            asked = set(moto.asked)
            self.check_table(boto3.client("dynamodb", endpoint_url=moto.url, **KEYS))
        kinds = {operation.partition(":")[2] for operation in sources.dynamodb_actions()}
        self.assertEqual(asked, kinds | set(sources.calls("dynamodb")))
        # The second process meets the first one's table; a stale ifRev meets a newer document.
        expected = {
            ("CreateTable", "ResourceInUseException"),
            ("PutItem", "ConditionalCheckFailedException"),
            ("TransactWriteItems", "TransactionCanceledException"),
        }
        self.assertLessEqual(set(moto.refused), expected)


    def check_table(self, dynamodb):
        """What the store makes on a local endpoint is what the template makes on AWS."""
        made = dynamodb.describe_table(TableName="tandem")["Table"]
        [index] = made["GlobalSecondaryIndexes"]
        wanted = template()["Resources"]["Table"]["Properties"]
        [wanted_index] = wanted["GlobalSecondaryIndexes"]
        self.assertEqual(made["KeySchema"], wanted["KeySchema"])
        self.assertCountEqual(made["AttributeDefinitions"], wanted["AttributeDefinitions"])
        self.assertEqual({name: index[name] for name in wanted_index}, wanted_index)
        expiry = dynamodb.describe_time_to_live(TableName="tandem")["TimeToLiveDescription"]
        self.assertEqual(expiry["AttributeName"], wanted["TimeToLiveSpecification"]["AttributeName"])


class Host:
    """`tandem foreground` and `tandem background` on this database."""

    def __init__(self, moto, logs):
        self.logs, self.processes = logs, []
        self.env = {
            "AWS_ENDPOINT_URL_DYNAMODB": moto.url,
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "DISPATCH_KEYS": json.dumps({"test": "k" * 32}),
            "DELETE_AFTER_MS": "0",
        }

    def __enter__(self):
        try:
            background = self.start("background")
            self.url = self.start("foreground", BACKGROUND_URL=background)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.stop()

    def start(self, kind, *arguments, **env):
        command = [TANDEM, kind, "--port", "0"]
        process = Process(command, self.env | env, self.logs / kind)
        self.processes.append(process)
        return wait_for(lambda: re.search(r"http://[\d.]+:\d+", process.words()), process.words).group()

    def sweep(self):
        process = Process([TANDEM, "sweeper", "--once"], self.env | {"BACKGROUND_URL": self.url}, self.logs / "sweeper")
        self.processes.append(process)
        assert process.child.wait(30) == 0, process.words()
        return process.words()

    def use_everything(self):
        """A turn with calls, a long one, an action, documents, presence, a thread that goes."""
        self.ask(201, "POST", "/threads", {"threadId": "t-1", "title": "Calls"})
        message = '@say 3 every 20ms\n\n/list-emails {}\n\n/email {"emailId": "e-1", "body": "Thanks!"}'
        stream = self.say(message)
        assert '"finishReason":"stop"' in stream, stream
        # In slices, each on the condition that the call has no outcome yet.
        stream = self.say('/import-emails {"count": 120}')
        assert '"finishReason":"stop"' in stream, stream
        self.approve()
        self.ask(200, "POST", "/api/archive-email", {"emailId": "e-2"})
        document = "/state/app:inbox/docs/drafts/e-1"
        self.ask(200, "PUT", document, {"value": {"text": "Hello"}, "ifRev": 0})
        self.ask(409, "PUT", document, {"value": {"text": "Hi"}, "ifRev": 0})
        self.ask(200, "GET", "/state/app:inbox?prefix=drafts/")
        self.ask(204, "PUT", "/presence/app:inbox", {"client": "w-1", "activity": {"email": "e-1"}})
        assert '"w-1"' in self.ask(200, "GET", "/presence/app:inbox")
        self.ask(204, "PUT", "/presence/app:inbox", {"client": "w-1", "activity": None})
        assert "Thanks!" in self.ask(200, "GET", "/threads/t-1/messages")
        self.ask(204, "DELETE", "/threads/t-1")
        self.ask(404, "GET", "/threads/t-1")
        swept = self.sweep()
        assert "1" in swept, swept

    def approve(self):
        """Two calls of one step wait for a person: one word is kept, the second starts the run that goes on."""
        mail = '/send-email {"to": "ann@example.com", "subject": "Hi", "body": "Hello!"}'
        stream = self.say(f"{mail}\n{mail}")
        run = re.search(r'"runId":"(\w+)"', stream)[1]
        calls = re.findall(r'"type":"tool-approval-request","approvalId":"[^"]*","toolCallId":"(\w+)"', stream)
        assert len(calls) == 2, stream
        for call in calls:
            self.ask(200, "POST", f"/runs/{run}/approvals/{call}", {"approved": False, "reason": "Not now."})

    def say(self, message):
        return self.ask(200, "POST", "/api/agent-chat", {"threadId": "t-1", "message": message})

    def ask(self, want, method, path, body=None):
        sent = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, sent, {"content-type": "application/json"}, method=method)
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with direct.open(request, timeout=30) as answer:
                status, text = answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read().decode()
        assert status == want, f"{method} {path}: {status} {text}\n" + "\n".join(one.words() for one in self.processes)
        return text


if __name__ == "__main__":
    unittest.main()
