"""Changes parameters of a stack that is deployed; its template and its functions stay as they are.

    make set ENV=prod PARAMETERS="LogLevel=DEBUG"
"""

import sys

from botocore.exceptions import BotoCoreError, ClientError

import deployed


def main(stack, *words):
    if not words or not all("=" in word for word in words):
        sys.exit('set-parameters: which? PARAMETERS="Name=value Name=value"')
    changed = dict(word.split("=", 1) for word in words)
    print(f"set-parameters: {stack}: {', '.join(changed)}", flush=True)
    try:
        done = deployed.update(stack, changed)
    except (BotoCoreError, ClientError) as error:
        sys.exit(f"set-parameters: {error}")
    print("set-parameters: done" if done else "set-parameters: the stack has these values already", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
