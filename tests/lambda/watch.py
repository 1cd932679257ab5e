"""A turn streams through `cargo lambda watch`, as scripts/watch-functions.sh starts it, with the functions as built.

    scripts/test-lambda.sh
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from deployment import TOP, connects, free_address, wait_for

WORDS, EVERY_MS = 5, 400


def main():
    address = free_address()
    with tempfile.TemporaryDirectory() as directory:
        log = Path(directory) / "log"
        with open(log, "wb") as output:
            watch = subprocess.Popen(
                [TOP / "scripts/watch-functions.sh", "--built"],
                env=os.environ | {"PORT": address.rpartition(":")[2]},
                stdout=output,
                stderr=output,
            )
        try:
            wait_for(lambda: connects(address), log.read_text)
            check(f"http://{address}/lambda-url/tandem-foreground/api/agent-chat")
        except Exception:
            print(log.read_text()[-5000:])
            raise
        finally:
            watch.terminate()
            watch.wait(20)
    wait_for(lambda: not connects(address), lambda: "cargo lambda is still there")
    print("ok     a turn streams through cargo lambda watch")


def check(url):
    body = json.dumps({"message": f"@say {WORDS} every {EVERY_MS}ms"}).encode()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    told, at = [], []
    with opener.open(urllib.request.Request(url, body), timeout=30) as answer:
        for line in answer:
            if line.startswith(b"data: {"):
                told.append(json.loads(line[6:]))
                at.append(time.monotonic())
    # How many words share a delta is a matter of time.
    text = "".join(chunk["delta"] for chunk in told if chunk["type"] == "text-delta")
    assert text.split() == [f"w{n + 1}" for n in range(WORDS)] + ["done"], told
    assert [chunk["data"]["holder"] for chunk in told if chunk["type"] == "data-attempt"] == ["background"], told
    assert (told[-1]["type"], told[-1]["finishReason"]) == ("finish", "stop"), told[-1]
    # What waits for the end comes at once.
    assert at[-1] - at[0] > WORDS * EVERY_MS / 2000, at


if __name__ == "__main__":
    sys.exit(main())
