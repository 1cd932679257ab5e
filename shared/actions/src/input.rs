//! Reading an input: JSON is taken as typed, every fault is reported with its place.

use std::collections::HashSet;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use serde_path_to_error::Segment;
use tandem_protocol::{Fault, pointer};

use crate::ActionError;
use crate::faults::Faults;
use crate::order::in_order;
use crate::schema::compiled;

/// Fits a value to a schema, and gives all faults.
///
/// Models and languages without integers write `3.0` for 3; some models write lists and objects as JSON in a text.
/// Both are corrected where the schema leaves no doubt. Null is the absence of an optional field.
pub(crate) fn fit(value: &mut Value, schema: &Value) -> Vec<Fault> {
    let mut faults = Faults::at(String::new());
    faults.fit(value, schema);
    faults.list
}

/// Reads an input as its type.
pub(crate) fn decode<I: DeserializeOwned>(input: Value) -> Result<I, Vec<Fault>> {
    serde_path_to_error::deserialize(input).map_err(|error| {
        let mut at = String::new();
        for segment in error.path().iter() {
            match segment {
                Segment::Seq { index } => pointer::step(&mut at, &index.to_string()),
                Segment::Map { key } => pointer::step(&mut at, key),
                Segment::Enum { .. } | Segment::Unknown => {}
            }
        }
        vec![Fault { pointer: at, detail: error.into_inner().to_string() }]
    })
}

