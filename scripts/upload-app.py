"""Puts app/dist, the built user interface, into the bucket of a stack that was deployed with Ui=true.

    make deploy-ui ENV=dev
"""

import mimetypes
import sys
from pathlib import Path

import boto3

TOP = Path(__file__).resolve().parents[1]
# Files under assets/ have a hash in their names; all others may change.
FOR_EVER, NEVER = "public, max-age=31536000, immutable", "no-cache"


def main(stack, dist=TOP / "app/dist"):
    if not (dist / "index.html").exists():
        sys.exit(f"upload-app: {dist} has no index.html: scripts/build-app.sh")
    outputs = outputs_of(stack)
    if "UiBucketName" not in outputs:
        sys.exit(f"upload-app: {stack} has no bucket for the user interface: deploy it with Ui=true")
    put = putting(outputs["UiBucketName"])
    files = sorted(path for path in dist.rglob("*") if path.is_file())
    names = [path.relative_to(dist).as_posix() for path in files]
    # The page comes last: it must never name a file that is not there yet. Files of older pages stay.
    for name, path in sorted(zip(names, files), key=lambda pair: pair[0] == "index.html"):
        if name != "config.json":
            put(name, path.read_bytes())
    put("config.json", outputs["UiConfig"].encode())
    changed = {"Quantity": 1, "Items": ["/app/*"]}
    invalidation = {"Paths": changed, "CallerReference": str(max(path.stat().st_mtime_ns for path in files))}
    boto3.client("cloudfront").create_invalidation(
        DistributionId=outputs["UiDistributionId"], InvalidationBatch=invalidation
    )
    print(f"{len(files)} files are at {outputs['UiUrl']}")


def outputs_of(stack):
    [found] = boto3.client("cloudformation").describe_stacks(StackName=stack)["Stacks"]
    return {output["OutputKey"]: output["OutputValue"] for output in found.get("Outputs", [])}


def putting(bucket):
    s3 = boto3.client("s3")

    def put(name, body):
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        cache = FOR_EVER if name.startswith("assets/") else NEVER
        s3.put_object(Bucket=bucket, Key=f"app/{name}", Body=body, ContentType=kind, CacheControl=cache)

    return put


if __name__ == "__main__":
    main(*sys.argv[1:2])
