"""template.yaml as CloudFormation gets it, and as it would be under given parameters.

SAM's own translator expands it. What CloudFormation does then (conditions, references, rules) is done here, with
texts such as `<Table.Arn>` for what only AWS knows.
"""

import hashlib
import json
import os
import re

from samcli.yamlhelper import yaml_parse
from samtranslator.translator.transform import transform

from deployment import TOP

PSEUDO = {
    "AWS::AccountId": "123456789012",
    "AWS::Partition": "aws",
    "AWS::Region": "us-east-1",
    "AWS::StackName": "tandem",
    "AWS::URLSuffix": "amazonaws.com",
}
NO_VALUE = object()
# SAM's translator asks the environment.
os.environ.setdefault("AWS_DEFAULT_REGION", PSEUDO["AWS::Region"])


# What a deployment of the REST API is a copy of.
COPIED = ["RestApi", "RestApiPath", "RestApiMethod", "RestApiRefusal", "RestApiFault"]


def template():
    return yaml_parse((TOP / "template.yaml").read_text())


def deployment_name(place):
    """What a deployment of the REST API as it is must be called: under the same name CloudFormation makes no other copy."""
    resources = template()["Resources"]
    text = json.dumps([resources[name] for name in COPIED], sort_keys=True)
    return place + hashlib.sha256(text.encode()).hexdigest()[:8]


def expanded():
    """The template after SAM, with the functions' code in a bucket."""
    sam = template()
    sam["Globals"]["Function"]["CodeUri"] = "s3://code/function.zip"
    return transform(sam, {"AWS::Region": PSEUDO["AWS::Region"]}, NoManagedPolicies())


class NoManagedPolicies:
    """The translator asks for AWS's own policies by name; the template uses none."""

    def load(self):
        return {}


class Stack:
    """What CloudFormation would create. Raises ValueError where it would refuse."""

    def __init__(self, whole, **parameters):
        self.whole = whole
        self.values = PSEUDO | self.parameters(parameters)
        self.check_rules()
        declared = whole["Resources"].items()
        here = {name: one for name, one in declared if self.holds(one.get("Condition"))}
        self.names = set(here)
        self.resources = {name: self.resource(one) for name, one in here.items()}
        outputs = whole["Outputs"].items()
        self.outputs = {name: self.value(one["Value"]) for name, one in outputs if self.holds(one.get("Condition"))}

    def parameters(self, given):
        declared = self.whole["Parameters"]
        if unknown := set(given) - set(declared):
            raise ValueError(f"no such parameters: {sorted(unknown)}")
        return {name: parameter(name, one, given.get(name, one.get("Default"))) for name, one in declared.items()}

    def check_rules(self):
        for rule in self.whole["Rules"].values():
            if self.test(rule["RuleCondition"]):
                for one in rule["Assertions"]:
                    if not self.test(one["Assert"]):
                        raise ValueError(one["AssertDescription"])

    def holds(self, condition):
        return condition is None or self.test(self.whole["Conditions"][condition])

    def test(self, expression):
        [(name, of)] = expression.items()
        match name:
            case "Condition":
                return self.holds(of)
            case "Fn::Equals":
                return str(self.value(of[0])) == str(self.value(of[1]))
            case "Fn::Not":
                return not self.test(of[0])
            case "Fn::And":
                return all(self.test(one) for one in of)
            case "Fn::Or":
                return any(self.test(one) for one in of)
        raise ValueError(f"{name} is no test")

    def resource(self, declared):
        after = declared.get("DependsOn", [])
        for name in [after] if isinstance(after, str) else after:
            self.reference(name)
        return {key: self.value(one) for key, one in declared.items() if key not in ("Condition", "Metadata")}

    def value(self, one):
        if isinstance(one, list):
            return [given for given in map(self.value, one) if given is not NO_VALUE]
        if not isinstance(one, dict):
            return one
        if len(one) == 1:
            [(name, of)] = one.items()
            if name == "Ref" or name.startswith("Fn::"):
                return self.function(name, of)
        values = {key: self.value(part) for key, part in one.items()}
        return {key: part for key, part in values.items() if part is not NO_VALUE}

    def function(self, name, of):
        match name:
            case "Ref":
                return self.reference(of)
            case "Fn::GetAtt":
                return self.reference(".".join(of) if isinstance(of, list) else of)
            case "Fn::If":
                return self.value(of[1] if self.holds(of[0]) else of[2])
            case "Fn::Join":
                return of[0].join(map(str, self.value(of[1])))
            case "Fn::Select":
                return self.value(of[1])[int(of[0])]
            case "Fn::Split":
                return self.value(of[1]).split(of[0])
            case "Fn::Sub":
                text, own = of if isinstance(of, list) else (of, {})
                own = {key: self.value(part) for key, part in own.items()}
                known = lambda match: str(own[match[1]] if match[1] in own else self.reference(match[1]))
                return re.sub(r"\$\{([^!}]+)\}", known, text)
        raise ValueError(f"{name} is not known here")

    def reference(self, name):
        if name == "AWS::NoValue":
            return NO_VALUE
        if name in self.values:
            return self.values[name]
        if name.split(".")[0] not in self.names:
            raise ValueError(f"{name} is referred to and not there")
        return f"https://{name}/" if name.endswith("FunctionUrl") else f"<{name}>"


def parameter(name, declared, given):
    if given is None:
        raise ValueError(f"{name} is missing")
    parts = str(given).split(",") if declared["Type"] == "CommaDelimitedList" else [str(given)]
    for part in parts:
        if "AllowedPattern" in declared and not re.fullmatch(declared["AllowedPattern"], part):
            raise ValueError(f"{name}: {part!r} is not allowed")
        if "AllowedValues" in declared and part not in map(str, declared["AllowedValues"]):
            raise ValueError(f"{name}: {part!r} is not allowed")
    if "MinValue" in declared and float(given) < declared["MinValue"]:
        raise ValueError(f"{name}: {given} is too small")
    return parts if declared["Type"] == "CommaDelimitedList" else given
