"""What answers HTTPS under the parameters of template.yaml: Function URL, REST API, CloudFront with the user interface."""

import json
import re
import subprocess
import unittest
from pathlib import Path

from deployment import TOP
from stack import COPIED, Stack, deployment_name, expanded
from test_template import CAPACITY, DOMAIN, SIGN_IN, WITH_UI


class Entrances(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.whole = expanded()

    def stack(self, **parameters):
        return Stack(self.whole, **{**SIGN_IN, **parameters})

    def test_the_rest_api_is_deployed_anew_where_what_it_calls_is_another(self):
        seen = {}
        for parameters in ({}, CAPACITY):
            resources = self.stack(Entrance="RestApi", **parameters).resources
            called = resources["RestApiMethod"]["Properties"]["Integration"]["Uri"]
            deployment = resources["RestApiStage"]["Properties"]["DeploymentId"]
            self.assertIn("RestApiMethod", resources[deployment.strip("<>")]["DependsOn"])
            seen[called] = deployment
        self.assertEqual((len(seen), len(set(seen.values()))), (2, 2), seen)

    def test_a_rest_api_that_is_changed_is_deployed_anew(self):
        # Whatever belongs to the API is in the copy, but what leads to it.
        api = {name for name, one in self.whole["Resources"].items() if of_the_api(one)}
        deployments = {name for name in api if name.startswith("RestApiDeployment")}
        self.assertEqual(api - deployments, {*COPIED, "RestApiStage", "RestApiMapping"})
        names = {deployment_name(place) for place in ("RestApiDeployment", "RestApiDeploymentOnInstances")}
        self.assertEqual(deployments, names, "the REST API has changed: name its deployments so, or the stage keeps the old one")

    def test_the_address_is_that_of_what_stands_in_front(self):
        api = "https://<RestApi>.execute-api.us-east-1.amazonaws.com/v1/"
        for parameters, url in [
            ({}, "https://ForegroundUrl.FunctionUrl/"),
            ({"Entrance": "RestApi"}, api),
            ({"Entrance": "RestApi", **DOMAIN}, "https://app.example.com/"),
            (WITH_UI, "https://<Distribution.DomainName>/"),
            ({**WITH_UI, "Entrance": "RestApi", **DOMAIN}, "https://app.example.com/"),
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
                        self.assertIn(name, resources[deployment_name("RestApiDeployment")]["DependsOn"])

    def test_the_foreground_knows_the_name_by_which_it_is_called(self):
        domain = {"DomainName": "tandem.example.com", "CertificateArn": "arn:aws:acm:us-east-1:123456789012:certificate/c"}
        for given, name in [
            ({}, ""),
            ({**WITH_UI, **domain}, "https://tandem.example.com"),
            ({"Entrance": "RestApi", **domain}, "https://tandem.example.com"),
            ({"Entrance": "RestApi"}, "https://<RestApi>.execute-api.us-east-1.amazonaws.com/v1"),
        ]:
            resources = self.stack(**given).resources
            variables = resources["ForegroundFunction"]["Properties"]["Environment"]["Variables"]
            self.assertEqual(variables["PUBLIC_URL"], name)

    def test_pages_may_read_the_same_headers_whoever_answers_cors(self):
        shown = self.stack().resources["ForegroundUrl"]["Properties"]["Cors"]["ExposeHeaders"]
        [ours] = re.findall(r"const SHOWN: .*? = \[(.*?)\];", (TOP / "shared/http/src/cors.rs").read_text(), re.DOTALL)
        self.assertEqual(shown, re.findall(r'"(.+?)"', ours))
        for name in ("www-authenticate", "retry-after", "location"):
            self.assertIn(name, shown)

    def test_whatever_stands_in_front_waits_for_the_foreground(self):
        resources = self.stack(**WITH_UI, Entrance="RestApi").resources
        timeout = resources["ForegroundFunction"]["Properties"]["Timeout"]
        self.assertGreater(resources["RestApiMethod"]["Properties"]["Integration"]["TimeoutInMillis"], timeout * 1000)
        config = resources["Distribution"]["Properties"]["DistributionConfig"]
        [wait] = [one["CustomOriginConfig"]["OriginReadTimeout"] for one in config["Origins"] if one["Id"] == "api"]
        self.assertGreater(wait, timeout)
        # More is a quota.
        self.assertLessEqual(wait, 120)

    def test_cloudfront_streams_from_either_entrance(self):
        for entrance, origin in [
            ("FunctionUrl", ("ForegroundUrl.FunctionUrl", "")),
            ("RestApi", ("<RestApi>.execute-api.us-east-1.amazonaws.com", "/v1")),
        ]:
            resources = self.stack(**WITH_UI, Entrance=entrance).resources
            config = resources["Distribution"]["Properties"]["DistributionConfig"]
            [api] = [one for one in config["Origins"] if one["Id"] == "api"]
            self.assertEqual((api["DomainName"], api["OriginPath"]), origin)
            behavior = config["DefaultCacheBehavior"]
            self.assertEqual((behavior["TargetOriginId"], behavior["Compress"]), ("api", False))
            others = {one["PathPattern"]: one["TargetOriginId"] for one in config["CacheBehaviors"]}
            signs_in = ["/mcp", "/.well-known/oauth-protected-resource*"]
            self.assertEqual(others, {**dict.fromkeys(signs_in, "api"), "/": "ui", "/app": "ui", "/app/*": "ui"})
            edge = {"EventType": "viewer-request", "FunctionARN": "<McpSignIn.FunctionARN>"}
            for one in config["CacheBehaviors"]:
                if one["PathPattern"] in signs_in:
                    self.assertEqual(one, {**behavior, "PathPattern": one["PathPattern"], "FunctionAssociations": [edge]})
            every = [behavior, *config["CacheBehaviors"]]
            self.assertTrue(all(one["ResponseHeadersPolicyId"] == "<SecurityHeaders>" for one in every))

    def test_no_endpoint_lies_where_the_user_interface_is(self):
        paths = json.loads((TOP / "docs/openapi.json").read_text())["paths"]
        self.assertEqual([path for path in paths if path == "/" or re.match("/app(/|$)", path)], [])

    def test_who_comes_to_mcp_without_a_token_is_led_to_the_issuer(self):
        code = self.stack(**WITH_UI).resources["McpSignIn"]["Properties"]["FunctionCode"]
        paths = json.loads((TOP / "docs/openapi.json").read_text())["paths"]
        name = "d111.cloudfront.net"
        request = lambda method, uri, **headers: {
            "method": method, "uri": uri, "querystring": {}, "cookies": {},
            "headers": {key: {"value": value} for key, value in {"host": name, **headers}.items()},
        }
        for method in ("POST", "GET"):
            told = at_the_edge(code, request(method, "/mcp", accept="application/json"))
            headers = {key: one["value"] for key, one in told["headers"].items()}
            [document] = re.findall(f'^Bearer resource_metadata="https://{name}(.*)"$', headers["www-authenticate"])
            self.assertEqual((told["statusCode"], headers["content-type"]), (401, "application/problem+json"))
            self.assertEqual((headers["cache-control"], headers["access-control-allow-origin"]), ("no-store", "*"))
            problem = json.loads(told["body"])
            self.assertIn(document, problem.pop("detail"))
            title = "Sign in first"
            self.assertIn(f'"unauthenticated", "{title}"', (TOP / "shared/protocol/src/problem.rs").read_text())
            self.assertEqual(problem, {"type": "about:blank", "title": title, "status": 401, "code": "unauthenticated"})
        # The documents are those of the foreground, with the name that was called.
        for part in ("/mcp", ""):
            uri = document.removesuffix("/mcp") + part
            [example] = [one["example"] for one in paths[uri]["get"]["responses"]["200"]["content"].values()]
            told = at_the_edge(code, request("GET", uri))
            want = example | {"resource": f"https://{name}{part}", "authorization_servers": [SIGN_IN["OidcIssuer"]]}
            self.assertEqual((told["statusCode"], json.loads(told["body"])), (200, want))
        # Whose token is good, and whose is not, is for the foreground; so is a preflight, and what nobody knows.
        for asked in (
            request("POST", "/mcp", authorization="Bearer x"),
            request("OPTIONS", "/mcp", origin="https://a.example"),
            request("OPTIONS", document),
            request("GET", f"{document}/more"),
        ):
            self.assertEqual(at_the_edge(code, asked), asked)

    def test_no_edge_function_is_counted_on_where_cloudfront_runs_none(self):
        # It runs nothing for the viewer's response where the origin answers with 400 or above.
        resources = self.stack(**WITH_UI).resources
        config = resources["Distribution"]["Properties"]["DistributionConfig"]
        behaviors = [config["DefaultCacheBehavior"], *config["CacheBehaviors"]]
        kinds = {edge["EventType"] for one in behaviors for edge in one.get("FunctionAssociations", [])}
        self.assertEqual(kinds, {"viewer-request"})

    def test_the_page_is_told_what_to_ask_the_issuer_for(self):
        told = lambda **given: json.loads(self.stack(**WITH_UI, **given).outputs["UiConfig"])["oidc"]
        want = {
            "authority": SIGN_IN["OidcIssuer"], "clientId": "page", "scope": "openid profile offline_access",
            "audience": "tandem", "tenantClaim": "org_id",
        }
        self.assertEqual(told(), want)
        # The same that the page asks for by itself.
        self.assertIn(f"config.scope ?? '{want['scope']}'", (TOP / "app/src/session/oidc.ts").read_text())
        given = {"UiScope": "openid profile", "OidcAudience": "page, programs", "OidcTenantClaim": "tid"}
        self.assertEqual(told(**given), want | {"scope": "openid profile", "audience": "page", "tenantClaim": "tid"})

    def test_addresses_of_the_user_interface_lead_to_its_page(self):
        code = self.stack(**WITH_UI).resources["UiPaths"]["Properties"]["FunctionCode"]
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
            told = at_the_edge(code, {"uri": asked})
            self.assertEqual((asked, told.get("uri") or told["headers"]["location"]["value"]), (asked, want))

    def test_the_page_keeps_to_its_security_policy(self):
        headers = self.stack(**WITH_UI).resources["SecurityHeaders"]["Properties"]["ResponseHeadersPolicyConfig"]
        policy = headers["SecurityHeadersConfig"]["ContentSecurityPolicy"]["ContentSecurityPolicy"]
        self.assertIn("script-src 'self';", policy)
        self.assertIn("connect-src 'self' https://issuer.example ;", policy)
        scripts = re.findall("<script[^>]*>", (TOP / "app/index.html").read_text())
        self.assertTrue(all(" src=" in script for script in scripts), scripts)


def of_the_api(resource):
    return resource["Type"].startswith("AWS::ApiGateway::") and resource["Type"] != "AWS::ApiGateway::DomainName"


def at_the_edge(code, request):
    """What a CloudFront function answers to a request, or the request that it lets through."""
    script = f"{code}\nconsole.log(JSON.stringify(handler({json.dumps({'request': request})})))"
    told = subprocess.run([node(), "-e", script], capture_output=True, text=True, check=True)
    return json.loads(told.stdout)


def node():
    found = subprocess.run([TOP / "scripts/node.sh"], capture_output=True, text=True, check=True)
    return Path(found.stdout.strip().splitlines()[-1]) / "node"


if __name__ == "__main__":
    unittest.main()
