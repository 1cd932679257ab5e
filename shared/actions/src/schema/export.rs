//! The schema that models are given: what every provider takes, and no more.
//!
//! Nothing is lost by it, since inputs are checked against the full schema and then read as their type.

use serde_json::{Map, Value, json};

/// Keywords that a provider refuses, or that only repeat what is said elsewhere.
const DROPPED: [&str; 10] = [
    "$schema",
    "$comment",
    "title",
    "format",
    "pattern",
    "examples",
    "uniqueItems",
    "unevaluatedProperties",
    "contentEncoding",
    "contentMediaType",
];
/// Keywords that cannot be said more plainly.
const REFUSED: [&str; 9] =
    ["$ref", "$defs", "allOf", "not", "if", "patternProperties", "propertyNames", "contains", "dependentSchemas"];

/// The input schema for models, or why there is none. The root is always an object with properties.
pub(crate) fn export(schema: &Value) -> Result<Value, String> {
    let mut schema = simplify(schema, "")?;
    let root = schema.as_object_mut().filter(|root| root.get("type") == Some(&json!("object")));
    let root = root.ok_or("its input must be a struct, or an enum of structs with a tag")?;
    // It is the description of the action.
    root.remove("description");
    // One provider takes no more than type, properties and required here, and the check refuses unknown fields anyway.
    root.retain(|keyword, _| ["type", "properties", "required"].contains(&keyword.as_str()));
    root.entry("properties").or_insert_with(|| json!({}));
    Ok(schema)
}

fn simplify(schema: &Value, at: &str) -> Result<Value, String> {
    let Value::Object(given) = schema else {
        // `true` allows everything, as the empty schema does.
        return if *schema == json!(true) { Ok(json!({})) } else { Err(format!("nothing fits at {at}")) };
    };
    let mut plain = Map::new();
    for (keyword, value) in given {
        let below = |name: &str| format!("{at}/{name}");
        match keyword.as_str() {
            dropped if DROPPED.contains(&dropped) => {}
            refused if REFUSED.contains(&refused) => {
                return Err(format!("its input schema needs {refused} at {at:?}, which model providers refuse"));
            }
            "oneOf" | "anyOf" => {}
            "const" => _ = plain.insert("enum".into(), json!([value])),
            "type" => _ = plain.insert(keyword.clone(), without_null(value)),
            "enum" => {
                let values = value.as_array().into_iter().flatten().filter(|value| !value.is_null());
                plain.insert(keyword.clone(), values.cloned().collect());
            }
            "default" if value.is_null() => {}
            // What follows the first ones: nothing, as the length says.
            "items" if given.contains_key("prefixItems") => {}
            "items" => _ = plain.insert(keyword.clone(), simplify(value, &below("items"))?),
            "prefixItems" => _ = plain.insert("items".into(), one_of_all(value, &below("items"))?),
            "properties" => {
                let properties = value.as_object().into_iter().flatten();
                let properties: Result<Map<_, _>, String> =
                    properties.map(|(name, value)| Ok((name.clone(), simplify(value, &below(name))?))).collect();
                plain.insert(keyword.clone(), properties?.into());
            }
            "additionalProperties" if value.is_object() => {
                plain.insert(keyword.clone(), simplify(value, &below("*"))?);
            }
            _ => _ = plain.insert(keyword.clone(), value.clone()),
        }
    }
    for keyword in ["oneOf", "anyOf"] {
        if let Some(Value::Array(forms)) = given.get(keyword) {
            let forms = forms.iter().filter(|form| form.get("type") != Some(&json!("null")));
            let forms: Result<Vec<_>, _> = forms.map(|form| simplify(form, at)).collect();
            join(&mut plain, forms?);
        }
    }
    Ok(plain.into())
}

