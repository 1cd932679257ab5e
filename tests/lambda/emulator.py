"""The three bootstraps under Lambda's own emulator, with the template's environment and events/*.json.

    scripts/test-lambda.sh

Streaming, freezing and what a queue does are not the emulator's: tests/tests/e2e/lambda has those.
"""

import copy
import hashlib
import hmac
import json
import signal
import sys
import tempfile
import time
import urllib.error
from pathlib import Path

import metrics
import samples
from deployment import TOP, Database, Emulator, Swallow, environment, event, free_address, functions

RIE, BINARIES = (Path(argument) for argument in sys.argv[1:])
# An answer without a stream must not wait for a keep-alive or a window to end, which is ten seconds or more. A busy
# machine may be late now and then; and megabytes take their time through the JSON of debug builds.
AT_ONCE, AT_ONCE_IF_LARGE, TRIES = 1.0, 4.0, 5


def main():
    # Whoever ends this ends what it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    checks = [(name[6:].replace("_", " "), check) for name, check in globals().items() if name.startswith("check_")]
    with tempfile.TemporaryDirectory() as logs, System(Path(logs)) as system:
        failed = sum(not run(name, check, system) for name, check in checks)
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


def run(name, check, system):
    began = time.monotonic()
    try:
        check(system)
    except Exception as error:
        print(f"FAILED {name}: {type(error).__name__}: {error}\n{system.words()}")
        return False
    print(f"ok     {name} ({time.monotonic() - began:.1f} s)", flush=True)
    return True


class System:
    """A database and a function of each kind. The foreground's dispatches go to the background's emulator."""

    def __init__(self, logs):
        self.logs, self.processes = logs, []

    def __enter__(self):
        try:
            self.open()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.stop()

    def open(self):
        self.database = self.keep(Database(BINARIES, self.logs / "dynamodb"))
        self.functions = functions(DynamoDbEndpoint=self.database.url)
        self.background = self.start("BackgroundFunction")
        # The emulator knows its function by this name only.
        reach = {"AWS_ENDPOINT_URL_LAMBDA": f"http://{self.background.address}", "BACKGROUND_FUNCTION_NAME": "function"}
        # Streams that nothing ends, so that the emulator has an answer, end soon.
        self.foreground = self.start("ForegroundFunction", reach | {"STREAM_WINDOW_MS": "2000"})
        self.sweeper = self.start("SweeperFunction", reach)

    def start(self, name, env=None, template=None):
        function = (template or self.functions)[name]
        return self.keep(Emulator(RIE, BINARIES, function, env or {}, self.logs / f"{name}-{len(self.processes)}"))

    def keep(self, process):
        self.processes.append(process)
        return process.ready()

    def words(self):
        """The last lines of everybody."""
        return "\n".join(f"--- {one.log.name}:\n" + "\n".join(one.words().splitlines()[-15:]) for one in self.processes)


def equal(got, want):
    assert got == want, f"{got!r} is not {want!r}"


def request(path, method="GET", body=None, **headers):
    """events/foreground-healthz.json for something else."""
    asked = copy.deepcopy(event("foreground-healthz.json"))
    asked["rawPath"], _, asked["rawQueryString"] = path.partition("?")
    asked["requestContext"]["http"] |= {"method": method, "path": asked["rawPath"]}
    asked["headers"] |= headers
    return asked if body is None else asked | {"body": body}


def chunks(body):
    blocks = [block for block in body.split("\n\n") if block.startswith("id: ")]
    numbers = [int(block.partition("\n")[0][4:]) for block in blocks]
    equal(numbers, list(range(len(blocks))))
    return [json.loads(block.partition("\ndata: ")[2]) for block in blocks]


def signed(run, version, at_ms, keys):
    """A dispatch, signed as shared/auth/src/dispatch/keys.rs does: each field is preceded by its length."""
    kid, key = next(iter(json.loads(keys).items()))
    mac = hmac.new(key.encode(), digestmod=hashlib.sha256)
    fields = [b"tandem.dispatch.v1", run.encode(), version.to_bytes(8, "big"), at_ms.to_bytes(8, "big"), kid.encode()]
    for field in fields:
        mac.update(len(field).to_bytes(8, "big") + field)
    return {"runId": run, "version": version, "issuedAt": at_ms, "kid": kid, "signature": mac.hexdigest()}


