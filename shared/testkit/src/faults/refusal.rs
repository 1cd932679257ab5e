//! Errors of DynamoDB, as it words them on the wire.

use bytes::Bytes;
use http::{Response, StatusCode};
use http_body_util::Full;
use serde_json::{Value, json};

use super::Operation;

/// An error that DynamoDB answers with; nothing was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The table takes no more for now. Of a transaction some part was throttled.
    Throttled,
    /// Another transaction has the item in its hands.
    Conflict,
    /// A fault on DynamoDB's side. The SDK may assume that nothing happened, and tries again.
    InternalError,
}

impl Refusal {
    pub(super) fn answer(self, operation: &Operation) -> Response<Full<Bytes>> {
        let (status, kind, text, reasons) = self.words(operation);
        let mut body = json!({"__type": format!("com.amazonaws.dynamodb.v20120810#{kind}"), "message": text});
        if let Some(reasons) = reasons {
            body["CancellationReasons"] = reasons;
        }
        let mut response = Response::new(Full::from(body.to_string()));
        *response.status_mut() = status;
        let json = http::HeaderValue::from_static("application/x-amz-json-1.0");
        response.headers_mut().insert(http::header::CONTENT_TYPE, json);
        response
    }

    fn words(self, operation: &Operation) -> (StatusCode, &'static str, String, Option<Value>) {
        let plain = |kind, text: &str| (StatusCode::BAD_REQUEST, kind, text.to_owned(), None);
        match (self, operation.is_transaction()) {
            (Refusal::Throttled, true) => cancelled(operation, "ThrottlingError", "Throughput exceeds the limit"),
            (Refusal::Throttled, false) => plain(
                "ProvisionedThroughputExceededException",
                "The level of configured provisioned throughput for the table was exceeded.",
            ),
            (Refusal::Conflict, true) => {
                cancelled(operation, "TransactionConflict", "Transaction is ongoing for the item")
            }
            (Refusal::Conflict, false) => plain("TransactionConflictException", "Transaction is ongoing for the item"),
            (Refusal::InternalError, _) => {
                (StatusCode::INTERNAL_SERVER_ERROR, "InternalServerError", "Internal server error".into(), None)
            }
        }
    }
}

/// A transaction that was cancelled because of its first operation; a reason for each, in their order.
fn cancelled(operation: &Operation, code: &str, text: &str) -> (StatusCode, &'static str, String, Option<Value>) {
    let others = operation.keys.len().saturating_sub(1);
    let codes: Vec<&str> = std::iter::once(code).chain(std::iter::repeat_n("None", others)).collect();
    let message =
        format!("Transaction cancelled, please refer cancellation reasons for specific reasons [{}]", codes.join(", "));
    let mut reasons: Vec<Value> = codes.iter().map(|code| json!({"Code": code})).collect();
    reasons[0]["Message"] = json!(text);
    (StatusCode::BAD_REQUEST, "TransactionCanceledException", message, Some(Value::Array(reasons)))
}
