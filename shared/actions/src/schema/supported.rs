//! What an input schema may say: every keyword that is published is also checked.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use regex_lite::Regex;
use serde_json::Value;

/// Keywords that [`fit`](crate::input::fit) checks.
const CHECKED: [&str; 20] = [
    "type",
    "enum",
    "const",
    "oneOf",
    "anyOf",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "uniqueItems",
];
/// Keywords that say something to people and programs, and refuse nothing. A format is checked by the type.
const TOLD: [&str; 11] = [
    "$schema",
    "$comment",
    "title",
    "description",
    "default",
    "examples",
    "format",
    "deprecated",
    "contentEncoding",
    "contentMediaType",
    "unevaluatedProperties",
];

/// Why inputs cannot be checked against a schema, if they cannot.
pub(crate) fn check(schema: &Value) -> Result<(), String> {
    at(schema, "")
}

fn at(schema: &Value, place: &str) -> Result<(), String> {
    let Value::Object(keywords) = schema else { return Ok(()) };
    for (keyword, value) in keywords {
        let below = |name: &str| format!("{place}/{name}");
        match keyword.as_str() {
            "properties" => {
                let fields = value.as_object().into_iter().flatten();
                fields.into_iter().try_for_each(|(name, field)| at(field, &below(name)))?;
            }
            "items" | "additionalProperties" => at(value, &below("*"))?,
            "prefixItems" | "oneOf" | "anyOf" => {
                value.as_array().into_iter().flatten().try_for_each(|form| at(form, place))?;
            }
            "pattern" => {
                let pattern = value.as_str().unwrap_or_default();
                compiled(pattern)
                    .map_err(|fault| format!("its input schema has a bad pattern at {place:?}: {fault}"))?;
            }
            known if CHECKED.contains(&known) || TOLD.contains(&known) || known.starts_with("x-") => {}
            other => return Err(format!("its input schema needs {other} at {place:?}, which nothing checks")),
        }
    }
    Ok(())
}

/// A pattern, compiled once. Patterns come from the code, so there are few.
pub(crate) fn compiled(pattern: &str) -> Result<Arc<Regex>, String> {
    static PATTERNS: LazyLock<Mutex<HashMap<String, Arc<Regex>>>> = LazyLock::new(Mutex::default);
    let mut patterns = PATTERNS.lock().map_err(|_| "the patterns are lost".to_owned())?;
    if let Some(known) = patterns.get(pattern) {
        return Ok(Arc::clone(known));
    }
    let regex = Arc::new(Regex::new(pattern).map_err(|error| error.to_string())?);
    patterns.insert(pattern.to_owned(), Arc::clone(&regex));
    Ok(regex)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_nothing_checks_is_refused_with_its_place() {
        for (schema, want) in [
            (json!({"properties": {"n": {"multipleOf": 2}}}), Err("multipleOf at \"/n\"")),
            (json!({"properties": {"n": {"items": {"not": {}}}}}), Err("not at \"/n/*\"")),
            (json!({"anyOf": [{"patternProperties": {}}]}), Err("patternProperties at \"\"")),
            (json!({"properties": {"n": {"pattern": "("}}}), Err("bad pattern at \"/n\"")),
            (json!({"properties": {"not": {"type": "string", "pattern": "^a+$", "x-of": 1}}}), Ok(())),
            (json!(true), Ok(())),
        ] {
            match (check(&schema), want) {
                (Ok(()), Ok(())) => {}
                (Err(fault), Err(want)) => assert!(fault.contains(want), "{fault}"),
                (got, want) => panic!("{schema}: {got:?}, not {want:?}"),
            }
        }
    }
}