def check_every_variable_of_the_template_is_read_by_the_code(system):
    sources = "".join(path.read_text() for path in TOP.glob("*/*/src/**/*.rs"))
    # Read by lambda_http.
    sources += '"AWS_LAMBDA_HTTP_IGNORE_STAGE_IN_PATH"'
    for function in system.functions.values():
        unknown = [name for name in environment(function) if f'"{name}"' not in sources]
        equal((function.name, unknown), (function.name, []))


def check_foreground_healthz_json(system):
    status, _, body = system.foreground.http(event("foreground-healthz.json"))
    body = json.loads(body)
    equal((status, body["status"], body["durableBackground"]), (200, "ok", True))


def turn(foreground):
    """Carries out events/foreground-agent-chat.json and gives its chunks."""
    status, headers, body = foreground.http(event("foreground-agent-chat.json"))
    equal((status, headers["content-type"]), (200, "text/event-stream"))
    said = chunks(body)
    text = "".join(chunk["delta"] for chunk in said if chunk["type"] == "text-delta")
    equal([word for word in text.split() if word.startswith("w")], ["w1", "w2", "w3", "w4", "w5"])
    equal((said[-1]["type"], said[-1]["finishReason"]), ("finish", "stop"))
    assert body.endswith("data: [DONE]\n\n"), body[-100:]
    return said


def attempts(said):
    data = [chunk["data"] for chunk in said if chunk["type"] == "data-attempt"]
    return [(attempt["attempt"], attempt["holder"], attempt["reason"]) for attempt in data]


def check_foreground_agent_chat_json_in_the_background(system):
    equal(attempts(turn(system.foreground)), [(1, "background", "claimed")])


def check_foreground_agent_chat_json_without_a_background(system):
    """As `sam local invoke` has it: nobody can be dispatched."""
    alone = system.start("ForegroundFunction", {"AWS_ENDPOINT_URL_LAMBDA": f"http://{free_address()}"})
    equal(attempts(turn(alone)), [(1, "foreground", "reclaimed")])


def check_background_json(system):
    equal(system.background.result(event("background.json")), {"processed": False, "reason": "the dispatch is too old"})