/// Any of these: some providers know lists of one kind only. The order is in the description, where that matters.
fn one_of_all(forms: &Value, at: &str) -> Result<Value, String> {
    let mut kinds: Vec<Value> = Vec::new();
    for form in forms.as_array().into_iter().flatten() {
        let form = simplify(form, at)?;
        if !kinds.contains(&form) {
            kinds.push(form);
        }
    }
    Ok(if let [one] = &kinds[..] { one.clone() } else { json!({"anyOf": kinds}) })
}

/// The absence of a field says what null would.
fn without_null(kind: &Value) -> Value {
    let Value::Array(kinds) = kind else { return kind.clone() };
    let kinds: Vec<&Value> = kinds.iter().filter(|kind| *kind != "null").collect();
    if let [one] = kinds[..] { one.clone() } else { json!(kinds) }
}

/// Adds alternatives in the plainest way: a choice of texts, one object with the fields of all, else `anyOf`.
fn join(plain: &mut Map<String, Value>, forms: Vec<Value>) {
    let objects: Vec<&Map<String, Value>> = forms.iter().filter_map(Value::as_object).collect();
    if let [one] = objects[..] {
        let missing: Vec<_> = one.iter().filter(|(keyword, _)| !plain.contains_key(*keyword)).collect();
        plain.extend(missing.into_iter().map(|(keyword, value)| (keyword.clone(), value.clone())));
    } else if objects.iter().all(|form| form.contains_key("enum") && form.get("type") == Some(&json!("string"))) {
        join_choices(plain, &objects);
    } else if objects.iter().all(|form| form.get("type") == Some(&json!("object"))) {
        join_objects(plain, &objects);
    } else {
        plain.insert("anyOf".into(), forms.into());
    }
}

fn description(schema: &Value) -> Option<&str> {
    schema.get("description")?.as_str()
}

fn join_choices(plain: &mut Map<String, Value>, forms: &[&Map<String, Value>]) {
    let choices: Vec<&Value> = forms.iter().filter_map(|form| form["enum"].as_array()).flatten().collect();
    let explained = forms.iter().filter_map(|form| {
        let choice = form["enum"].get(0)?.as_str()?;
        Some(format!("{choice}: {}", form.get("description")?.as_str()?))
    });
    let own = plain.get("description").and_then(Value::as_str).map(str::to_owned);
    let texts: Vec<String> = own.into_iter().chain(explained).collect();
    plain.insert("type".into(), json!("string"));
    plain.insert("enum".into(), json!(choices));
    if !texts.is_empty() {
        plain.insert("description".into(), texts.join("\n").into());
    }
}

