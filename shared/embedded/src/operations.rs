//! From `X-Amz-Target` and a JSON body to a call of the engine, and from its result to DynamoDB's answer.
//!
//! The engine does the same behind its HTTP door, in a function it keeps private, together with checks of the
//! JSON's types that a body written by the SDK cannot fail.

use dynoxide::{Database, DynoxideError};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What goes back: an HTTP status and a JSON body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
}

/// Answers one request. Blocks while other requests hold the database.
pub(crate) fn answer(database: &Database, target: &str, body: &[u8]) -> Answer {
    match call(database, target.rsplit('.').next().unwrap_or_default(), body) {
        Ok(body) => Answer { status: 200, body },
        Err(error) => Answer { status: error.status_code(), body: error.to_json() },
    }
}

/// One row per operation that the SDK's client can ask for.
fn call(db: &Database, operation: &str, body: &[u8]) -> Result<String, DynoxideError> {
    match operation {
        "BatchGetItem" => run(body, |request| db.batch_get_item(request)),
        "BatchWriteItem" => run(body, |request| db.batch_write_item(request)),
        "CreateTable" => run(body, |request| db.create_table(request)),
        "DeleteItem" => run(body, |request| db.delete_item(request)),
        "DeleteTable" => run(body, |request| db.delete_table(request)),
        "DescribeTable" => run(body, |request| db.describe_table(request)),
        "DescribeTimeToLive" => run(body, |request| db.describe_time_to_live(request)),
        "GetItem" => run(body, |request| db.get_item(request)),
        "ListTables" => run(body, |request| db.list_tables(request)),
        "PutItem" => run(body, |request| db.put_item(request)),
        "Query" => run(body, |request| db.query(request)),
        "Scan" => run(body, |request| db.scan(request)),
        "TransactGetItems" => run(body, |request| db.transact_get_items(request)),
        "TransactWriteItems" => run(body, |request| db.transact_write_items(request)),
        "UpdateItem" => run(body, |request| db.update_item(request)),
        "UpdateTable" => run(body, |request| db.update_table(request)),
        "UpdateTimeToLive" => run(body, |request| db.update_time_to_live(request)),
        other => Err(DynoxideError::ValidationException(format!("the embedded engine does not offer {other}"))),
    }
    .map_err(|error| enveloped(operation, error))
}

fn run<Q: DeserializeOwned, S: Serialize>(
    body: &[u8],
    operation: impl FnOnce(Q) -> Result<S, DynoxideError>,
) -> Result<String, DynoxideError> {
    let request = serde_json::from_slice(body).map_err(unreadable)?;
    let response = operation(request)?;
    serde_json::to_string(&response).map_err(|error| DynoxideError::InternalServerError(error.to_string()))
}

/// The engine validates while it reads, and says by a private marker at the front of serde's message which of
/// DynamoDB's errors it means; serde adds where in the body it was. Neither belongs to the message.
fn unreadable(error: serde_json::Error) -> DynoxideError {
    let text = error.to_string();
    let (marker, message) = MARKERS
        .iter()
        .find_map(|(prefix, marker)| text.strip_prefix(prefix).map(|rest| (*marker, rest)))
        .unwrap_or((Marker::Bare, &text));
    let message = match message.rfind(" at line ") {
        Some(position) => &message[..position],
        None => message,
    }
    .to_owned();
    match marker {
        Marker::Bare => DynoxideError::ValidationException(message),
        Marker::Enveloped => DynoxideError::EnvelopedValidation(message),
        Marker::Serialization => DynoxideError::SerializationException(message),
    }
}

#[derive(Clone, Copy)]
enum Marker {
    Bare,
    Enveloped,
    Serialization,
}

const MARKERS: [(&str, Marker); 5] = [
    ("VALIDATION_AS_READ:", Marker::Bare),
    ("VALIDATION_REQUEST:", Marker::Enveloped),
    ("VALIDATION:", Marker::Bare),
    ("SERIALIZATION_AS_READ:", Marker::Serialization),
    ("SERIALIZATION:", Marker::Serialization),
];

/// DynamoDB words the validation faults of single writes differently from everybody else's.
fn enveloped(operation: &str, error: DynoxideError) -> DynoxideError {
    match (operation, error) {
        ("PutItem" | "UpdateItem" | "DeleteItem", DynoxideError::EnvelopedValidation(message)) => {
            DynoxideError::ValidationException(format!("1 validation error detected: {message}"))
        }
        (_, error) => error,
    }
}
