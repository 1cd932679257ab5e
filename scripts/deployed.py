"""A stack as it is deployed: whether it is there, and other parameters for it under the template that it has."""

import sys

import boto3
from botocore.exceptions import ClientError, WaiterError

CAPABILITIES = ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"]
# The first deployment failed: CloudFormation takes no further one until the stack is deleted.
FAILED = {"ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED"}


def described(stack):
    """What CloudFormation says of the stack; None where it is not there, or nothing of it was ever made."""
    try:
        [found] = boto3.client("cloudformation").describe_stacks(StackName=stack)["Stacks"]
    except ClientError as error:
        if "does not exist" in str(error):
            return None
        raise
    return None if found["StackStatus"] == "REVIEW_IN_PROGRESS" else found


def parameters(stack):
    """The values of its parameters, by name."""
    return {one["ParameterKey"]: one["ParameterValue"] for one in existing(stack).get("Parameters", [])}


def outputs(stack):
    """The values of its outputs, by name."""
    return {one["OutputKey"]: one["OutputValue"] for one in existing(stack).get("Outputs", [])}


def existing(stack):
    return described(stack) or sys.exit(f"There is no stack {stack} in this account and region: make deploy comes first.")


def update(stack, changed):
    """The stack as it is, but for these parameters. Returns when that is done, and whether anything had to be."""
    kept = parameters(stack)
    if unknown := sorted(set(changed) - set(kept)):
        sys.exit(f"The template that {stack} has knows no {', '.join(unknown)}: look into template.yaml; make deploy if it is new.")
    given = [{"ParameterKey": name, "UsePreviousValue": True} for name in kept if name not in changed]
    given += [{"ParameterKey": name, "ParameterValue": value} for name, value in changed.items()]
    cloudformation = boto3.client("cloudformation")
    try:
        cloudformation.update_stack(
            StackName=stack, UsePreviousTemplate=True, Parameters=given, Capabilities=CAPABILITIES
        )
    except ClientError as error:
        if "No updates are to be performed" in str(error):
            return False
        raise
    try:
        cloudformation.get_waiter("stack_update_complete").wait(StackName=stack)
    except WaiterError:
        status = (described(stack) or {}).get("StackStatus")
        what = "is as it was" if status == "UPDATE_ROLLBACK_COMPLETE" else f"is {status}: look at it in the console"
        sys.exit(f"{stack} was not changed, and {what}:\n{reasons(cloudformation, stack)}")
    return True


def reasons(cloudformation, stack):
    """Why its last update failed, the first fault first."""
    lines = []
    for event in cloudformation.describe_stack_events(StackName=stack)["StackEvents"]:
        if event["ResourceStatus"].endswith("_FAILED"):
            lines.insert(0, f"  {event['LogicalResourceId']}: {event.get('ResourceStatusReason', '')}")
        if event["LogicalResourceId"] == stack and event["ResourceStatus"] == "UPDATE_IN_PROGRESS":
            break
    return "\n".join(lines)
