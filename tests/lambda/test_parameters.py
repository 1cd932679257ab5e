"""Values that CloudFormation refuses, and those of which the functions would die: no good value is refused by either."""

import itertools
import re
import tempfile
import unittest
from pathlib import Path

from deployment import Process, wait_for
from stack import expanded, parameter
from test_documents import TANDEM

USD = ["", "0", "0.50", " 2. ", "2.000000001", "18446744073"], ["-1", "1,50", "$2", "0.0000000001", "1e3", "999999999999"]
ORIGINS = ["", "https://a.example", " https://a.example, http://localhost:5173 ,,http://[::1]"]
NO_ORIGINS = ["a.example", "*", "https://a.example/path", "https://a.example/", "https://a.example,b.example", "https://"]
# What a parameter takes, and what it must not.
SAMPLES = {
    "Model": (
        ["", "scripted", "anthropic/claude-haiku-4-5", "openai/x/y", " bedrock/us.anthropic.claude-v1:0 "],
        ["gpt", "anthropic", "anthropic/", "Scripted", "scripted/x", "azure/gpt"],
    ),
    "Models": (
        ["", "scripted", "openai/x, anthropic/y ,,bedrock/us.a-v1:0", "scripted,"],
        ["gpt", "scripted,anthropic/", "scripted openai/x", "scripted;openai/x"],
    ),
    "ModelPrices": (
        ["", "scripted=1/2", "anthropic/c-5 = 3/15/0.30 , openai/x=y=0.075/0.6,", "a=0/1000000.5"],
        ["a", "a=1", "a=1/2/3/4", "a=1/-2", "a=1/0.0001", "a=1/1e3", "=1/2", "a=1/.6", "a=1/99999999"],
    ),
    "BudgetRunUsd": USD,
    "BudgetUserDailyUsd": USD,
    "BudgetTenantDailyUsd": USD,
    "McpAllowedOrigins": (ORIGINS, NO_ORIGINS),
    "MailFrom": (
        ["", "inbox@example.com", "Inbox <inbox@example.com>", "tandem@localhost"],
        ["nobody", "@example.com", "inbox@", "Inbox <inbox>"],
    ),
}
# Read by the foreground alone: shared/http/src/cors.rs has the same samples.
AT_THE_FOREGROUND = {
    "AllowedOrigins": (
        ["*", "https://www.example.com", "https://www.example.com,http://localhost:5173"],
        ["a.example", "https://a.example/", "https://A.example", "ftp://a.example"],
    ),
}
# Read by the user interface, or only put beside what is read.
ELSEWHERE = {
    "OidcAudience": (
        ["", "tandem", "https://tandem.example.com", "page, programs", "page,programs"],
        ["page programs", 'a"b', "a,,b", "a\\b"],
    ),
    "UiScope": (
        ["openid", "openid profile", "openid profile offline_access api://0-1/access", "profile openid"],
        ["", "profile", "openid,profile", 'openid "x"', "openid  profile", "openidx"],
    ),
}


class Parameters(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.whole = expanded()

    def test_a_value_of_which_a_function_would_die_is_refused_before_it_is_deployed(self):
        for name, (good, bad) in (SAMPLES | AT_THE_FOREGROUND | ELSEWHERE).items():
            declared = self.whole["Parameters"][name]
            self.assertIn("ConstraintDescription", declared, name)
            for value in good:
                with self.subTest(name, good=value):
                    parameter(name, declared, value)
            for value in bad:
                with self.subTest(name, bad=value), self.assertRaisesRegex(ValueError, "is not allowed"):
                    parameter(name, declared, value)

    def test_the_program_takes_and_refuses_the_same_values(self):
        variables = self.whole["Resources"]["ForegroundFunction"]["Properties"]["Environment"]["Variables"]
        names = {name: variable for variable, value in variables.items() for name in [reference(value)] if name in SAMPLES}
        self.assertEqual(set(names), set(SAMPLES))
        # A budget needs the price of each model, and room for an answer.
        budgets = {name for name in SAMPLES if name.startswith("Budget")}
        more = {"MODEL_PRICES": "scripted=0/0"}
        for together in (budgets, set(SAMPLES) - budgets):
            for values in itertools.zip_longest(*(SAMPLES[name][0] for name in together), fillvalue=""):
                good = {names[name]: value for name, value in zip(together, values)}
                with self.subTest(good=good):
                    self.assertRegex(started(more | good), r"http://[\d.:]+\d")
        for name, (_, bad) in SAMPLES.items():
            for value in bad:
                with self.subTest(name, bad=value):
                    said = started(more | {names[name]: value})
                    self.assertRegex(said, f"^tandem: .*{names[name]}")

    def test_a_value_that_stands_in_the_examples_is_one(self):
        for name, declared in self.whole["Parameters"].items():
            for value in re.findall(r"such as ([^\s,]+)", declared.get("ConstraintDescription", "")):
                with self.subTest(name):
                    parameter(name, declared, value.replace("<id>", "some-model"))


def reference(value):
    return value.get("Ref") if isinstance(value, dict) else None


def started(env):
    """What `tandem dev` says first: where it listens, or why it does not."""
    with tempfile.TemporaryDirectory() as folder:
        dev = Process([TANDEM, "dev", "--port", "0", "--data", Path(folder) / "data"], env, Path(folder) / "dev")
        try:
            found = wait_for(lambda: re.search(r"http://[\d.:]+\d|^tandem: .*", dev.words(), re.MULTILINE), dev.words)
            return found.group()
        finally:
            dev.stop()


if __name__ == "__main__":
    unittest.main()