def check_a_fresh_dispatch_for_a_run_that_is_not_there(system):
    keys = environment(system.functions["BackgroundFunction"])["DISPATCH_KEYS"]
    sample = event("background.json")
    equal(signed(sample["runId"], sample["version"], sample["issuedAt"], keys), sample)
    fresh = signed(sample["runId"], 1, time.time_ns() // 1_000_000, keys)
    equal(system.background.result(fresh), {"processed": True, "result": "not mine"})
    forged = {"processed": False, "reason": "the signature does not fit the dispatch"}
    equal(system.background.result(fresh | {"version": 2}), forged)


def check_sweeper_json(system):
    equal(system.sweeper.result(event("sweeper.json")), {"due": 0, "recovered": 0, "failed": 0})


def check_failed_dispatches_of_the_queue(system):
    # Ours, of a run that is not there any more; and what nobody can deal with: neither comes again.
    for name, refused in [("failed-dispatches.json", 0), ("foreign.json", 4)]:
        before = system.sweeper.words().count("failed dispatch refused")
        equal(system.sweeper.result(event(f"sweeper/{name}")), {"batchItemFailures": []})
        equal(system.sweeper.words().count("failed dispatch refused") - before, refused)


def check_every_event_of_the_foreground_has_the_status_that_is_told(system):
    for name, status, _ in samples.told():
        equal((name, system.foreground.http(event(f"foreground/{name}"))[0]), (name, status))


def check_events_about_a_run_that_exists(system):
    def status(name, run, call=""):
        return system.foreground.http(samples.of_run(event(f"foreground/{name}"), run, call))[0]

    send = json.dumps({"message": '/send-email {"to": "ann@example.com", "subject": "Hi", "body": "Hello!"}'})
    _, headers, body = system.foreground.http(request("/api/agent-chat", "POST", send))
    run = headers["x-run-id"]
    [asked] = [chunk for chunk in chunks(body) if chunk["type"] == "tool-approval-request"]
    told = [(name, real) for name, _, real in samples.told() if real]
    equal([(name, status(name, run, asked["toolCallId"])) for name, _ in told], told)


def check_what_happens_is_counted(system):
    post = {"method": "POST", "accept": "application/json", "content-type": "application/json"}
    turn = request("/api/agent-chat", body=json.dumps({"message": "@fail context x9"}), **post)

    def dispatched_to(url, **env):
        return system.start("ForegroundFunction", {"AWS_ENDPOINT_URL_LAMBDA": url, "DUE_AHEAD_MS": "1", **env})

    nowhere = dispatched_to(f"http://{free_address()}")
    nowhere.http(turn | {"headers": turn["headers"] | {"accept": "text/event-stream"}})
    # The person's conversation is too long: no fault of ours.
    ended = {"EndedRuns": 1, "EndedRuns[Reason=context_too_long]": 1, "FailedRuns": 0, "Attempts": 1}
    equal(metrics.counted(nowhere.words()), {"FailedDispatches": 1, "ModelFailures": 1} | ended)

    background = system.start("BackgroundFunction")
    background.result(event("background.json"))
    equal(metrics.counted(background.words()), {"RefusedDispatches": 1})

    with Swallow() as lost:
        equal(dispatched_to(lost.url).http(turn)[0], 202)
        impatient = {"LEASE_MS": "300", "HEARTBEAT_MS": "100", "DUE_AHEAD_MS": "1", "NEVER_CLAIMED_MS": "1"}
        sweeper = system.start("SweeperFunction", {"AWS_ENDPOINT_URL_LAMBDA": lost.url, **impatient})
        for _ in range(5):
            equal(sweeper.result(event("sweeper.json"))["due"], 1)
        ended = {"EndedRuns": 1, "EndedRuns[Reason=never_claimed]": 1, "FailedRuns": 1, "Attempts": 0}
        sweeps = {"RecoveredRuns": 4, "Sweeps": 5, "DueRuns": 5, "SweepFaults": 0}
        equal(metrics.counted(sweeper.words()), ended | sweeps)


def check_answers_without_a_stream_close_at_once(system):
    post = {"method": "POST", "content-type": "application/json"}
    for asked, want in [
        (request("/api/agent-chat/no-such-thread/stream"), 204),
        (request("/api/agent-chat", body="{", **post), 400),
        (request("/runs", authorization="Bearer nonsense"), 401),
        (request("/runs/run_unknown/events?after=3"), 404),
        (request("/healthz", method="DELETE"), 405),
        (request("/api/agent-chat", body=json.dumps({"message": "x" * 4_500_000}), **post), 413),
    ]:
        for _ in range(TRIES):
            began = time.monotonic()
            status, headers, body = system.foreground.http(asked)
            at_once = time.monotonic() - began < (AT_ONCE_IF_LARGE if want == 413 else AT_ONCE)
            if at_once:
                break
        equal((asked["rawPath"], status, at_once), (asked["rawPath"], want, True))
        if status == 204:
            equal(body, "")
        else:
            told = json.loads(body)
            equal((headers["content-type"], told["status"]), ("application/problem+json", want))


def check_on_AWS_callers_must_sign_in(system):
    deployed = functions(OidcIssuer="https://issuer.example", OidcAudience="tandem")
    # What CloudFormation puts in the place of the reference to the secret.
    keys = {"DISPATCH_KEYS": json.dumps({"first": "k" * 64})}
    foreground = system.start("ForegroundFunction", keys, deployed)
    equal(foreground.http(event("foreground-healthz.json"))[0], 200)
    status, _, body = foreground.http(event("foreground-agent-chat.json"))
    equal((status, "https://issuer.example" in json.loads(body)["detail"]), (401, True))


def check_on_AWS_without_sign_in_nothing_starts(system):
    keys = {"DISPATCH_KEYS": json.dumps({"first": "k" * 64})}
    foreground = system.start("ForegroundFunction", keys, functions())
    try:
        answer = foreground.invoke(event("foreground-healthz.json"))
    except urllib.error.HTTPError as error:
        assert "Set OIDC_ISSUER and OIDC_AUDIENCE" in foreground.words(), error
    else:
        raise AssertionError(f"it answered {answer[:500]}")


if __name__ == "__main__":
    sys.exit(main())
