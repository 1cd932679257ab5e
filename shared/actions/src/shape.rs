//! The shape that an input was to have, as far as a failure can hold it.

use serde_json::{Map, Value, json};
use tandem_protocol::{Fault, pointer};

/// Longest shape, in bytes: a failure holds the faults too.
const MAX_SHAPE: usize = 2048;

/// The schema of the input; of a long one only the fields with faults. None: not even those are short enough.
pub(crate) fn expected(schema: &Value, faults: &[Fault]) -> Option<String> {
    let short = |shape: &Value| Some(shape.to_string()).filter(|text| text.len() <= MAX_SHAPE);
    short(schema).or_else(|| {
        let known = schema.get("properties")?.as_object()?;
        let meant = |fault: &Fault| {
            let name = pointer::name(fault.pointer.strip_prefix('/')?.split('/').next()?);
            Some((name.clone(), known.get(&name)?.clone()))
        };
        let fields: Map<String, Value> = faults.iter().filter_map(meant).collect();
        let required = schema.get("required").cloned().unwrap_or_else(|| json!([]));
        let shape = json!({"type": "object", "properties": fields, "required": required});
        (!fields.is_empty()).then(|| short(&shape)).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(pointer: &str) -> Fault {
        Fault { pointer: pointer.into(), detail: "is wrong".into() }
    }

    #[test]
    fn a_long_schema_is_told_as_far_as_it_is_meant() {
        let small = json!({"type": "object", "properties": {"a": {"type": "string"}}});
        assert_eq!(expected(&small, &[fault("/a")]), Some(small.to_string()));
        let long = "x".repeat(MAX_SHAPE);
        let fields = json!({"a": {"type": "string"}, "b/c": {"type": "array"}, "long": {"description": long}});
        let large = json!({"type": "object", "properties": fields, "required": ["a"]});
        let told = expected(&large, &[fault("/b~1c/0/x"), fault("/unknown"), fault("")]).unwrap();
        let want = json!({"type": "object", "properties": {"b/c": {"type": "array"}}, "required": ["a"]});
        assert_eq!(told, want.to_string());
        assert_eq!(expected(&large, &[fault("/long")]), None);
        assert_eq!(expected(&large, &[fault("/unknown")]), None);
    }
}
