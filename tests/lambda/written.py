"""The deployments that the documents and samconfig.toml write down."""

import re
import shlex
import tomllib

from deployment import TOP


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