fn join_objects(plain: &mut Map<String, Value>, forms: &[&Map<String, Value>]) {
    let mut fields: Map<String, Value> = Map::new();
    for form in forms {
        for (name, field) in form.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let joined = match fields.remove(name) {
                Some(before) if before != *field => {
                    let mut both = Map::new();
                    join(&mut both, vec![before.clone(), field.clone()]);
                    let mut texts: Vec<&str> = [&before, field].into_iter().filter_map(description).collect();
                    texts.dedup();
                    if !texts.is_empty() {
                        both.entry("description").or_insert_with(|| texts.join("\n").into());
                    }
                    both.into()
                }
                _ => field.clone(),
            };
            fields.insert(name.clone(), joined);
        }
    }
    let requires = |form: &Map<String, Value>, name: &str| {
        form.get("required").and_then(Value::as_array).is_some_and(|list| list.iter().any(|field| field == name))
    };
    // What only some forms need is checked, but not said.
    let required: Vec<&String> = fields.keys().filter(|name| forms.iter().all(|form| requires(form, name))).collect();
    plain.insert("type".into(), json!("object"));
    plain.insert("required".into(), json!(required));
    if forms.iter().all(|form| form.get("additionalProperties") == Some(&json!(false))) {
        plain.insert("additionalProperties".into(), json!(false));
    }
    plain.insert("properties".into(), fields.into());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema;
    use schemars::JsonSchema;
    use serde::Deserialize;
    use std::collections::HashMap;

    fn exported<T: JsonSchema>() -> Value {
        export(&schema::of::<T, ()>().input).unwrap()
    }

    /// Where.
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    struct Place {
        /// In metres.
        north_of: f64,
    }

    /// How.
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    #[serde(rename_all = "kebab-case")]
    enum Kind {
        /// At once.
        VeryFast,
        /// Later.
        Slow,
    }

    /// A tree.
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Tree {
        children: Vec<Tree>,
        parent: Option<Box<Tree>>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    struct All {
        place: Place,
        /// More of them.
        other_places: Vec<Place>,
        maybe: Option<Place>,
        kind: Option<Kind>,
        tree: Tree,
        #[serde(default)]
        count: u64,
        half: Option<f32>,
        range: (f64, f64),
        pair: (String, bool),
        by_name: HashMap<String, u8>,
        any: Value,
    }

    #[test]
    fn a_schema_for_models_is_plain() {
        let got = exported::<All>();
        let place = json!({"description": "Where.", "type": "object", "additionalProperties": false,
            "properties": {"northOf": {"description": "In metres.", "type": "number"}}, "required": ["northOf"]});
        let want = json!({
            "type": "object",
            "properties": {
                "place": place,
                "otherPlaces": {"description": "More of them.", "type": "array", "items": place},
                "maybe": place,
                "kind": {"description": "How.\nvery-fast: At once.\nslow: Later.", "type": "string",
                    "enum": ["very-fast", "slow"]},
                "tree": {"description": "A tree.", "type": "object", "required": ["children"], "properties": {
                    "children": {"type": "array", "items": {"type": "object"}},
                    "parent": {"type": "object"},
                }},
                "count": {"type": "integer", "minimum": 0, "default": 0},
                "half": {"type": "number"},
                "range": {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
                "pair": {"type": "array", "minItems": 2, "maxItems": 2,
                    "items": {"anyOf": [{"type": "string"}, {"type": "boolean"}]}},
                "byName": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0, "maximum": 255}},
                "any": {},
            },
            "required": ["place", "otherPlaces", "tree", "range", "pair", "byName", "any"],
        });
        assert_eq!(got, want, "{got:#}");
        assert!(!got.to_string().contains('$'));
    }

    /// A number, or a list of such.
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    #[serde(untagged)]
    enum Nested {
        One(u8),
        Many(Vec<Nested>),
    }

    #[test]
    fn what_is_recursive_without_a_kind_may_be_anything_below() {
        let schema = schema::of::<Nested, ()>().input;
        let many = &schema["anyOf"][1];
        assert_eq!((&many["type"], many["items"].get("type")), (&json!("array"), None), "{schema:#}");
    }

    /// Does one of two things.
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    #[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
    enum Choice {
        Add { name: String, size: u8 },
        Remove { name: String, really: bool },
    }

    #[test]
    fn a_tagged_enum_is_one_object_with_the_fields_of_all() {
        let got = exported::<Choice>();
        let want = json!({
            "type": "object",
            "required": ["kind", "name"],
            "properties": {
                "size": {"type": "integer", "minimum": 0, "maximum": 255},
                "kind": {"type": "string", "enum": ["add", "remove"]},
                "name": {"type": "string"},
                "really": {"type": "boolean"},
            },
        });
        assert_eq!(got, want, "{got:#}");
    }

    #[test]
    fn what_is_not_an_object_is_refused() {
        for (what, schema) in [
            ("text", schema::of::<String, ()>().input),
            ("nothing", schema::of::<(), ()>().input),
            ("list", schema::of::<Vec<Place>, ()>().input),
            ("allOf", json!({"type": "object", "allOf": [{}]})),
            ("never", json!({"type": "object", "properties": {"a": false}})),
        ] {
            assert!(export(&schema).is_err(), "{what}");
        }
    }
}
