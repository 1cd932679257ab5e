//! Schemas: one that inputs are checked against, and a plainer one that every model provider takes.

mod export;
mod plain;
mod supported;

use schemars::JsonSchema;
use schemars::generate::{Contract, SchemaSettings};
use serde_json::Value;

pub(crate) use export::export;
pub(crate) use supported::{check, compiled};

/// What is made from the types of an action.
pub(crate) struct Schemas {
    /// Everything the types say, without references.
    pub(crate) input: Value,
    pub(crate) output: Value,
}

pub(crate) fn of<I: JsonSchema, O: JsonSchema>() -> Schemas {
    Schemas { input: input::<I>(), output: schema::<O>(Contract::Serialize) }
}

/// The schema of what is read as `T`.
pub(crate) fn input<T: JsonSchema>() -> Value {
    schema::<T>(Contract::Deserialize)
}

fn schema<T: JsonSchema>(contract: Contract) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
        settings.contract = contract;
    });
    plain::without_references(settings.into_generator().into_root_schema_for::<T>().to_value())
}
