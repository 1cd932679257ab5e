"""What template.yaml makes under the parameters that the documents and samconfig.toml mention."""

import itertools
import json
import re
import subprocess
import sys
import tomllib
import unittest
from pathlib import Path
from unittest import mock

from deployment import TOP
from stack import PSEUDO, Stack, deployment_name, expanded
from written import in_order, samconfig, written_deployments

SIGN_IN = {"OidcIssuer": "https://issuer.example/realm", "OidcAudience": "tandem"}
TOOLS = Path(sys.executable).parent
# What a parameter brings, and what it takes away.
URL = {"ForegroundUrl", "ForegroundUrlPermission", "ForegroundUrlInvokePermission"}
REST_API = {f"RestApi{part}" for part in ("", "Path", "Method", "Refusal", "Fault", "Stage", "Permission")}
REST_API_ON_LAMBDA = REST_API | {deployment_name("RestApiDeployment")}
REST_API_ON_INSTANCES = REST_API | {deployment_name("RestApiDeploymentOnInstances")}
REST_DOMAIN = {"RestApiDomain", "RestApiMapping"}
UI = {"UiBucket", "UiBucketPolicy", "UiBucketAccess", "UiPaths", "McpSignIn", "SecurityHeaders", "Distribution"}
WITH_UI = {"Ui": "true", "UiClientId": "page"}
DOMAIN = {"DomainName": "app.example.com", "CertificateArn": "arn:aws:acm:us-east-1:123456789012:certificate/c"}
CAPACITY = {"CapacityProviderArn": "arn:aws:lambda:us-east-1:123456789012:capacity-provider:tandem"}
ON_INSTANCES = {"ForegroundOnInstances", "BackgroundOnInstances", "BackgroundOnInstancesEvents"}
ON_LAMBDA = {"ForegroundFunction", "BackgroundFunction", "BackgroundFunctionEventInvokeConfig"}
FIREWALL = {"WebAclArn": "arn:aws:wafv2:us-east-1:123456789012:regional/webacl/w/1"}


