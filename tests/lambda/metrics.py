"""The metrics that a function wrote, read as CloudWatch Logs reads the embedded format."""

import json
import re

from deployment import TOP


def counted(words):
    """The sum of every count that a process wrote: `EndedRuns`, and `EndedRuns[Reason=completed]` by a dimension."""
    sums = {}
    for line in lines(words):
        for directive in line.get("_aws", {}).get("CloudWatchMetrics", []):
            for dimensions in directive["Dimensions"]:
                by = ",".join(f"{name}={line[name]}" for name in dimensions)
                for metric in directive["Metrics"]:
                    if metric["Unit"] == "Count":
                        name = metric["Name"] + (f"[{by}]" if by else "")
                        sums[name] = sums.get(name, 0) + line[metric["Name"]]
    return sums


def written():
    """The names of all metrics that the functions write, by their source."""
    table = (TOP / "shared/host/src/metrics.rs").read_text().split("const LINES")[1].split("];\n")[0]
    return set(re.findall(r'counts: Some\("(\w+)"\)', table)) | set(re.findall(r'\("(\w+)", (?:COUNT|MILLI)', table))


def lines(words):
    """The JSON lines of what a process wrote."""
    objects = [line for line in words.splitlines() if line.startswith("{")]
    return [json.loads(line) for line in objects]
