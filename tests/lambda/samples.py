"""events/foreground/*.json in the order of events/README.md, and the statuses that it tells."""

import re

from deployment import TOP

# | `run.json` | 404 (200) | ...: as it is, and with the ids of a run that exists.
ROW = re.compile(r"^\| `([a-z-]+\.json)` \| (\d{3})(?: \((\d{3})\))? \|", re.MULTILINE)
RUN, CALL = "run_0000000000000000", "call_0000000000000000"


def told():
    """(name, status, status with a run or None) of every event; each file must be told once."""
    rows = [(name, int(status), int(real) if real else None) for name, status, real in ROW.findall(readme())]
    files = sorted(path.name for path in (TOP / "events/foreground").iterdir())
    assert sorted(name for name, *_ in rows) == files, f"events/README.md and events/foreground differ: {files}"
    return rows


def readme():
    return (TOP / "events/README.md").read_text()


def of_run(event, run, call=""):
    """The event, about another run than the one that does not exist."""
    path = event["rawPath"].replace(RUN, run).replace(CALL, call)
    event["rawPath"] = event["requestContext"]["http"]["path"] = path
    return event
