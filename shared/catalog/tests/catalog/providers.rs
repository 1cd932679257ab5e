//! Tool schemas within the documented limits of every provider: of the real actions, and of difficult types.
//!
//! The rules, as the providers' references and error messages state them:
//!
//! - Anthropic: a name is `[a-zA-Z0-9_-]{1,64}`; the root is an object without `oneOf`, `anyOf` and `allOf`; no `$ref`
//!   anywhere; names of fields are `[a-zA-Z0-9_.-]{1,64}`; the rest is JSON Schema 2020-12.
//! - OpenAI, functions that are not strict: the same name; a description of at most 1024 characters; the root is an
//!   object without `oneOf`, `anyOf`, `allOf`, `enum` and `not`; every list says what its `items` are; at most 128 tools.
//! - Bedrock, Converse: the same name; a description that is not empty; the root is an object, for Amazon's own models
//!   with `type`, `properties` and `required` alone; names of fields as for Anthropic.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tandem_actions::{ActionDef, ActionError, Context, Effect, Registry, Tool, action};
use tandem_protocol::{Principal, TenantId, UserId};

/// Every keyword that all of them know.
const KNOWN: [&str; 17] = [
    "type",
    "description",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "anyOf",
    "default",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
];

/// What breaks a rule of some provider.
fn faults(tool: &Tool) -> Vec<String> {
    let mut faults = Vec::new();
    if !is_name(&tool.name, "_-") {
        faults.push(format!("the name {:?}", tool.name));
    }
    if !(1..=1024).contains(&tool.description.chars().count()) {
        faults.push("the length of the description".to_owned());
    }
    let root = tool.schema.as_object().unwrap();
    if root.get("type") != Some(&Value::from("object")) || !root.get("properties").is_some_and(Value::is_object) {
        faults.push("the root is no object with properties".to_owned());
    }
    let more = root.keys().filter(|keyword| !["type", "properties", "required"].contains(&keyword.as_str()));
    faults.extend(more.map(|keyword| format!("{keyword} at the root")));
    schema(&tool.schema, "", &mut faults);
    faults
}

fn schema(schema: &Value, at: &str, faults: &mut Vec<String>) {
    let Value::Object(keywords) = schema else {
        faults.push(format!("{schema} in place of a schema at {at}"));
        return;
    };
    faults.extend(keywords.keys().filter(|k| !KNOWN.contains(&k.as_str())).map(|k| format!("{k} at {at}")));
    let kind = keywords.get("type");
    if kind.is_some_and(|kind| kind == "array") && !keywords.contains_key("items") {
        faults.push(format!("a list without items at {at}"));
    }
    if keywords.get("enum").is_some_and(|choices| choices.as_array().is_none_or(Vec::is_empty)) {
        faults.push(format!("an empty enum at {at}"));
    }
    for (name, field) in keywords.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if !is_name(name, "_.-") {
            faults.push(format!("the name of {at}/{name}"));
        }
        self::schema(field, &format!("{at}/{name}"), faults);
    }
    for name in keywords.get("required").and_then(Value::as_array).into_iter().flatten() {
        if keywords["properties"].get(name.as_str().unwrap()).is_none() {
            faults.push(format!("{name} is required at {at}, and is no field"));
        }
    }
    if let Some(items) = keywords.get("items") {
        self::schema(items, &format!("{at}/items"), faults);
    }
    if let Some(more) = keywords.get("additionalProperties").filter(|more| !more.is_boolean()) {
        self::schema(more, &format!("{at}/*"), faults);
    }
    for form in keywords.get("anyOf").and_then(Value::as_array).into_iter().flatten() {
        self::schema(form, at, faults);
    }
}

fn is_name(name: &str, besides: &str) -> bool {
    (1..=64).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || besides.contains(c))
}

fn tools(actions: &[ActionDef]) -> Vec<Tool> {
    let roles = vec!["admin".to_owned()];
    let principal = Principal { tenant: TenantId::new("acme").unwrap(), user: UserId::new("ann").unwrap(), roles };
    Registry::new(actions).unwrap().tools(&principal)
}

#[test]
fn every_tool_of_the_application_is_taken_by_every_provider() {
    let tools = tools(tandem_catalog::ACTIONS);
    assert!((10..=128).contains(&tools.len()));
    for tool in tools {
        assert_eq!(faults(&tool), Vec::<String>::new(), "{} {:#}", tool.name, tool.schema);
    }
}