class Template(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.whole = expanded()

    def stack(self, **parameters):
        return Stack(self.whole, **{**SIGN_IN, **parameters})

    def test_sam_and_cfn_lint_have_nothing_to_say(self):
        file = TOP / "template.yaml"
        for command in (["sam", "validate", "--lint", "--template", file], ["cfn-lint", file]):
            env = {"SAM_CLI_TELEMETRY": "0", "PATH": "/usr/bin:/bin"}
            told = subprocess.run([TOOLS / command[0], *command[1:]], env=env, capture_output=True, text=True)
            self.assertEqual(told.returncode, 0, told.stdout + told.stderr)

    def test_every_deployment_that_is_written_down_can_be_made(self):
        written = list(written_deployments())
        self.assertGreater(len(written), 5)
        for where, words in written:
            parameters = dict(word.split("=", 1) for word in words)
            with self.subTest(where):
                # `make set` changes a stack that is there, and one with a budget has prices.
                before = {"ModelPrices": "scripted=1/2"} if "make set" in where else {}
                stack = self.stack(**before, **parameters)
                self.assertEqual(models_without_a_price(stack), [])
                resources = stack.resources
                self.assertEqual(len({"ForegroundFunction", "ForegroundOnInstances"} & set(resources)), 1)

    def test_the_way_to_production_can_be_walked_in_every_order(self):
        commands = [(target, env, words) for target, env, words in in_order("docs/deploy.md")]
        for env in {env for _, env, _ in commands}:
            (target, _, first), *later = [one for one in commands if one[1] == env]
            with self.subTest(env=env, first=first):
                # Nothing is there yet but what samconfig.toml says: who calls must be named here.
                self.assertEqual(target, "deploy")
                base = dict(word.split("=", 1) for word in samconfig(env) + first)
                Stack(self.whole, **base)
                # A new account has ten concurrent invocations.
                self.assertEqual(base.get("BackgroundConcurrency", "0"), "0")
            for before, after in itertools.product([[], *(words for *_, words in later)], [words for *_, words in later]):
                values = base | dict(word.split("=", 1) for word in before + after)
                with self.subTest(env=env, before=before, after=after):
                    Stack(self.whole, **values)
                    scope = "global" if values.get("Ui") == "true" else "regional"
                    if values.get("WebAclArn"):
                        self.assertIn(f":{scope}/", values["WebAclArn"])

    def test_every_choice_brings_its_resources_and_no_others(self):
        plain = set(self.stack().resources)
        alarms = {name for name in self.whole["Resources"] if self.whole["Resources"][name].get("Condition") == "HasAlarms"}
        self.assertLessEqual(URL | alarms, plain)
        rest, own = {"Entrance": "RestApi"}, WITH_UI
        for parameters, more, less in [
            (rest, REST_API_ON_LAMBDA, URL),
            (rest | DOMAIN, REST_API_ON_LAMBDA | REST_DOMAIN, URL),
            (rest | FIREWALL, REST_API_ON_LAMBDA | {"RestApiFirewall"}, URL),
            (own, UI, set()),
            (own | DOMAIN | FIREWALL, UI, set()),
            (own | rest | DOMAIN | FIREWALL, UI | REST_API_ON_LAMBDA, URL),
            ({"BedrockModels": "arn:aws:bedrock:us-east-1::foundation-model/m"}, {"ModelAccess"}, set()),
            (CAPACITY, ON_INSTANCES, ON_LAMBDA),
            (CAPACITY | rest, ON_INSTANCES | REST_API_ON_INSTANCES, ON_LAMBDA | URL),
            ({"AlarmEmail": "ops@example.com"}, {"AlarmSubscription"}, set()),
            ({"Alarms": "false", "AlarmEmail": "ops@example.com"}, set(), alarms),
        ]:
            with self.subTest(parameters):
                self.assertEqual(set(self.stack(**parameters).resources), (plain | more) - less)

    def test_two_stacks_may_stand_beside_one_another(self):
        named, one = 0, "a-stack-of-mine"
        with mock.patch.dict(PSEUDO, {"AWS::StackName": one}):
            for parameters in [{}, {**WITH_UI, "Entrance": "RestApi"}, CAPACITY, {"Entrance": "RestApi", **CAPACITY}]:
                for name, resource in self.stack(**parameters).resources.items():
                    for key, value in physical_names(resource):
                        named += 1
                        self.assertIn(one, value, f"{name}: {key}")
                        if resource["Type"].startswith("AWS::CloudFront::"):
                            self.assertIn("us-east-1", value, f"{name}: {key}")
        self.assertGreater(named, 10)

    def test_a_table_that_is_there_takes_the_place_of_the_stacks_own_everywhere(self):
        stack = self.stack(ExistingTable="restored", **WITH_UI)
        others = {name: one for name, one in stack.resources.items() if name != "Table"}
        self.assertIn("Table", stack.resources)
        self.assertNotIn("<Table", json.dumps([others, stack.outputs]))
        for function in ("Foreground", "Background", "Sweeper"):
            variables = others[f"{function}Function"]["Properties"]["Environment"]["Variables"]
            self.assertEqual(variables["TABLE_NAME"], "restored")
        allowed = others["StoreAccess"]["Properties"]["PolicyDocument"]["Statement"]
        table = "arn:aws:dynamodb:us-east-1:123456789012:table/restored"
        self.assertEqual([one["Resource"] for one in allowed], [table, f"{table}/index/due"])
        self.assertNotIn("restored", json.dumps([self.stack().resources, self.stack().outputs]))

    def test_a_table_stays_unless_its_stack_never_came_to_be(self):
        table = self.stack().resources["Table"]
        self.assertEqual((table["DeletionPolicy"], table["UpdateReplacePolicy"]), ("RetainExceptOnCreate", "Retain"))

    def test_contradictions_are_refused(self):
        for parameters, why in [
            ({"OidcIssuer": ""}, "OidcIssuer is empty"),
            ({"OidcAudience": ""}, "OidcAudience is empty"),
            ({"DomainName": "app.example.com", **WITH_UI}, "needs CertificateArn"),
            ({"Ui": "true"}, "needs UiClientId"),
            ({"BudgetRunUsd": "0.50"}, "needs ModelPrices"),
            ({"BudgetUserDailyUsd": "2"}, "needs ModelPrices"),
            ({"BudgetTenantDailyUsd": "20"}, "needs ModelPrices"),
            (DOMAIN, "needs Ui=true or Entrance=RestApi"),
            (FIREWALL, "needs Ui=true or Entrance=RestApi"),
            ({"BedrockModels": "*"}, "is not allowed"),
            ({"LogLevel": "WARN"}, "is not allowed"),
            ({"CapacityProviderArn": "tandem"}, "is not allowed"),
        ]:
            with self.subTest(parameters), self.assertRaisesRegex(ValueError, why):
                self.stack(**parameters)

    def test_secrets_are_references_until_cloudformation_deploys(self):
        secret = "arn:aws:secretsmanager:us-east-1:123456789012:secret:keys"
        given = {"ModelKeys": secret, "ModelKeysVersion": "v1", "DispatchKeysVersion": "v2", "ApplicationKeys": secret}
        variables = self.stack(**given).resources["ForegroundFunction"]["Properties"]["Environment"]["Variables"]
        resolve = "{{resolve:secretsmanager:"
        self.assertEqual(variables["DISPATCH_KEYS"], resolve + "<DispatchKeys>:SecretString:::v2}}")
        self.assertEqual(variables["OPENAI_API_KEY"], resolve + secret + ":SecretString:OPENAI_API_KEY::v1}}")
        self.assertEqual(variables["SMTP_URL"], resolve + secret + ":SecretString:SMTP_URL}}")
        plain = self.stack().resources["ForegroundFunction"]["Properties"]["Environment"]["Variables"]
        self.assertEqual(plain["DISPATCH_KEYS"], resolve + "<DispatchKeys>:SecretString}}")
        self.assertEqual([plain[name] for name in ("ANTHROPIC_API_KEY", "SMTP_URL")], ["", ""])

    def test_sample_mail_is_for_those_who_want_it(self):
        for given, want in [({}, "1"), ({"SampleMail": "false"}, "0")]:
            variables = self.stack(**given).resources["ForegroundFunction"]["Properties"]["Environment"]["Variables"]
            self.assertEqual(variables["TANDEM_SEED"], want)
        inbox = (TOP / "shared/catalog/src/inbox.rs").read_text()
        self.assertIn('std::env::var("TANDEM_SEED").as_deref() == Ok("0")', inbox)
        # Nobody takes strangers' letters for their own who has a stack for people.
        self.assertIn("SampleMail=false", samconfig("prod"))

    def test_on_managed_instances_the_functions_are_the_same_but_for_where_they_run(self):
        plain, managed = self.stack().resources, self.stack(InstanceConcurrency="40", **CAPACITY).resources
        provider = {"CapacityProviderArn": CAPACITY["CapacityProviderArn"], "PerExecutionEnvironmentMaxConcurrency": "40"}
        for function, here in [("Foreground", "foreground"), ("Background", "background")]:
            before, after = plain[f"{function}Function"]["Properties"], managed[f"{function}OnInstances"]["Properties"]
            config = after.pop("CapacityProviderConfig")
            self.assertEqual(config, {"LambdaManagedInstancesCapacityProviderConfig": provider})
            self.assertEqual((after.pop("PublishToLatestPublished"), after.pop("FunctionName")), (True, f"tandem-{here}-on-instances"))
            self.assertGreaterEqual(after.pop("MemorySize"), 2048)
            before.pop("MemorySize"), before.pop("FunctionName")
            variables = after["Environment"]["Variables"]
            self.assertEqual(variables.pop("BACKGROUND_FUNCTION_NAME"), "tandem-background-on-instances")
            before["Environment"]["Variables"].pop("BACKGROUND_FUNCTION_NAME")
            self.assertEqual(after, before)
        # What is invoked there is the published version, and that must be what the settings are of.
        events = managed["BackgroundOnInstancesEvents"]["Properties"]
        self.assertEqual((events.pop("Qualifier"), events.pop("FunctionName")), ("$LATEST.PUBLISHED", "<BackgroundOnInstances>"))
        before = plain["BackgroundFunctionEventInvokeConfig"]["Properties"]
        before.pop("Qualifier"), before.pop("FunctionName")
        self.assertEqual(events["DestinationConfig"]["OnFailure"]["Destination"], "<FailedDispatches.Arn>")
        self.assertEqual(events, before)
        [allowed] = managed["DispatchAccess"]["Properties"]["PolicyDocument"]["Statement"]
        self.assertTrue(allowed["Resource"].endswith(":function:tandem-background-on-instances"))
        # Nothing else speaks of the functions that are not there.
        self.assertNotIn("<ForegroundFunction", json.dumps(managed))
        self.assertNotIn("<BackgroundFunction", json.dumps(managed))

    def test_lambda_does_what_the_runtime_counts_on(self):
        resources = self.stack().resources
        properties = {name: resource.get("Properties", {}) for name, resource in resources.items()}
        self.assertEqual(properties["ForegroundUrl"]["InvokeMode"], "RESPONSE_STREAM")
        # A run that goes on invokes the function that it runs in; Lambda stops that after 16 times.
        self.assertEqual(properties["BackgroundFunction"]["RecursiveLoop"], "Allow")
        # Who tries again is the runtime, which knows whether a run needs it; a dispatch that is late is void.
        for name in [name for name in resources if name.endswith("EventInvokeConfig")]:
            config = properties[name]
            self.assertEqual((config["MaximumRetryAttempts"], config["MaximumEventAgeInSeconds"]), (0, 60), name)
        self.assertIn("BackgroundFunctionEventInvokeConfig", resources)
        config = (TOP / "shared/runs/src/config.rs").read_text()
        seconds = lambda field: int(re.search(rf"{field}: ms\(([\d_]+)\)", config)[1]) / 1000
        soft, margin = seconds("foreground_soft_timeout"), seconds("margin")
        timeout = {name: properties[f"{name}Function"]["Timeout"] for name in ("Foreground", "Background")}
        # It may begin to drive a run only when nobody has claimed it.
        self.assertGreaterEqual(timeout["Foreground"], seconds("claim_grace") + soft + margin)
        self.assertGreaterEqual(timeout["Foreground"], seconds("stream_window") + margin)
        self.assertGreaterEqual(timeout["Background"], seconds("background_soft_timeout") + margin)

    def test_a_panic_does_not_end_the_process(self):
        # cargo-lambda adds panic="abort" to a release profile that does not say what it wants.
        release = tomllib.loads((TOP / "Cargo.toml").read_text())["profile"]["release"]
        self.assertEqual(release["panic"], "unwind")

    def test_what_lambda_gives_up_comes_to_the_sweeper(self):
        resources = self.stack().resources
        failures = resources["BackgroundFunctionEventInvokeConfig"]["Properties"]["DestinationConfig"]["OnFailure"]
        [mapping] = [one for one in resources.values() if one["Type"] == "AWS::Lambda::EventSourceMapping"]
        mapping = mapping["Properties"]
        self.assertEqual(failures["Destination"], "<FailedDispatches.Arn>")
        self.assertEqual(mapping["EventSourceArn"], "<FailedDispatches.Arn>")
        self.assertEqual(mapping["FunctionName"], "<SweeperFunction>")
        self.assertEqual(mapping["FunctionResponseTypes"], ["ReportBatchItemFailures"])
        # Lambda refuses a mapping whose messages come again while they are dealt with.
        timeout = resources["SweeperFunction"]["Properties"]["Timeout"]
        self.assertGreaterEqual(resources["FailedDispatches"]["Properties"]["VisibilityTimeout"], 6 * timeout)


def models_without_a_price(stack):
    """With any budget a function does not start where a model has none (shared/host/src/lib.rs)."""
    if not any(stack.values[f"Budget{of}Usd"] for of in ("Run", "UserDaily", "TenantDaily")):
        return []
    priced = {price.rpartition("=")[0].strip() for price in stack.values["ModelPrices"].split(",")}
    models = [stack.values["Model"], *stack.values["Models"].split(",")]
    return [model for model in map(str.strip, models) if model and model not in priced]


def physical_names(resource):
    """(property, value) of each name that a resource has in its account, of its own or in its one configuration."""
    kind, properties = resource["Type"].rpartition("::")[2], resource.get("Properties", {})
    # What belongs to another resource is named within that.
    if "RestApiId" in properties:
        return
    for part in [properties, *(one for key, one in properties.items() if key == f"{kind}Config")]:
        for key in ("Name", f"{kind}Name"):
            if key in part:
                yield key, part[key]


if __name__ == "__main__":
    unittest.main()
