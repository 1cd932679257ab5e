#!/usr/bin/env python3
"""How long the functions take to start: from the start of the process to its first question for work.

    cargo build --release --bins -p tandem-foreground -p tandem-background -p tandem-sweeper
    scripts/measure-startup.py [FOLDER] [STARTS]

FOLDER has the built functions (target/release), STARTS is how often each is started (50). Lambda's Runtime API is played
here: it hears `GET /next` and never answers. The environment is a deployment's, so nothing is asked of AWS before that.
Prints a table for docs/performance.md: median and 99th percentile in milliseconds, the file's size, and the resident memory
when it asks for work.
"""

import math
import os
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

FUNCTIONS = ["foreground", "background", "sweeper"]
ENVIRONMENT = {
    "AWS_LAMBDA_FUNCTION_NAME": "measured",
    "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
    "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512",
    "AWS_LAMBDA_LOG_FORMAT": "JSON",
    "AWS_LAMBDA_LOG_LEVEL": "INFO",
    "AWS_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "none",
    "AWS_SECRET_ACCESS_KEY": "none",
    "TABLE_NAME": "tandem",
    "BACKGROUND_FUNCTION_NAME": "tandem-background",
    "DISPATCH_KEYS": '{"first": "a key that signs nothing anywhere"}',
    "METRICS_NAMESPACE": "Tandem/measured",
    "OIDC_ISSUER": "https://issuer.example",
    "OIDC_AUDIENCE": "tandem",
    "MODEL": "bedrock/example",
}


def main(folder, starts):
    print("| function | median | p99 | size | resident |\n|---|---|---|---|---|")
    for name in FUNCTIONS:
        file = folder / f"tandem-{name}"
        start(file)  # Once for the page cache.
        measured = [start(file) for _ in range(starts)]
        times = sorted(seconds * 1000 for seconds, _ in measured)
        p99 = times[math.ceil(0.99 * len(times)) - 1]
        resident = statistics.median(kilobytes for _, kilobytes in measured) / 1024
        size = file.stat().st_size / 1_000_000
        print(f"| {name} | {statistics.median(times):.1f} ms | {p99:.1f} ms | {size:.1f} MB | {resident:.1f} MB |")


def start(file):
    """Seconds until the first `GET /next`, and the resident memory in KB then."""
    with socket.create_server(("127.0.0.1", 0)) as api:
        api.settimeout(20)
        env = ENVIRONMENT | {"AWS_LAMBDA_RUNTIME_API": "127.0.0.1:%d" % api.getsockname()[1]}
        began = time.monotonic()
        child = subprocess.Popen([file], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            connection, _ = api.accept()
            with connection:
                asked = connection.recv(65536)
                took = time.monotonic() - began
                assert asked.startswith(b"GET /2018-06-01/runtime/invocation/next"), asked
                return took, resident(child.pid)
        except TimeoutError:
            child.kill()
            sys.exit(f"{file} did not ask for work:\n{child.stdout.read().decode()}")
        finally:
            child.kill()
            child.communicate()


def resident(pid):
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))


if __name__ == "__main__":
    target = Path(os.environ.get("CARGO_TARGET_DIR", Path(__file__).parent.parent / "target"))
    arguments = sys.argv[1:]
    main(Path(arguments[0]) if arguments else target / "release", int(arguments[1]) if len(arguments) > 1 else 50)