/// A choice of texts.
#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
#[serde(rename_all = "kebab-case")]
enum Plain {
    /// The first.
    One,
    Two,
}

/// A choice with content, the way serde writes it by default.
#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
enum Outside {
    Empty,
    Number(u8),
    Pair(u8, String),
    Fields { a: Option<Plain>, b: Vec<Outside> },
}

/// A choice with a tag inside.
#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
#[serde(tag = "kind", rename_all = "camelCase")]
enum Inside {
    Add {
        /// What.
        what: String,
        /// And more.
        more: Box<Option<Inside>>,
    },
    Remove {
        /// Which.
        what: u64,
    },
    Nothing,
}

/// A choice with a tag beside the content.
#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
#[serde(tag = "t", content = "c")]
enum Beside {
    Text(String),
    List(Vec<Inside>),
    None,
}

/// A choice by form.
#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
#[serde(untagged)]
enum Form {
    Number(i64),
    Text(String),
    Many(Vec<Form>),
    Object { a: Option<f64> },
}

/// A tree.
#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Tree {
    value: Option<Form>,
    children: Vec<Tree>,
    by_name: BTreeMap<String, Tree>,
}

/// A wrapper.
#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Newtype(Vec<Option<u16>>);

/// What is read into the object around it.
#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Flat {
    /// A field of its own.
    flat: bool,
}

/// Takes whatever is difficult.
#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
#[serde(rename_all = "camelCase")]
struct Difficult {
    /// A.
    plain: Plain,
    /// B.
    outside: Option<Outside>,
    /// C.
    inside: Inside,
    /// D.
    beside: Vec<Beside>,
    /// E.
    form: Form,
    /// F.
    tree: Tree,
    /// G.
    triple: (u8, Option<String>, (bool, f32)),
    /// H.
    array: [i32; 3],
    /// I.
    map: HashMap<String, Vec<Option<Plain>>>,
    /// J.
    set: BTreeSet<String>,
    /// K.
    any: Value,
    /// L.
    object: serde_json::Map<String, Value>,
    /// M.
    wrapped: Newtype,
    /// N.
    letter: char,
    /// O.
    maybe: Option<Option<Box<Tree>>>,
    /// P.
    #[serde(default)]
    big: Option<u128>,
    /// Q.
    #[schemars(regex(pattern = "^[a-z]+$"), length(min = 1, max = 9))]
    pattern: String,
    #[serde(flatten)]
    flat: Flat,
}

async fn nothing(_: Difficult, _: &mut Context) -> Result<(), ActionError> {
    Ok(())
}

async fn one_of(_: Inside, _: &mut Context) -> Result<(), ActionError> {
    Ok(())
}

#[test]
fn difficult_types_are_taken_by_every_provider() {
    let tools = tools(&[
        action("difficult").effect(Effect::Read).run(&nothing),
        action("one-of").effect(Effect::Read).run(&one_of),
    ]);
    for tool in &tools {
        assert_eq!(faults(tool), Vec::<String>::new(), "{} {:#}", tool.name, tool.schema);
    }
    let fields = tools[0].schema["properties"].as_object().unwrap();
    assert_eq!(fields.len(), 18, "{:?}", fields.keys().collect::<Vec<_>>());
}

#[test]
fn the_rules_find_what_they_are_for() {
    let tool = |schema: Value| Tool { name: "a".into(), description: "A.".into(), schema };
    for (schema, fault) in [
        (serde_json::json!({"type": "string"}), "the root is no object"),
        (serde_json::json!({"type": "object", "properties": {}, "anyOf": []}), "anyOf at the root"),
        (serde_json::json!({"type": "object", "properties": {"a b": {}}}), "the name of /a b"),
        (serde_json::json!({"type": "object", "properties": {"a": {"$ref": "#"}}}), "$ref at /a"),
        (serde_json::json!({"type": "object", "properties": {"a": {"type": "array"}}}), "a list without items at /a"),
        (serde_json::json!({"type": "object", "properties": {"a": true}}), "in place of a schema at /a"),
        (serde_json::json!({"type": "object", "properties": {}, "required": ["a"]}), "is required"),
    ] {
        let found = faults(&tool(schema.clone()));
        assert!(found.iter().any(|found| found.contains(fault)), "{schema} {found:?}");
    }
}
