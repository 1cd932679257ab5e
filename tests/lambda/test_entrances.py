"""What answers HTTPS under the parameters of template.yaml: Function URL, REST API, CloudFront with the user interface."""

import json
import re
import subprocess
import unittest
from pathlib import Path

from deployment import TOP
from stack import Stack, expanded
from test_template import CAPACITY, DOMAIN, SIGN_IN


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

    def test_the_foreground_knows_the_name_by_which_it_is_called(self):
        domain = {"DomainName": "tandem.example.com", "CertificateArn": "arn:aws:acm:us-east-1:123456789012:certificate/c"}
        for given, name in [
            ({}, ""),
            ({"Ui": "true", **domain}, "https://tandem.example.com"),
            ({"Entrance": "RestApi", **domain}, "https://tandem.example.com"),
            ({"Entrance": "RestApi"}, "https://<RestApi>.execute-api.us-east-1.amazonaws.com/v1"),
        ]:
            resources = self.stack(**given).resources
            variables = resources["ForegroundFunction"]["Properties"]["Environment"]["Variables"]
            self.assertEqual(variables["PUBLIC_URL"], name)
        self.assertIn("www-authenticate", self.stack().resources["ForegroundUrl"]["Properties"]["Cors"]["ExposeHeaders"])

    def test_whatever_stands_in_front_waits_for_the_foreground(self):
        resources = self.stack(Ui="true", Entrance="RestApi").resources
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


def node():
    found = subprocess.run([TOP / "scripts/node.sh"], capture_output=True, text=True, check=True)
    return Path(found.stdout.strip().splitlines()[-1]) / "node"


if __name__ == "__main__":
    unittest.main()
