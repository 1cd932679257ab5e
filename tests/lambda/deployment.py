"""The template's functions, each under the Runtime Interface Emulator that comes with SAM, and a database for them.

SAM itself reads the template, as it does for `sam local`: what runs here is the environment that the template gives.
"""

import http.server
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
import urllib.request
from pathlib import Path

from samcli.lib.providers.sam_function_provider import SamFunctionProvider
from samcli.lib.providers.sam_stack_provider import SamLocalStackProvider

TOP = Path(__file__).resolve().parents[2]
NULS = b"\0" * 8


def functions(**parameters):
    """The functions of the template, by name, under these parameters."""
    stacks, _ = SamLocalStackProvider.get_stacks(str(TOP / "template.yaml"), parameter_overrides=parameters)
    return {function.name: function for function in SamFunctionProvider(stacks).get_all()}


def environment(function):
    """The variables that the template gives to a function, as texts."""
    return {name: str(value) for name, value in function.environment["Variables"].items()}


def event(name):
    return json.loads((TOP / "events" / name).read_text())


class Process:
    """A child in a process group of its own, which ends with it."""

    def __init__(self, command, env, log):
        self.log = log
        path = {"PATH": os.environ["PATH"]}
        with open(log, "wb") as output:
            self.child = subprocess.Popen(
                command, env=path | env, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
            )

    def stop(self):
        try:
            os.killpg(self.child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.child.wait()

    def words(self):
        return Path(self.log).read_text(errors="replace")


class Database(Process):
    """`tandem dynamodb` in memory, on a free port."""

    def __init__(self, binaries, log):
        super().__init__([binaries / "tandem", "dynamodb", "--port", "0"], {}, log)

    def ready(self):
        self.url = wait_for(lambda: re.search(r"http://[\d.:]+", self.words()), self.words).group()
        return self


class Swallow(http.server.ThreadingHTTPServer):
    """Lambda's endpoint, where every dispatch is accepted and lost."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(202)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    def __init__(self):
        super().__init__(("127.0.0.1", 0), self.Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server_port}"


class Emulator(Process):
    """One function under the emulator. The bootstrap starts with the first invocation."""

    def __init__(self, rie, binaries, function, env, log):
        self.address, runtime_api = free_address(), free_address()
        # Without both flags it would listen on all addresses.
        addresses = ["--runtime-interface-emulator-address", self.address, "--runtime-api-address", runtime_api]
        name = function.name.removesuffix("Function").lower()
        lambdas = {
            "AWS_LAMBDA_FUNCTION_NAME": f"local-{name}",
            "AWS_LAMBDA_FUNCTION_TIMEOUT": str(function.timeout),
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory),
            # What LoggingConfig makes Lambda set.
            "AWS_LAMBDA_LOG_FORMAT": "JSON",
            "AWS_LAMBDA_LOG_LEVEL": "INFO",
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_SESSION_TOKEN": "test",
        }
        bootstrap = binaries / f"tandem-{name}"
        super().__init__([rie, *addresses, bootstrap], lambdas | environment(function) | env, log)

    def ready(self):
        wait_for(lambda: connects(self.address), self.words)
        return self

    def invoke(self, event):
        """The bytes that the function answers with."""
        url = f"http://{self.address}/2015-03-31/functions/function/invocations"
        request = urllib.request.Request(url, json.dumps(event).encode())
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=20) as answer:
            return answer.read()

    def result(self, event):
        return json.loads(self.invoke(event))

    def http(self, event):
        """Status, headers and body of a function that streams."""
        answer = self.invoke(event)
        head, nuls, body = answer.partition(NULS)
        assert nuls, f"no prelude: {answer[:500]}"
        head = json.loads(head)
        return head["statusCode"], head["headers"], body.decode()


def free_address():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{taken.getsockname()[1]}"


def connects(address):
    host, port = address.split(":")
    with socket.socket() as client:
        return client.connect_ex((host, int(port))) == 0


def wait_for(ask, words, seconds=20):
    """Asks until there is an answer; else shows what the process said."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if answer := ask():
            return answer
        time.sleep(0.02)
    raise AssertionError(f"not in {seconds} s; it said:\n{words()}")
