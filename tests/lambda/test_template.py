"""What template.yaml makes under the parameters that the documents and samconfig.toml mention."""

import itertools
import json
import re
import shlex
import subprocess
import sys
import tomllib
import unittest
from pathlib import Path
from unittest import mock

import metrics
from deployment import TOP
from stack import PSEUDO, Stack, expanded, template

SIGN_IN = {"OidcIssuer": "https://issuer.example/realm", "OidcAudience": "tandem"}
TOOLS = Path(sys.executable).parent
# What a parameter brings, and what it takes away.
URL = {"ForegroundUrl", "ForegroundUrlPermission", "ForegroundUrlInvokePermission"}
REST_API = {f"RestApi{part}" for part in ("", "Path", "Method", "Refusal", "Fault", "Deployment", "Stage", "Permission")}
REST_API_ON_INSTANCES = REST_API - {"RestApiDeployment"} | {"RestApiDeploymentOnInstances"}
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
                resources = self.stack(**parameters).resources
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

    def test_two_stacks_may_stand_beside_one_another(self):
        named, one = 0, "a-stack-of-mine"
        with mock.patch.dict(PSEUDO, {"AWS::StackName": one}):
            for parameters in [{}, {"Ui": "true", "Entrance": "RestApi"}, CAPACITY, {"Entrance": "RestApi", **CAPACITY}]:
                for name, resource in self.stack(**parameters).resources.items():
                    for key, value in physical_names(resource):
                        named += 1
                        self.assertIn(one, value, f"{name}: {key}")
                        if resource["Type"].startswith("AWS::CloudFront::"):
                            self.assertIn("us-east-1", value, f"{name}: {key}")
        self.assertGreater(named, 10)

    def test_the_rest_api_is_deployed_anew_where_what_it_calls_is_another(self):
        seen = {}
        for parameters in ({}, CAPACITY):
            resources = self.stack(Entrance="RestApi", **parameters).resources
            called = resources["RestApiMethod"]["Properties"]["Integration"]["Uri"]
            deployment = resources["RestApiStage"]["Properties"]["DeploymentId"]
            self.assertIn("RestApiMethod", resources[deployment.strip("<>")]["DependsOn"])
            seen[called] = deployment
        self.assertEqual((len(seen), len(set(seen.values()))), (2, 2), seen)

    def test_a_table_that_is_there_takes_the_place_of_the_stacks_own_everywhere(self):
        stack = self.stack(ExistingTable="restored", **{"Ui": "true"})
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
            (CAPACITY | rest, ON_INSTANCES | REST_API_ON_INSTANCES, ON_LAMBDA | URL),
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

    def test_whatever_stands_in_front_waits_for_the_foreground(self):
        resources = self.stack(Ui="true", Entrance="RestApi").resources
        timeout = resources["ForegroundFunction"]["Properties"]["Timeout"]
        self.assertGreater(resources["RestApiMethod"]["Properties"]["Integration"]["TimeoutInMillis"], timeout * 1000)
        config = resources["Distribution"]["Properties"]["DistributionConfig"]
        [wait] = [one["CustomOriginConfig"]["OriginReadTimeout"] for one in config["Origins"] if one["Id"] == "api"]
        self.assertGreater(wait, timeout)
        # More is a quota.
        self.assertLessEqual(wait, 120)

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

    def test_answers_of_500_and_above_ring_whatever_stands_in_front(self):
        for parameters, want in [
            ({}, ("AWS/Lambda", "Url5xxCount", "FunctionName", "<ForegroundFunction>")),
            (CAPACITY, ("AWS/Lambda", "Url5xxCount", "FunctionName", "<ForegroundOnInstances>")),
            ({"Entrance": "RestApi"}, ("AWS/ApiGateway", "5XXError", "ApiName", "tandem")),
        ]:
            resources = self.stack(**parameters).resources
            alarm = resources["ForegroundFaultsAlarm"]["Properties"]
            [dimension] = alarm["Dimensions"]
            self.assertEqual((alarm["Namespace"], alarm["MetricName"], dimension["Name"], dimension["Value"]), want)
            if "RestApi" in resources:
                self.assertEqual(resources["RestApi"]["Properties"]["Name"], dimension["Value"])

    def test_the_document_counts_alarms_and_metrics_as_they_are(self):
        alarms = [one["Properties"] for one in self.stack().resources.values() if one["Type"] == "AWS::CloudWatch::Alarm"]
        read = [sum("MetricStat" in metric for metric in alarm.get("Metrics", [])) or 1 for alarm in alarms]
        text = (TOP / "docs/deploy.md").read_text()
        told = re.search(r"(\d+) alarms, one of which reads (\d+) metrics: (\d+) \* \$0\.10, and (\d+) metrics of the sweeper", text)
        sweeper = {"Sweeps", "DueRuns", "SweepFaults"}
        self.assertEqual(tuple(map(int, told.groups())), (len(alarms), max(read), sum(read), len(sweeper & metrics.written())))
        dollars = sum(read) * 0.10 + len(sweeper) * 0.30
        further = re.search(r"= \$([\d.]+); and \$0\.30 for each further one that there is something to write of, (\d+) and", text)
        self.assertEqual((float(further[1]), int(further[2])), (round(dollars, 2), len(metrics.written() - sweeper)))

    def test_every_alarm_is_explained(self):
        text = (TOP / "docs/operate.md").read_text()
        for name, resource in template()["Resources"].items():
            if resource["Type"] == "AWS::CloudWatch::Alarm":
                self.assertIn(f"`{name}`", text)
        # And what to do is a command, a click, or a way to one.
        rows = [row.strip("| ").split(" | ") for row in text.splitlines() if re.match(r"\| `\w+Alarm`", row)]
        self.assertGreater(len(rows), 8)
        for name, *_, do in rows:
            self.assertRegex(do, r"`make |\]\(|\*[A-Z][^*]*, [^*]*\*|tandem doctor", name)

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


