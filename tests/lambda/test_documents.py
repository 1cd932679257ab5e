"""Every fenced block of the documents is run against `tandem dev`, rendered, or in BY_OTHERS.

A block that is nowhere fails. Of one in BY_OTHERS only this is looked at: that the file which is named there still has the
text that is given with it. Some of these files run the block's own text, others the same command in their own words, and
some only have what it names. What stands for something of the reader's own (RUN, TOKEN, an issuer) gets what the
commands before it have brought.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import threading
import unittest
import http.server
from pathlib import Path

from deployment import TOP, Process, wait_for
from written import written_deployments

TANDEM = Path(os.environ.get("TANDEM_BIN", TOP / "target/debug/tandem")).resolve()
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "app/README.md", "events/README.md"]
DOCUMENTS += sorted(str(path.relative_to(TOP)) for path in TOP.glob("docs/**/*.md"))
LOCAL = "http://127.0.0.1:8787"
FENCED = re.compile(r"^( *)```([a-z]*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


def blocks(document):
    """(language, text) of each, in order."""
    return [(language, text) for _, language, text in FENCED.findall((TOP / document).read_text())]


def commands(text):
    """The commands of a block: a line that ends with a backslash, or within quotes, goes on."""
    command = ""
    for line in text.splitlines():
        command = f"{command}\n{line}" if command else line.strip()
        if command.endswith("\\"):
            continue
        try:
            shlex.split(command, comments=True)
        except ValueError:
            continue
        if shlex.split(command, comments=True):
            yield command
        command = ""
    assert not command, f"quotes that do not close: {command}"


class Documents(unittest.TestCase):
    def test_every_block_of_the_documents_is_tried(self):
        with tempfile.TemporaryDirectory() as folder, Reader(Path(folder)) as reader:
            for document in DOCUMENTS:
                for number, (language, text) in enumerate(blocks(document), 1):
                    with self.subTest(f"{document}, block {number}: {text.strip().splitlines()[0]}"):
                        reader.follow(document, language, text)
        self.assertGreater(reader.ran, 15)
        self.assertEqual(set(BY_OTHERS) - reader.by_others, set(), "no document has this any more")

    def test_a_command_that_nobody_knows_is_a_fault(self):
        for line in ["rm -rf /", "make no-such-target", "aws s3 ls", "make deploy ENV=dev PARAMETERS=Nonsense=1"]:
            with self.subTest(line), self.assertRaises(AssertionError):
                Reader(Path(".")).follow("README.md", "sh", line)
        with self.assertRaisesRegex(AssertionError, "nobody tries"):
            Reader(Path(".")).follow("docs/deploy.md", "ts", "let x = 1")


CLIENTS = "tests/clients/documents.test.mjs"
# A text of a block, and the file that deals with it, with a text which that must have.
BY_OTHERS = {
    "new WorkflowChatTransport({": (CLIENTS, "'new WorkflowChatTransport({'"),
    "new DefaultChatTransport({": (CLIENTS, "'new DefaultChatTransport({'"),
    "function watch(url,": (CLIENTS, "'function watch(url,'"),
    "async function follow(url,": (CLIENTS, "'async function follow(url,'"),
    "async function follow(thread)": (CLIENTS, "'async function follow(thread)'"),
    "table.delete_table(": ("tests/lambda/test_operations.py", 'run_command("deploy.md", "delete_table"'),
    "IndexName='due'": ("tests/lambda/test_operations.py", """run_command("operate.md", "IndexName='due'\""""),
    "table.update_continuous_backups(": ("tests/lambda/test_operations.py", 'run_command("operate.md", "update_continuous_backups"'),
    "pub(crate) const ACTION: ActionDef": ("shared/http/tests/http/one_more.rs", "README.md"),
    "npx @modelcontextprotocol/inspector --cli": ("tests/clients/mcp.test.mjs", "@modelcontextprotocol/inspector"),
    "lambda-url/tandem-foreground": ("tests/lambda/watch.py", "lambda-url/tandem-foreground/api/agent-chat"),
    "rustup target add": ("scripts/build-functions.sh", "rustup target add aarch64-unknown-linux-gnu"),
    "scripts/aws-tools.sh": ("scripts/test-lambda.sh", "scripts/aws-tools.sh"),
    "sam list stack-outputs": ("tests/lambda/test_operations.py", "sam list "),
    "sam delete --config-env": ("samconfig.toml", "[dev.global.parameters]"),
    "scripts/build-app.sh": ("scripts/test-app.sh", "build-app.sh"),
    "scripts/test-app.sh": ("Makefile", "scripts/test-app.sh"),
    "npm run format": ("app/package.json", '"format":'),
    "cargo build --release --bin tandem": ("Makefile", "build --release --bins"),
    "--test e2e whole_crowd": ("tests/tests/e2e/hostile/full.rs", "fn honest_turns_finish_under_the_whole_crowd("),
    "npm run dev": ("app/package.json", '"dev":'),
}


