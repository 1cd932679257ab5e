//! Schemas without references.

use serde_json::{Map, Value};

/// Cuts what is left of references after inlining, which is recursion: a plain value of the same kind stands there.
/// The type itself still checks what is below.
pub(super) fn without_references(mut schema: Value) -> Value {
    let definitions = match schema.as_object_mut().and_then(|root| root.remove("$defs")) {
        Some(Value::Object(definitions)) => definitions,
        _ => Map::new(),
    };
    let root_kind = schema.get("type").cloned();
    cut(&mut schema, &definitions, root_kind.as_ref());
    schema
}

fn cut(schema: &mut Value, definitions: &Map<String, Value>, root_kind: Option<&Value>) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::String(target)) = object.remove("$ref") {
                let kind = match target.strip_prefix("#/$defs/") {
                    Some(name) => definitions.get(name).and_then(|definition| definition.get("type")),
                    None => root_kind,
                };
                // A choice of forms has no kind: anything stands there.
                if let Some(kind) = kind.filter(|kind| kind.is_string()) {
                    object.insert("type".into(), kind.clone());
                }
            }
            object.values_mut().for_each(|value| cut(value, definitions, root_kind));
        }
        Value::Array(list) => list.iter_mut().for_each(|value| cut(value, definitions, root_kind)),
        _ => {}
    }
}