def samconfig(name):
    """What samconfig.toml gives to a new stack of this environment."""
    environments = tomllib.loads((TOP / "samconfig.toml").read_text())
    return environments[name].get("deploy", {}).get("parameters", {}).get("parameter_overrides", [])


def written_deployments():
    """(where, ["Name=value", ...]) of every `make deploy` and `make set` of the documents, and of samconfig.toml."""
    for name in tomllib.loads((TOP / "samconfig.toml").read_text()):
        if name != "version":
            yield f"samconfig.toml: {name}", samconfig(name)
    for path in sorted([TOP / "README.md", *TOP.glob("docs/*.md")]):
        for command in written_commands(path):
            _, env, words = parsed(command)
            yield f"{path.name}: {command}", samconfig(env) + words


def in_order(document):
    """(target, environment, ["Name=value", ...]) of each of a document's commands that stands in a block."""
    return [parsed(command) for command in written_commands(TOP / document, inline=False)]


def written_commands(path, inline=True):
    """Each command of a block, where a line that ends with a backslash goes on; and those within a text."""
    found = re.findall(r"^\s*(make (?:deploy|set) .*)$", path.read_text().replace("\\\n", " "), re.MULTILINE)
    found += re.findall(r"`(make (?:deploy|set) [^`]*)`", path.read_text()) if inline else []
    # How any parameter is written.
    return [command for command in found if "Name=value" not in command]


def parsed(command):
    _, target, *words = shlex.split(command)
    given = dict(word.split("=", 1) for word in words)
    return target, given["ENV"], shlex.split(given.get("PARAMETERS", ""))


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


def node():
    found = subprocess.run([TOP / "scripts/node.sh"], capture_output=True, text=True, check=True)
    return Path(found.stdout.strip().splitlines()[-1]) / "node"


if __name__ == "__main__":
    unittest.main()
