"""The template's metric filters, held against log lines: as much of CloudWatch's filter language as they use."""

import json
import re

from stack import template

TERM = re.compile(r'\(?\s*\$\.([\w.]+) (=|!=) "([^"]*)"\s*\)?')


def filters(log):
    """(metric, pattern) of every filter over a log group."""
    resources = template()["Resources"].values()
    of_log = [one["Properties"] for one in resources if one["Type"] == "AWS::Logs::MetricFilter"]
    of_log = [one for one in of_log if one["LogGroupName"] == {"Ref": log}]
    return [(one["MetricTransformations"][0], one["FilterPattern"]) for one in of_log]


def counted(log, lines):
    """What the filters of a log group make of these lines: the sum of every metric that has any."""
    sums = {}
    for transformation, pattern in filters(log):
        for line in lines:
            if matches(pattern, line):
                value = transformation["MetricValue"]
                value = field(line, value[2:]) if value.startswith("$.") else int(value)
                sums[transformation["MetricName"]] = sums.get(transformation["MetricName"], 0) + value
    return sums


def matches(pattern, line):
    terms = pattern.strip("{} ").split("&&")
    parsed = [TERM.fullmatch(term.strip()) for term in terms]
    assert all(parsed), f"only terms with && are known here: {pattern}"
    return all((field(line, name) == text) == (sign == "=") for name, sign, text in (term.groups() for term in parsed))


def field(line, path):
    for name in path.split("."):
        line = line.get(name) if isinstance(line, dict) else None
    return line


def lines(words):
    """The JSON lines of what a process wrote."""
    objects = [line for line in words.splitlines() if line.startswith("{")]
    return [json.loads(line) for line in objects]
