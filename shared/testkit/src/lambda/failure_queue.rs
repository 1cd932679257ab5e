//! The failure queue of a function and what empties it: each event that is given up comes to another function as a
//! message of SQS, again until that function has dealt with it.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};
use time::OffsetDateTime;
use tokio::time::sleep;

use super::payload::{Fault, Reply};
use super::pool::{Pool, Throttled};
use super::process::{REGION, function_arn};
use super::records::{FailedEvent, Invoker};

/// Where the failed events of one function go.
#[derive(Debug, Clone)]
pub(super) struct FailureQueue {
    pub(super) consumer: Arc<Pool>,
}

impl FailureQueue {
    /// One message a batch. `fault`: what the function answered at last; none: it never had the event.
    pub(super) async fn deliver(&self, function: &str, event: &FailedEvent, invoked: u32, fault: Option<&Fault>) {
        let message_id = uuid::Uuid::new_v4().to_string();
        let record = record(function, event, invoked, fault, OffsetDateTime::now_utc()).to_string();
        let mut received = 0;
        loop {
            received += 1;
            let batch = batch(&message_id, &record, received).to_string();
            if self.consume(&message_id, batch.into()).await {
                return;
            }
            // SQS hides the message for a while; here that is as long as another try of an event takes.
            sleep(self.consumer.function().queue.pause).await;
        }
    }

    /// Whether the message is gone for good: the function answered, and did not name it as one that failed.
    async fn consume(&self, message_id: &str, batch: Bytes) -> bool {
        let id = uuid::Uuid::new_v4().to_string();
        match self.consumer.invoke(id, Invoker::Queue, batch).await {
            Err(Throttled) | Ok(Reply::Fault(_)) => false,
            Ok(Reply::Response { body, .. }) => match body.collect().await {
                Ok(answer) => !names(&answer, message_id),
                Err(_) => false,
            },
        }
    }
}

/// Whether a function says, as `ReportBatchItemFailures` has it, that this message failed.
fn names(answer: &[u8], message_id: &str) -> bool {
    let answer: Value = serde_json::from_slice(answer).unwrap_or_default();
    let failures = answer["batchItemFailures"].as_array();
    failures.is_some_and(|failures| failures.iter().any(|failure| failure["itemIdentifier"] == message_id))
}

/// What Lambda writes into the queue.
fn record(function: &str, event: &FailedEvent, invoked: u32, fault: Option<&Fault>, at: OffsetDateTime) -> Value {
    let mut record = json!({
        "version": "1.0",
        "timestamp": timestamp(at),
        "requestContext": {
            "requestId": event.id,
            "functionArn": format!("{}:$LATEST", function_arn(function)),
            "condition": event.condition,
            "approximateInvokeCount": invoked,
        },
        "requestPayload": serde_json::from_slice::<Value>(&event.payload).unwrap_or_default(),
    });
    if let Some(fault) = fault {
        record["responseContext"] =
            json!({"statusCode": 200, "executedVersion": "$LATEST", "functionError": "Unhandled"});
        record["responsePayload"] = json!({"errorType": fault.error_type, "errorMessage": fault.error_message});
    }
    record
}

/// As in `2019-11-14T18:16:05.568Z`.
fn timestamp(at: OffsetDateTime) -> String {
    let (hour, minute, second, milli) = at.to_hms_milli();
    let (year, month, day) = (at.year(), u8::from(at.month()), at.day());
    format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

/// The event of an event source mapping.
fn batch(message_id: &str, body: &str, received: u32) -> Value {
    json!({"Records": [{
        "messageId": message_id,
        "receiptHandle": message_id,
        "body": body,
        "attributes": {
            "ApproximateReceiveCount": received.to_string(),
            "SenderId": "000000000000",
        },
        "messageAttributes": {},
        "eventSource": "aws:sqs",
        "eventSourceARN": format!("arn:aws:sqs:{REGION}:000000000000:failed"),
        "awsRegion": REGION,
    }]})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_event_becomes_the_record_of_the_documentation() {
        let event = FailedEvent { id: "id".into(), payload: "{\"n\":1}".into(), condition: "RetriesExhausted" };
        let fault = Fault::new("Runtime.ExitError", "gone");
        let at = OffsetDateTime::from_unix_timestamp(1_573_755_365).unwrap();
        let want = json!({
            "version": "1.0",
            "timestamp": "2019-11-14T18:16:05.000Z",
            "requestContext": {
                "requestId": "id",
                "functionArn": "arn:aws:lambda:us-east-1:000000000000:function:worker:$LATEST",
                "condition": "RetriesExhausted",
                "approximateInvokeCount": 1,
            },
            "requestPayload": {"n": 1},
            "responseContext": {"statusCode": 200, "executedVersion": "$LATEST", "functionError": "Unhandled"},
            "responsePayload": {"errorType": "Runtime.ExitError", "errorMessage": "gone"},
        });
        assert_eq!(record("worker", &event, 1, Some(&fault), at), want);
        let never = record("worker", &event, 0, None, at);
        assert_eq!((never.get("responseContext"), never.get("responsePayload")), (None, None));
    }

    #[test]
    fn a_message_comes_again_only_if_it_is_named() {
        for (answer, again) in [
            (r#"{"batchItemFailures":[{"itemIdentifier":"m1"}]}"#, true),
            (r#"{"batchItemFailures":[{"itemIdentifier":"m2"}]}"#, false),
            (r#"{"batchItemFailures":[]}"#, false),
            ("null", false),
            ("", false),
        ] {
            assert_eq!(names(answer.as_bytes(), "m1"), again, "{answer}");
        }
    }
}
