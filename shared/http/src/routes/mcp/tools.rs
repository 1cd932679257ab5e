//! An action as a tool: its schemas, and what its effect tells a client about calling it.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::Value;
use tandem_actions::{Effect, Entry, Method};

/// Keywords whose values are data and no schemas.
const DATA: [&str; 4] = ["const", "enum", "default", "examples"];

pub(super) fn tool(entry: &Entry) -> Tool {
    // The plain form of the schema: clients pass it on to the providers of their models.
    let input = entry.tool_schema().as_object().cloned().unwrap_or_default();
    let tool = Tool::new(entry.name(), entry.description().to_owned(), Arc::new(input)).with_annotations(hints(entry));
    match output_schema(entry) {
        Some(schema) => tool.with_raw_output_schema(Arc::new(schema)),
        None => tool,
    }
}

/// What a result looks like. A long action answers with the run that carries it out, and what it gives comes later.
fn output_schema(entry: &Entry) -> Option<JsonObject> {
    if entry.effect() == Effect::Checkpointed {
        return None;
    }
    let mut schema = entry.output_schema().clone();
    drop_number_formats(&mut schema);
    schema.as_object().cloned()
}

/// Rust's names of number types are formats that validators do not know.
fn drop_number_formats(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.retain(|keyword, value| {
                let number = |format: &str| ["int", "uint", "float", "double"].iter().any(|n| format.starts_with(n));
                keyword != "format" || !value.as_str().is_some_and(number)
            });
            let schemas = fields.iter_mut().filter(|(keyword, _)| !DATA.contains(&keyword.as_str()));
            schemas.for_each(|(_, value)| drop_number_formats(value));
        }
        Value::Array(list) => list.iter_mut().for_each(drop_number_formats),
        _ => {}
    }
}

/// Hints, on the careful side: what is not known to be harmless is called harmful.
fn hints(entry: &Entry) -> ToolAnnotations {
    let reads = entry.effect() == Effect::Read;
    // Whether somebody outside this system takes part.
    let open = match entry.effect() {
        Effect::Keyed | Effect::External => true,
        Effect::Read | Effect::Transactional | Effect::Checkpointed => false,
    };
    // By its method: a second PUT or DELETE of the same changes nothing more.
    let idempotent = reads || matches!(entry.method(), Method::Put | Method::Delete);
    ToolAnnotations::new().read_only(reads).destructive(!reads).idempotent(idempotent).open_world(open)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn formats_of_numbers_are_dropped_and_nothing_else() {
        let mut schema = json!({
            "type": "object",
            "properties": {
                "format": {"type": "integer", "format": "uint64"},
                "at": {"type": "string", "format": "date-time"},
                "sizes": {"type": "array", "items": {"type": ["number", "null"], "format": "double"}},
            },
            "default": {"format": "int8"},
        });
        drop_number_formats(&mut schema);
        let want = json!({
            "type": "object",
            "properties": {
                "format": {"type": "integer"},
                "at": {"type": "string", "format": "date-time"},
                "sizes": {"type": "array", "items": {"type": ["number", "null"]}},
            },
            "default": {"format": "int8"},
        });
        assert_eq!(schema, want);
    }
}
