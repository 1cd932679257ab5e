"""The functions may do what their sources do, and nothing else."""

import unittest

import sources
from stack import Stack, expanded

MODEL = "arn:aws:bedrock:us-east-1::foundation-model/example.model-v1"


class Permissions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stack = Stack(expanded(), OidcIssuer="https://issuer.example", OidcAudience="tandem", BedrockModels=MODEL)

    def test_a_function_may_do_what_its_code_does_and_nothing_else(self):
        [index] = sources.indexes()
        table = "arn:aws:dynamodb:us-east-1:123456789012:table/<Table>"
        store = {(action, table) for action in sources.dynamodb_actions()}
        store.add(("dynamodb:Query", f"{table}/index/{index}"))
        self.assertEqual(set(sources.calls("lambda")), {"Invoke"})
        background = "arn:aws:lambda:us-east-1:123456789012:function:tandem-background"
        every = store | {("lambda:InvokeFunction", background)}
        models = {(action, MODEL) for action in sources.bedrock_actions()}
        queue = lambda *actions: {(f"sqs:{action}", "<FailedDispatches.Arn>") for action in actions}
        # What Lambda itself does in the functions' names: a destination, and an event source mapping.
        sends, reads = queue("SendMessage"), queue("ReceiveMessage", "DeleteMessage", "GetQueueAttributes")
        for function, more in [("Foreground", models), ("Background", models | sends), ("Sweeper", reads)]:
            log = {(f"logs:{action}", f"<{function}Log.Arn>") for action in ("CreateLogStream", "PutLogEvents")}
            self.assertEqual(self.granted(f"{function}Function"), every | more | log, function)

    def test_the_code_uses_no_other_service(self):
        self.assertEqual(sources.other_sdks(), set())

    def test_only_a_local_store_makes_its_table(self):
        makers = {file for operation in sources.TABLE_MAKING for file in sources.calls("dynamodb")[operation]}
        self.assertLessEqual(makers, {"table.rs", "lib.rs"})
        host = (sources.TOP / "shared/host/src/lib.rs").read_text()
        self.assertEqual(host.count(".create_table()"), 1)
        self.assertIn("if is_local_store() {\n        store.create_table()", host)

    def test_nothing_is_granted_with_a_star(self):
        for name, role in self.stack.resources.items():
            if role["Type"] == "AWS::IAM::Role":
                for action, resource in grants(self.stack, role):
                    self.assertNotIn("*", action, name)
                    self.assertNotEqual(resource, "*", name)

    def test_the_schedule_may_invoke_the_sweeper_alone(self):
        schedule = self.stack.resources["SweeperFunctionEveryMinute"]["Properties"]
        self.assertEqual(schedule["Target"]["Arn"], "<SweeperFunction.Arn>")
        role = schedule["Target"]["RoleArn"].strip("<>").removesuffix(".Arn")
        granted = grants(self.stack, self.stack.resources[role])
        self.assertEqual(granted, {("lambda:InvokeFunction", "<SweeperFunction.Arn>")})

    def granted(self, function):
        role = self.stack.resources[function]["Properties"]["Role"].strip("<>").removesuffix(".Arn")
        return grants(self.stack, self.stack.resources[role])


def grants(stack, role):
    """(action, resource) of everything that a role allows."""
    properties = role["Properties"]
    policies = [policy["PolicyDocument"] for policy in properties.get("Policies", [])]
    for managed in properties.get("ManagedPolicyArns", []):
        policies.append(stack.resources[managed.strip("<>")]["Properties"]["PolicyDocument"])
    statements = [statement for policy in policies for statement in policy["Statement"]]
    assert all(statement["Effect"] == "Allow" for statement in statements)
    return {
        (action, resource)
        for statement in statements
        for action in as_list(statement["Action"])
        for resource in as_list(statement["Resource"])
    }


def as_list(one):
    return one if isinstance(one, list) else [one]


if __name__ == "__main__":
    unittest.main()
