"""What schemathesis is told about inputs, besides the description."""

import schemathesis

# Field of import-emails: the most that the schema allows, and the most that is sent instead.
SMALLER = {"count": (100_000, 2), "delayMs": (5000, 5)}


@schemathesis.hook
def map_body(context, body):
    """Imports stay small: large ones are not more of a test, and make everything slow that counts the emails.

    What is allowed stays allowed, and what is not stays as it is.
    """
    if context.operation.path == "/api/import-emails" and isinstance(body, dict):
        for name, (allowed, most) in SMALLER.items():
            value = body.get(name)
            # A whole float is an integer.
            if isinstance(value, (int, float)) and not isinstance(value, bool) and most < value <= allowed:
                body[name] = most
        if body.get("count") is None:
            body["count"] = 2
    return body
