//! Arguments that are text, from a query string or a command line, read by the declared types.

use serde_json::{Map, Value};

use crate::input::kinds;

/// The input that these arguments are. What cannot be read as its type stays text, so that the check says so.
/// Lists are repeated (`id=1&id=2`, `id[]=1`) or JSON (`id=[1,2]`).
pub(crate) fn read(schema: &Value, arguments: &[(String, String)]) -> Value {
    let mut input = Map::new();
    for (name, text) in arguments {
        let (name, bracketed) = name.strip_suffix("[]").map_or((name.as_str(), false), |name| (name, true));
        let field = field(schema, name);
        let is_list = field.is_some_and(|field| allows(field, "array"));
        let json_list = is_list && !bracketed && text.starts_with('[');
        if is_list && !json_list {
            let item = typed(field.and_then(items), text);
            match input.entry(name).or_insert_with(|| Value::Array(Vec::new())) {
                Value::Array(list) => list.push(item),
                other => *other = Value::Array(vec![other.take(), item]),
            }
            continue;
        }
        let value = typed(field, text);
        match input.get_mut(name) {
            // More than one value for what is no list: the check finds a list there.
            Some(Value::Array(list)) if !is_list => list.push(value),
            Some(before) => *before = Value::Array(vec![before.take(), value]),
            None => _ = input.insert(name.to_owned(), value),
        }
    }
    Value::Object(input)
}

/// The schema of a field, in any of the root's forms.
fn field<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    let own = schema.get("properties").and_then(|fields| fields.get(name));
    own.or_else(|| forms(schema).find_map(|form| field(form, name)))
}

fn forms(schema: &Value) -> impl Iterator<Item = &Value> {
    ["oneOf", "anyOf"].into_iter().filter_map(|keyword| schema.get(keyword)?.as_array()).flatten()
}

fn allows(schema: &Value, kind: &str) -> bool {
    schema.as_object().is_some_and(|schema| kinds(schema).contains(&kind)) || forms(schema).any(|f| allows(f, kind))
}

fn items(schema: &Value) -> Option<&Value> {
    schema.get("items").or_else(|| forms(schema).find_map(items))
}

fn typed(schema: Option<&Value>, text: &str) -> Value {
    let as_text = || Value::String(text.to_owned());
    let Some(schema) = schema else { return as_text() };
    if allows(schema, "string") {
        return as_text();
    }
    let number = allows(schema, "integer") || allows(schema, "number");
    let wanted = |value: &Value| match value {
        Value::Bool(_) => allows(schema, "boolean"),
        Value::Number(_) => number,
        Value::Array(_) => allows(schema, "array"),
        Value::Object(_) => allows(schema, "object"),
        Value::Null | Value::String(_) => false,
    };
    // JSON tolerates white space around a value, a command line does not.
    let parsed = serde_json::from_str(text).ok().filter(|_| text.trim() == text);
    parsed.filter(wanted).or_else(|| plain_number(text).filter(|_| number)).unwrap_or_else(as_text)
}

/// A number as people write it and JSON does not: `007`, `.5`.
fn plain_number(text: &str) -> Option<Value> {
    let plain = |c: char| c.is_ascii_digit() || c == '.';
    if !text.chars().all(plain) {
        return None;
    }
    text.parse::<u64>().map(Value::from).ok().or_else(|| text.parse::<f64>().ok().map(Value::from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::fit;
    use schemars::JsonSchema;
    use serde_json::json;

    #[derive(JsonSchema)]
    #[allow(dead_code)]
    #[schemars(deny_unknown_fields)]
    struct Input {
        n: Option<i64>,
        half: Option<f64>,
        on: Option<bool>,
        text: Option<String>,
        ids: Option<Vec<u32>>,
        tags: Option<Vec<String>>,
        place: Option<std::collections::BTreeMap<String, i32>>,
    }

    #[test]
    fn text_is_read_by_the_declared_type() {
        let schema = crate::schema::of::<Input, ()>().input;
        for (query, want) in [
            (vec![("n", "-5")], Some(json!({"n": -5}))),
            (vec![("n", "3.0")], Some(json!({"n": 3}))),
            (vec![("n", "007")], Some(json!({"n": 7}))),
            (vec![("half", ".5")], Some(json!({"half": 0.5}))),
            (vec![("n", "1.2.3")], None),
            (vec![("n", "abc")], None),
            (vec![("n", "")], None),
            (vec![("n", " 3")], None),
            (vec![("n", "0.5")], None),
            (vec![("n", "1e400")], None),
            (vec![("n", "null")], None),
            (vec![("n", "1"), ("n", "2")], None),
            (vec![("half", "0.5")], Some(json!({"half": 0.5}))),
            (vec![("half", "NaN")], None),
            (vec![("on", "false")], Some(json!({"on": false}))),
            (vec![("on", "yes")], None),
            (vec![("text", "3")], Some(json!({"text": "3"}))),
            (vec![("text", "--x")], Some(json!({"text": "--x"}))),
            (vec![("text", "null")], Some(json!({"text": "null"}))),
            (vec![("text", "a"), ("text", "b"), ("text", "c")], None),
            (vec![("ids", "1")], Some(json!({"ids": [1]}))),
            (vec![("ids", "1"), ("ids", "2")], Some(json!({"ids": [1, 2]}))),
            (vec![("ids[]", "1")], Some(json!({"ids": [1]}))),
            (vec![("ids", "[1,2]")], Some(json!({"ids": [1, 2]}))),
            (vec![("ids", "x")], None),
            (vec![("tags", "a"), ("tags", "b")], Some(json!({"tags": ["a", "b"]}))),
            (vec![("place", "{\"x\": 1}")], Some(json!({"place": {"x": 1}}))),
            (vec![("unknown", "1")], None),
        ] {
            let arguments: Vec<_> = query.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
            let mut input = read(&schema, &arguments);
            let faults = fit(&mut input, &schema);
            assert_eq!(faults.is_empty().then_some(input), want, "{query:?} {faults:?}");
        }
    }
}