impl Faults {
    fn fit(&mut self, value: &mut Value, schema: &Value) {
        let Value::Object(schema) = schema else { return };
        if self.full {
            return;
        }
        for keyword in ["oneOf", "anyOf"] {
            if let Some(Value::Array(forms)) = schema.get(keyword) {
                self.fit_one_of(value, forms);
            }
        }
        let kinds = kinds(schema);
        if !kinds.is_empty() {
            correct(value, &kinds);
            if !kinds.iter().any(|kind| is(value, kind)) {
                let wanted: Vec<&str> = kinds.iter().filter(|kind| **kind != "null").map(|kind| named(kind)).collect();
                return self.add(format!("must be {}, not {}", wanted.join(" or "), name_of(value)));
            }
        }
        let choices = schema.get("enum").and_then(Value::as_array).cloned();
        if let Some(choices) = choices.or_else(|| Some(vec![schema.get("const")?.clone()]))
            && !choices.contains(value)
        {
            // Null only says that the field is absent.
            let told: Vec<String> = choices.iter().filter(|choice| !choice.is_null()).map(shown).collect();
            return self.add(format!("must be {}", told.join(" or ")));
        }
        match value {
            Value::Number(_) => self.number(value, schema),
            Value::String(text) => {
                self.length("characters", text.chars().count(), schema, ["minLength", "maxLength"]);
                self.pattern(text, schema);
            }
            Value::Array(list) => {
                if !self.length("entries", list.len(), schema, ["minItems", "maxItems"]) {
                    return;
                }
                let first = schema.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
                for (n, item) in list.iter_mut().enumerate() {
                    if let Some(form) = first.get(n).or(schema.get("items")) {
                        self.below(&n.to_string(), |faults| faults.fit(item, form));
                    }
                }
                if schema.get("uniqueItems") == Some(&Value::Bool(true)) {
                    let mut seen = HashSet::new();
                    if let Some(n) = list.iter().position(|item| !seen.insert(in_order(item))) {
                        self.below(&n.to_string(), |faults| faults.add("is there twice"));
                    }
                }
            }
            Value::Object(fields) => self.object(fields, schema),
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// The first form that fits; else the faults of the one that was meant, if that can be told.
    fn fit_one_of(&mut self, value: &mut Value, forms: &[Value]) {
        let mut tried = Vec::new();
        for form in forms {
            let (mut copy, mut faults) = (value.clone(), Faults::at(self.at.clone()));
            faults.fit(&mut copy, form);
            if faults.list.is_empty() {
                *value = copy;
                return;
            }
            tried.push((form, faults.list));
        }
        let can_be = |form: &Value| is_meant(value, form);
        tried.retain(|(form, _)| form.get("type").is_none_or(|kind| kind != "null") && can_be(form));
        match tried.len() {
            1 => tried.into_iter().flat_map(|(_, faults)| faults).for_each(|fault| self.push(fault)),
            _ => self.add("has none of the forms that the schema allows"),
        }
    }

    fn number(&mut self, value: &Value, schema: &Map<String, Value>) {
        let Value::Number(number) = value else { return };
        if let Some((least, most)) = schema.get("format").and_then(Value::as_str).and_then(bounds)
            && let Some(whole) = number.as_i64().map(i128::from).or(number.as_u64().map(i128::from))
            && !(least..=most).contains(&whole)
        {
            let (text, bound) = if whole < least { ("at least", least) } else { ("at most", most) };
            return self.add(format!("must be {text} {bound}"));
        }
        // Bounds are small; a number that a float cannot hold exactly is still on the right side of them.
        let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
        let Some(number) = number.as_f64() else { return };
        for (broken, keyword, text) in [
            (bound("minimum").is_some_and(|least| number < least), "minimum", "at least"),
            (bound("maximum").is_some_and(|most| number > most), "maximum", "at most"),
            (bound("exclusiveMinimum").is_some_and(|below| number <= below), "exclusiveMinimum", "more than"),
            (bound("exclusiveMaximum").is_some_and(|above| number >= above), "exclusiveMaximum", "less than"),
        ] {
            if broken {
                self.add(format!("must be {text} {}", schema[keyword]));
            }
        }
    }

    /// Whether it has no more than it may have.
    fn length(&mut self, what: &str, has: usize, schema: &Map<String, Value>, [least, most]: [&str; 2]) -> bool {
        let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_u64);
        let has = has as u64;
        if let Some(least) = bound(least).filter(|least| has < *least) {
            self.add(format!("must have at least {least} {what}"));
        }
        let over = bound(most).filter(|most| has > *most);
        if let Some(most) = over {
            self.add(format!("has {has} {what}, at most {most} are allowed"));
        }
        over.is_none()
    }

    fn pattern(&mut self, text: &str, schema: &Map<String, Value>) {
        let Some(pattern) = schema.get("pattern").and_then(Value::as_str) else { return };
        // The registry has compiled it, or refused it.
        if compiled(pattern).is_ok_and(|compiled| !compiled.is_match(text)) {
            // An expression explains nothing to most people.
            let examples = schema.get("examples").and_then(Value::as_array).into_iter().flatten();
            let examples: Vec<&str> = examples.filter_map(Value::as_str).collect();
            self.add(match &examples[..] {
                [] => format!("{MUST_MATCH}{pattern}"),
                examples => format!("must look like {}", examples.join(" or ")),
            });
        }
    }

    fn object(&mut self, fields: &mut Map<String, Value>, schema: &Map<String, Value>) {
        let empty = Map::new();
        let known = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let required: Vec<&str> =
            schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        fields.retain(|name, value| {
            let optional = !required.contains(&name.as_str());
            !(value.is_null() && optional && known.get(name).is_some_and(|field| !allows_null(field)))
        });
        for name in &required {
            if !fields.contains_key(*name) {
                self.below(name, |faults| faults.add("is missing"));
            }
        }
        for (name, value) in fields {
            match (known.get(name), schema.get("additionalProperties")) {
                (Some(field), _) => self.below(name, |faults| faults.fit(value, field)),
                (None, Some(Value::Bool(false))) => {
                    let names: Vec<&str> = known.keys().map(String::as_str).collect();
                    let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                    self.below(name, |faults| faults.add(format!("is not a known field; known are: {names}")));
                }
                (None, Some(other)) => self.below(name, |faults| faults.fit(value, other)),
                (None, None) => {}
            }
        }
    }
}

/// Puts a type's own words for a text that it refuses in the place of a bare pattern.
pub(crate) fn tell(faults: &mut [Fault], own: ActionError) {
    let ActionError::Invalid(own) = own else { return };
    for Fault { pointer, detail } in own {
        let bare = faults.iter_mut().find(|fault| fault.pointer == pointer && fault.detail.starts_with(MUST_MATCH));
        if let Some(fault) = bare {
            fault.detail = detail;
        }
    }
}

const MUST_MATCH: &str = "must match ";

/// The numbers that a type of Rust's holds, by the name that its schema gives as the format. Those of smaller ones are in
/// the schema.
fn bounds(format: &str) -> Option<(i128, i128)> {
    Some(match format {
        "int32" => (i32::MIN.into(), i32::MAX.into()),
        "uint32" => (0, u32::MAX.into()),
        "int64" | "int" => (i64::MIN.into(), i64::MAX.into()),
        "uint64" | "uint" => (0, u64::MAX.into()),
        _ => return None,
    })
}

/// The types that a schema allows; none: all.
pub(crate) fn kinds(schema: &Map<String, Value>) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn allows_null(schema: &Value) -> bool {
    let Value::Object(schema) = schema else { return true };
    let forms = ["oneOf", "anyOf"].into_iter().filter_map(|keyword| schema.get(keyword)?.as_array()).flatten();
    let mut forms = forms.peekable();
    let kinds = kinds(schema);
    kinds.contains(&"null") || (kinds.is_empty() && forms.peek().is_none()) || forms.any(allows_null)
}

/// Whether a value that does not fit a form was meant to: its tag says so, or there is no tag.
fn is_meant(value: &Value, form: &Value) -> bool {
    let Some(fields) = form.get("properties").and_then(Value::as_object) else { return true };
    fields.iter().all(|(name, field)| match field.get("const") {
        Some(tag) => value.get(name) == Some(tag),
        None => true,
    })
}

fn correct(value: &mut Value, kinds: &[&str]) {
    let wants = |kind: &str| kinds.contains(&kind);
    let corrected = match value {
        Value::Number(number) if number.is_f64() && wants("integer") && !wants("number") => {
            number.as_f64().and_then(whole)
        }
        Value::String(text) if (wants("array") || wants("object")) && !wants("string") => {
            serde_json::from_str(text).ok().filter(|parsed| kinds.iter().any(|kind| is(parsed, kind)))
        }
        _ => None,
    };
    if let Some(corrected) = corrected {
        *value = corrected;
    }
}

/// The integer that a float is, if it is one.
fn whole(float: f64) -> Option<Value> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if float.fract() != 0.0 || !(-LIMIT..LIMIT).contains(&float) {
        return None;
    }
    Some(Value::from(float as i64))
}

fn is(value: &Value, kind: &str) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    }
}

fn named(kind: &str) -> &str {
    match kind {
        "boolean" => "true or false",
        "integer" => "a whole number",
        "number" => "a number",
        "string" => "a text",
        "array" => "a list",
        "object" => "an object",
        other => other,
    }
}

fn name_of(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(_) => "a text".into(),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| format!("{text:?}"))
}

#[cfg(test)]
#[path = "input_tests.rs"]
mod tests;