class Reader:
    """Does what the documents say, with a `tandem dev` of its own, an issuer that gives tokens, and what it has seen."""

    def __init__(self, folder):
        self.folder, self.known, self.processes, self.ran = folder, {}, [], 0
        self.by_others, self.said = set(), ""

    def __enter__(self):
        command = [TANDEM, "dev", "--port", "0", "--data", self.folder / "data"]
        self.dev = Process(command, {}, self.folder / "dev")
        try:
            self.url = wait_for(lambda: re.search(r"http://[\d.:]+\d", self.dev.words()), self.dev.words).group()
        except BaseException:
            self.dev.stop()
            raise
        self.issuer = Issuer()
        return self

    def __exit__(self, *_):
        self.dev.stop()
        self.issuer.shutdown()

    def follow(self, document, language, text):
        for part, (path, named) in BY_OTHERS.items():
            if part in text and named in (TOP / path).read_text():
                self.by_others.add(part)
                text = without(text, part) if language == "sh" else ""
        if not text.strip():
            return
        match language:
            case "sh":
                checked = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True)
                assert checked.returncode == 0, checked.stderr
                for command in commands(text):
                    self.command(document, command)
            case "py":
                self.shell(f"python3 -c {shlex.quote(text)}")
                assert "w1 w2 w3" in self.said, self.said
            case "":
                self.sample(document, text)
            case "diff":
                self.change(text)
            case _:
                raise AssertionError(f"nobody tries this block ({language}):\n{text}")

    def command(self, document, command):
        words = shlex.split(command, comments=True)
        assignment = re.fullmatch(r"([A-Z]+)=.*", words[0], re.DOTALL)
        if words[0] == "make":
            self.make(document, command, words)
        elif words[0] == "curl" or words[:2] == ["cargo", "tandem"] or assignment or words[0] == "export":
            self.shell(command)
        elif words[0] == ".tools/aws/bin/python" and "get_caller_identity" in command:
            compile(words[2], "deploy.md", "exec")
        else:
            raise AssertionError(f"nobody tries this command: {command}")

    def make(self, document, command, words):
        target, given = words[1], dict(word.split("=", 1) for word in words[2:])
        makefile = (TOP / "Makefile").read_text()
        assert re.search(rf"^{re.escape(target)}:", makefile, re.MULTILINE), f"make has no {target}"
        for name in given:
            assert f"$({name})" in makefile or f"$(or $({name})" in makefile, f"make reads no {name}"
        if target in ("deploy", "set"):
            # test_template renders every one of these, and refuses a parameter that is not there.
            line = command.replace("\\\n", " ")
            assert any(f"{Path(document).name}: {line}" == where for where, _ in written_deployments()), command

    def shell(self, command):
        """Runs it as a reader would, against the system that is there."""
        script = command.replace(LOCAL, self.url).replace("cargo tandem", str(TANDEM))
        script = re.sub(r"https://(THE-ADDRESS|abc123[\w.-]*/?)", lambda at: self.url + ("/" if at[0].endswith("/") else ""), script)
        script = script.replace("https://your-tenant.eu.auth0.com", self.issuer.url)
        for name in ("RUN", "THREAD", "CALL", "MESSAGE"):
            if re.search(rf"\b{name}\b", script):
                assert name in self.known, f"no command before this one brings {name}: {command}"
                script = re.sub(rf"\b{name}\b", self.known[name], script)
        # What is shown as an error is one; nothing else is.
        fails = "run_unknown" in script
        quiet = "--show-error --silent --max-time 60 --dump-header headers"
        script = re.sub(r"\bcurl ", f"curl {'' if fails else '--fail-with-body '}{quiet} ", script)
        keep = "\nset | grep -E '^(URL|TOKEN)=' > kept || true"
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "TANDEM_URL": self.url, "NO_PROXY": "*"}
        kept = self.folder / "kept"
        before = f"set -a\n{kept.read_text()}\n" if kept.exists() else ""
        told = subprocess.run(
            ["bash", "-euc", before + script + keep], cwd=self.folder, env=env, capture_output=True, text=True, timeout=120
        )
        assert told.returncode == 0, f"{script}\n{told.stdout[-2000:]}\n{told.stderr}"
        self.ran += 1
        assert not fails or '"code":"not_found"' in told.stdout, told.stdout
        self.learn(told.stdout)

    def learn(self, said):
        self.said = said or self.said
        headers = (self.folder / "headers").read_text() if (self.folder / "headers").exists() else ""
        for name, pattern in [("RUN", r"(?im)^x-run-id: (\S+)"), ("THREAD", r"(?im)^x-thread-id: (\S+)")]:
            if found := re.search(pattern, headers):
                self.known[name] = found[1]
        if found := re.search(r'"type":"tool-approval-request","approvalId":"[^"]*","toolCallId":"([^"]+)"', said):
            self.known["CALL"] = found[1]
        if found := re.match(r'\{"runId":"([^"]+)"', said):
            self.known["RUN"] = found[1]

    def sample(self, document, text):
        """What is shown of an answer: chunks that the command before it did give, or JSON."""
        shown = [line[6:] for line in text.splitlines() if line.startswith("data: {")]
        if document == "README.md":
            types = [re.match(r'\{"type":"([a-z-]+)"', line)[1] for line in shown]
            said = [json.loads(line[6:])["type"] for line in self.said.splitlines() if line.startswith("data: {")]
            left = iter(said)
            assert types and all(one in left for one in types), f"{types} is not within {said}"
        elif document == "docs/front-end.md":
            assert shown and all("rev" in json.loads(line) for line in shown), text
        elif document == "ARCHITECTURE.md":
            for name in re.findall(r"^([a-z]+)/ ", text, re.MULTILINE):
                assert (TOP / name).is_dir(), f"there is no {name}/"
        else:
            raise AssertionError(f"nobody looks at this sample:\n{text}")

    def change(self, text):
        """The lines of a change that are there already are there, in this order."""
        source = (TOP / "shared/catalog/src/lib.rs").read_text()
        old = "".join(f"{line[1:]}\n" for line in text.splitlines() if not line.startswith("+"))
        assert old in source, f"lib.rs has not:\n{old}"


def without(text, part):
    """The block without the command that has this part."""
    return "\n".join(command for command in commands(text) if part not in command)


class Issuer(http.server.ThreadingHTTPServer):
    """Gives the token of a developer, whoever asks."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            assert asked["grant_type"] == "client_credentials", asked
            body = b'{"access_token": "dev.local.reader"}'
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    def __init__(self):
        super().__init__(("127.0.0.1", 0), self.Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server_port}"


if __name__ == "__main__":
    unittest.main()
