"""What template.yaml makes under the parameters that the documents and samconfig.toml mention."""

import json
import re
import shlex
import subprocess
import sys
import tomllib
import unittest
from pathlib import Path

from samcli.cli.types import CfnParameterOverridesType

import metrics
from deployment import TOP
from stack import Stack, expanded, template

SIGN_IN = {"OidcIssuer": "https://issuer.example/realm", "OidcAudience": "tandem"}
TOOLS = Path(sys.executable).parent
# What a parameter brings, and what it takes away.
URL = {"ForegroundUrl", "ForegroundUrlPermission", "ForegroundUrlInvokePermission"}
REST_API = {f"RestApi{part}" for part in ("", "Path", "Method", "Refusal", "Fault", "Deployment", "Stage", "Permission")}
REST_DOMAIN = {"RestApiDomain", "RestApiMapping"}
UI = {"UiBucket", "UiBucketPolicy", "UiBucketAccess", "UiPaths", "SecurityHeaders", "Distribution"}
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
                self.assertEqual(CfnParameterOverridesType().convert(tuple(words), None, None), parameters)
                resources = self.stack(**parameters).resources
                self.assertEqual(len({"ForegroundFunction", "ForegroundOnInstances"} & set(resources)), 1)

    def test_every_choice_brings_its_resources_and_no_others(self):
        plain = set(self.stack().resources)
        alarms = {name for name in self.whole["Resources"] if self.whole["Resources"][name].get("Condition") == "HasAlarms"}
        self.assertLessEqual(URL | alarms, plain)
        rest, own = {"Entrance": "RestApi"}, {"Ui": "true"}
        for parameters, more, less in [
            (rest, REST_API, URL),
            (rest | DOMAIN, REST_API | REST_DOMAIN, URL),
            (rest | FIREWALL, REST_API | {"RestApiFirewall"}, URL),
            (own, UI, set()),
            (own | DOMAIN | FIREWALL, UI, set()),
            (own | rest | DOMAIN | FIREWALL, UI | REST_API, URL),
            ({"BedrockModels": "arn:aws:bedrock:us-east-1::foundation-model/m"}, {"ModelAccess"}, set()),
            (CAPACITY, ON_INSTANCES, ON_LAMBDA),
            (CAPACITY | rest, ON_INSTANCES | REST_API, ON_LAMBDA | URL),
            ({"AlarmEmail": "ops@example.com"}, {"AlarmSubscription"}, set()),
            ({"Alarms": "false", "AlarmEmail": "ops@example.com"}, set(), alarms),
        ]:
            with self.subTest(parameters):
                self.assertEqual(set(self.stack(**parameters).resources), (plain | more) - less)

    def test_contradictions_are_refused(self):
        for parameters, why in [
            ({"OidcIssuer": ""}, "OidcIssuer is empty"),
            ({"OidcAudience": ""}, "OidcAudience is empty"),
            ({"DomainName": "app.example.com", "Ui": "true"}, "needs CertificateArn"),
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

    def test_the_address_is_that_of_what_stands_in_front(self):
        api = "https://<RestApi>.execute-api.us-east-1.amazonaws.com/v1/"
        for parameters, url in [
            ({}, "https://ForegroundUrl.FunctionUrl/"),
            ({"Entrance": "RestApi"}, api),
            ({"Entrance": "RestApi", **DOMAIN}, "https://app.example.com/"),
            ({"Ui": "true"}, "https://<Distribution.DomainName>/"),
            ({"Ui": "true", "Entrance": "RestApi", **DOMAIN}, "https://app.example.com/"),
        ]:
            with self.subTest(parameters):
                self.assertEqual(self.stack(**parameters).outputs["Url"], url)

    def test_pages_of_other_origins_are_answered_once(self):
        given = {"AllowedOrigins": "https://a.example,https://b.example"}
        for entrance, at_the_url in [("FunctionUrl", True), ("RestApi", False)]:
            with self.subTest(entrance):
                resources = self.stack(Entrance=entrance, **given).resources
                variables = resources["ForegroundFunction"]["Properties"]["Environment"]["Variables"]
                own = "" if at_the_url else given["AllowedOrigins"]
                self.assertEqual(variables["CORS_ALLOWED_ORIGINS"], own)
                self.assertEqual("ForegroundUrl" in resources, at_the_url)
                if at_the_url:
                    cors = resources["ForegroundUrl"]["Properties"]["Cors"]
                    self.assertEqual(cors["AllowOrigins"], given["AllowedOrigins"].split(","))
                else:
                    # Every method comes to the foreground, OPTIONS too; and a refusal of the API itself can be read.
                    self.assertEqual(resources["RestApiMethod"]["Properties"]["HttpMethod"], "ANY")
                    for name in ("RestApiRefusal", "RestApiFault"):
                        headers = resources[name]["Properties"]["ResponseParameters"]
                        self.assertEqual(headers, {"gatewayresponse.header.Access-Control-Allow-Origin": "'*'"})
                        self.assertIn(name, resources["RestApiDeployment"]["DependsOn"])

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

    def test_cloudfront_streams_from_either_entrance(self):
        for entrance, origin in [
            ("FunctionUrl", ("ForegroundUrl.FunctionUrl", "")),
            ("RestApi", ("<RestApi>.execute-api.us-east-1.amazonaws.com", "/v1")),
        ]:
            resources = self.stack(Ui="true", Entrance=entrance).resources
            config = resources["Distribution"]["Properties"]["DistributionConfig"]
            [api] = [one for one in config["Origins"] if one["Id"] == "api"]
            self.assertEqual((api["DomainName"], api["OriginPath"]), origin)
            behavior = config["DefaultCacheBehavior"]
            self.assertEqual((behavior["TargetOriginId"], behavior["Compress"]), ("api", False))
            others = {one["PathPattern"]: one["TargetOriginId"] for one in config["CacheBehaviors"]}
            self.assertEqual(others, {"/": "ui", "/app": "ui", "/app/*": "ui"})
            every = [behavior, *config["CacheBehaviors"]]
            self.assertTrue(all(one["ResponseHeadersPolicyId"] == "<SecurityHeaders>" for one in every))

    def test_no_endpoint_lies_where_the_user_interface_is(self):
        paths = json.loads((TOP / "docs/openapi.json").read_text())["paths"]
        self.assertEqual([path for path in paths if path == "/" or re.match("/app(/|$)", path)], [])

    def test_addresses_of_the_user_interface_lead_to_its_page(self):
        code = self.stack(Ui="true").resources["UiPaths"]["Properties"]["FunctionCode"]
        page, front = "/app/index.html", "/app/"
        for asked, want in [
            ("/app/", page),
            ("/app/threads/t-1", page),
            ("/app/inbox/a.b", page),
            ("/app/assets/index-a1.js", "/app/assets/index-a1.js"),
            ("/app/config.json", "/app/config.json"),
            ("/", front),
            ("/app", front),
        ]:
            script = f"{code}\nconst told = handler({{request: {{uri: {json.dumps(asked)}}}}})\n"
            script += "console.log(told.uri ?? told.headers.location.value)"
            told = subprocess.run([node(), "-e", script], capture_output=True, text=True, check=True)
            self.assertEqual((asked, told.stdout.strip()), (asked, want))

    def test_the_page_keeps_to_its_security_policy(self):
        headers = self.stack(Ui="true").resources["SecurityHeaders"]["Properties"]["ResponseHeadersPolicyConfig"]
        policy = headers["SecurityHeadersConfig"]["ContentSecurityPolicy"]["ContentSecurityPolicy"]
        self.assertIn("script-src 'self';", policy)
        self.assertIn("connect-src 'self' https://issuer.example ;", policy)
        scripts = re.findall("<script[^>]*>", (TOP / "app/index.html").read_text())
        self.assertTrue(all(" src=" in script for script in scripts), scripts)

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

    def test_alarms_tell_somebody(self):
        alarms = [one for one in self.stack().resources.values() if one["Type"] == "AWS::CloudWatch::Alarm"]
        self.assertGreater(len(alarms), 8)
        for alarm in alarms:
            self.assertEqual(alarm["Properties"]["AlarmActions"], ["<AlarmTopic>"])

    def test_every_alarm_is_explained(self):
        text = (TOP / "docs/operate.md").read_text()
        for name, resource in template()["Resources"].items():
            if resource["Type"] == "AWS::CloudWatch::Alarm":
                self.assertIn(f"`{name}`", text)

    def test_what_alarms_and_the_dashboard_read_is_written_and_explained(self):
        resources = self.stack().resources
        namespace = resources["ForegroundFunction"]["Properties"]["Environment"]["Variables"]["METRICS_NAMESPACE"]
        self.assertEqual(namespace, "Tandem/tandem")
        alarms = [one["Properties"] for one in resources.values() if one["Type"] == "AWS::CloudWatch::Alarm"]
        read = {alarm["MetricName"] for alarm in alarms if alarm.get("Namespace") == namespace}
        dashboard = json.loads(resources["Dashboard"]["Properties"]["DashboardBody"])
        shown = [metric for one in dashboard["widgets"] for metric in one["properties"].get("metrics", [])]
        read |= {metric[1] for metric in shown if metric[0] == namespace}
        self.assertLessEqual(read, metrics.written())
        text = (TOP / "docs/operate.md").read_text()
        self.assertEqual([name for name in metrics.written() if f"`{name}`" not in text], [])

    def test_without_alarms_there_are_no_metrics(self):
        variables = self.stack(Alarms="false").resources["ForegroundFunction"]["Properties"]["Environment"]["Variables"]
        self.assertEqual(variables["METRICS_NAMESPACE"], "")

    def test_the_dashboard_is_json(self):
        stack = self.stack()
        body = json.loads(stack.resources["Dashboard"]["Properties"]["DashboardBody"])
        taken = {(one["x"], one["y"]) for one in body["widgets"]}
        self.assertEqual(len(taken), len(body["widgets"]))


def written_deployments():
    """(where, ["Name=value", ...]) of every `make deploy` in the documents, and of every environment of samconfig.toml."""
    environments = tomllib.loads((TOP / "samconfig.toml").read_text())
    of = lambda name: environments[name].get("deploy", {}).get("parameters", {}).get("parameter_overrides", [])
    for name in environments:
        if name != "version":
            yield f"samconfig.toml: {name}", of(name)
    for path in sorted([TOP / "README.md", *TOP.glob("docs/*.md")]):
        # A line that ends with a backslash goes on.
        for command in re.findall(r"^\s*(make deploy .*)$", path.read_text().replace("\\\n", " "), re.MULTILINE):
            words = dict(word.split("=", 1) for word in shlex.split(command)[2:])
            yield f"{path.name}: {command}", of(words["ENV"]) + shlex.split(words.get("PARAMETERS", ""))


def node():
    found = subprocess.run([TOP / "scripts/node.sh"], capture_output=True, text=True, check=True)
    return Path(found.stdout.strip().splitlines()[-1]) / "node"


if __name__ == "__main__":
    unittest.main()
