//! The queue of dispatches that Lambda gave up, as SQS hands it over.

use futures::future::join_all;
use serde::Deserialize;
use serde_json::{Value, json};
use tandem_auth::SignedDispatch;
use tandem_host::Runtime;
use tokio::time::Instant;

/// An event of SQS; others have no `Records`.
#[derive(Deserialize)]
struct Batch {
    #[serde(rename = "Records")]
    records: Vec<Message>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Message {
    message_id: String,
    /// A [`GivenUp`] in JSON, unless somebody else put it there.
    body: String,
}

/// What Lambda writes about an asynchronous invocation that it gave up.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GivenUp {
    request_context: RequestContext,
    request_payload: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestContext {
    /// The invocation, under whose id the function's own log lines are.
    request_id: String,
    /// `RetriesExhausted`: the function failed. `EventAgeExceeded`: it had no time for it.
    condition: String,
}

/// Whether an event is for [`take_up`].
pub(crate) fn is_batch(event: &Value) -> bool {
    event.get("Records").is_some()
}

/// Takes up the runs of a batch, and answers with the messages that SQS is to bring again: those whose run could not be
/// read or written. What is no dispatch of ours is refused, and over.
pub(crate) async fn take_up(runtime: &Runtime, event: Value, deadline: Instant) -> Value {
    let messages = match serde_json::from_value::<Batch>(event) {
        Ok(batch) => batch.records,
        Err(error) => {
            tracing::warn!(%error, "this is no batch of SQS");
            Vec::new()
        }
    };
    let again = join_all(messages.iter().map(|message| take_up_one(runtime, message, deadline))).await;
    let again = messages.iter().zip(again).filter(|(_, again)| *again);
    let again: Vec<Value> = again.map(|(message, _)| json!({"itemIdentifier": message.message_id})).collect();
    json!({"batchItemFailures": again})
}

/// Whether the message is to come again.
async fn take_up_one(runtime: &Runtime, message: &Message, deadline: Instant) -> bool {
    let Ok(GivenUp { request_context, request_payload }) = serde_json::from_str(&message.body) else {
        tracing::warn!(
            sqs_message = message.message_id,
            reason = "it is no record of Lambda",
            "failed dispatch refused"
        );
        return false;
    };
    let RequestContext { request_id, condition } = request_context;
    let dispatch = SignedDispatch::from_json(request_payload.to_string().as_bytes());
    let lost = match dispatch.and_then(|dispatch| runtime.verify_past(&dispatch)) {
        Ok(lost) => lost,
        Err(reason) => {
            tracing::warn!(sqs_message = message.message_id, invocation = request_id, %reason, "failed dispatch refused");
            return false;
        }
    };
    let run = lost.run();
    match runtime.take_up(&lost, Some(deadline)).await {
        Ok(recovered) => {
            tracing::warn!(%run, invocation = request_id, condition, recovered, "dispatch given up");
            false
        }
        Err(error) => {
            tracing::error!(%run, invocation = request_id, %error, "the run could not be taken up; SQS brings it again");
            true
        }
    }
}
