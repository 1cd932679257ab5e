"""moto, which emulates AWS, on a free port, with a record of what DynamoDB was asked.

It lets several conditional writes win at once and repeats transactions: what it says of shapes counts, and nothing
that it says of races.
"""

import importlib
import io
import json
import logging
import threading
import urllib.request
from collections import Counter

from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

# moto knows the resources of a service only once its module is there.
for service in "apigateway awslambda cloudfront cloudwatch dynamodb iam logs s3 scheduler sns sqs".split():
    importlib.import_module(f"moto.{service}.models")
# The test tells what moto does not know.
logging.getLogger("moto").setLevel(logging.ERROR)

TRANSACTED = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "ConditionCheck": "ConditionCheckItem"}


class Moto:
    """What it was asked is in `asked`, by operation; what it refused in `refused`, by operation and error."""

    def __enter__(self):
        self.asked, self.refused = Counter(), Counter()
        self.application = DomainDispatcherApplication(create_backend_app)
        self.server = make_server("127.0.0.1", 0, self.record, threaded=True, request_handler=Quiet)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        # What another server of this process had.
        urllib.request.urlopen(urllib.request.Request(f"{self.url}/moto-api/reset", method="POST")).close()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def record(self, environ, start_response):
        service, _, operation = environ.get("HTTP_X_AMZ_TARGET", "").partition(".")
        if not service.startswith("DynamoDB_"):
            return self.application(environ, start_response)
        length = int(environ.get("CONTENT_LENGTH") or 0)
        body = environ["wsgi.input"].read(length)
        environ["wsgi.input"] = io.BytesIO(body)
        self.count(operation, body)

        def answered(status, *more):
            codes.append(status)
            return start_response(status, *more)

        codes = []
        answer = b"".join(self.application(environ, answered))
        if not codes[0].startswith("200"):
            self.refused[operation, json.loads(answer)["__type"].partition("#")[2]] += 1
        return [answer]

    def count(self, operation, body):
        self.asked[operation] += 1
        if operation == "TransactWriteItems":
            for item in json.loads(body)["TransactItems"]:
                self.asked.update(TRANSACTED[kind] for kind in item)


class Quiet(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_request(self, *_):
        pass
