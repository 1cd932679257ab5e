//! What a log line or a span says, as values.

use std::fmt::Debug;

use serde_json::{Map, Value};
use tracing::field::{Field, Visit};

/// The words, and the fields.
#[derive(Default)]
pub(crate) struct Said {
    pub(crate) message: String,
    pub(crate) fields: Map<String, Value>,
}

impl Said {
    fn keep(&mut self, field: &Field, value: Value) {
        self.fields.insert(field.name().to_owned(), value);
    }
}

impl Visit for Said {
    fn record_i64(&mut self, field: &Field, value: i64) {
        self.keep(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.keep(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.keep(field, value.into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.keep(field, value.into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        match field.name() {
            "message" => self.message = format!("{value:?}"),
            _ => self.keep(field, format!("{value:?}").into()),
        }
    }
}
