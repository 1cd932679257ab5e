//! Schemas of the description: what comes in is written out where it stands, what goes out has a name.

use schemars::generate::{Contract, SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

/// Collects the named schemas.
pub(crate) struct Schemas {
    output: SchemaGenerator,
    named: Map<String, Value>,
}

impl Schemas {
    pub(super) fn new() -> Self {
        Schemas { output: settings(Contract::Serialize, false).into_generator(), named: Map::new() }
    }

    /// The schema of what is sent to us. Written out: a type may read more than it writes, under the same name.
    pub(super) fn input<T: JsonSchema>(&mut self) -> Value {
        let mut schema = settings(Contract::Deserialize, true).into_generator().into_root_schema_for::<T>().to_value();
        if let Some(schema) = schema.as_object_mut() {
            schema.remove("title");
        }
        schema
    }

    /// The schema of what we answer: a reference, where the type has a name.
    pub(super) fn output<T: JsonSchema>(&mut self) -> Value {
        self.output.subschema_for::<T>().to_value()
    }

    /// Gives the schema of an action's input a name, and a reference to it.
    pub(super) fn name_input(&mut self, name: String, schema: &Value) -> Value {
        let mut schema = schema.clone();
        may_be_null(&mut schema);
        self.name(name, schema)
    }

    /// Gives the schema of an answer a name, and a reference to it.
    pub(super) fn name_output(&mut self, name: String, schema: &Value) -> Value {
        let mut schema = schema.clone();
        never_null(&mut schema);
        self.name(name, schema)
    }

    fn name(&mut self, name: String, mut schema: Value) -> Value {
        // That of the type, which is called the same in every action.
        if let Some(schema) = schema.as_object_mut() {
            schema.remove("title");
        }
        let reference = json!({"$ref": format!("#/components/schemas/{name}")});
        self.named.insert(name, schema);
        reference
    }

    /// Every named schema, in the order of the alphabet.
    pub(super) fn into_components(mut self) -> Map<String, Value> {
        let mut all: Vec<(String, Value)> = self.output.take_definitions(true).into_iter().collect();
        all.iter_mut().for_each(|(_, schema)| never_null(schema));
        all.extend(self.named);
        all.sort_by(|(a, _), (b, _)| a.cmp(b));
        all.into_iter().collect()
    }
}

fn settings(contract: Contract, inline: bool) -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
        settings.inline_subschemas = inline;
        settings.contract = contract;
    })
}

/// For inputs whose optional fields may be left out, and not be null: `#[schemars(transform = fields_never_null)]`.
pub(crate) fn fields_never_null(schema: &mut Schema) {
    let mut value = schema.clone().to_value();
    never_null(&mut value);
    if let Ok(changed) = Schema::try_from(value) {
        *schema = changed;
    }
}

/// What may be left out of an answer is left out, where there is nothing: it is never null.
fn never_null(schema: &mut Value) {
    match schema {
        Value::Object(keywords) => {
            let required = keywords.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
            for (name, field) in keywords.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
                if !required.iter().any(|required| required == name) {
                    without_null(field);
                }
            }
            keywords.values_mut().for_each(never_null);
        }
        Value::Array(list) => list.iter_mut().for_each(never_null),
        _ => {}
    }
}

/// The registry takes null for the absence of an optional field, also where the type does not.
fn may_be_null(schema: &mut Value) {
    match schema {
        Value::Object(keywords) => {
            let required = keywords.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
            for (name, field) in keywords.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
                if !required.iter().any(|required| required == name) {
                    or_null(field);
                }
            }
            keywords.values_mut().for_each(may_be_null);
        }
        Value::Array(list) => list.iter_mut().for_each(may_be_null),
        _ => {}
    }
}

fn or_null(schema: &mut Value) {
    let Some(keywords) = schema.as_object_mut() else { return };
    let null = json!("null");
    if let Some(kinds) = keywords.get_mut("type") {
        match kinds {
            Value::Array(kinds) if kinds.contains(&null) => {}
            Value::Array(kinds) => kinds.push(null),
            kind => *kind = Value::Array(vec![kind.take(), null]),
        }
        if let Some(Value::Array(choices)) = keywords.get_mut("enum")
            && !choices.contains(&Value::Null)
        {
            choices.push(Value::Null);
        }
        return;
    }
    for keyword in ["oneOf", "anyOf"] {
        if let Some(Value::Array(forms)) = keywords.get_mut(keyword)
            && !forms.iter().any(|form| form["type"] == "null")
        {
            forms.push(json!({"type": "null"}));
        }
    }
}

/// The schema without the possibility of null.
pub(super) fn without_null(schema: &mut Value) {
    let Some(schema) = schema.as_object_mut() else { return };
    if let Some(Value::Array(kinds)) = schema.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = &kinds[..] {
            let kind = kind.clone();
            schema.insert("type".into(), kind);
        }
    }
    for keyword in ["anyOf", "oneOf"] {
        let Some(Value::Array(forms)) = schema.get_mut(keyword) else { continue };
        forms.retain(|form| form["type"] != "null");
        if let [Value::Object(form)] = &forms[..] {
            let form = form.clone();
            schema.remove(keyword);
            for (keyword, value) in form {
                schema.entry(keyword).or_insert(value);
            }
        }
    }
    if let Some(Value::Array(choices)) = schema.get_mut("enum") {
        choices.retain(|choice| !choice.is_null());
    }
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_is_the_absence_of_an_optional_field_of_an_input_and_stands_in_no_answer() {
        let schema = json!({"type": "object", "required": ["a"], "properties": {
            "a": {"type": "string"},
            "b": {"type": "integer"},
            "c": {"oneOf": [{"const": "x"}]},
            "d": {"type": ["string", "null"], "enum": ["x", null]},
            "e": {},
            "f": {"type": "array", "items": {"type": "object", "properties": {"g": {"type": "boolean"}}}},
        }});
        let (mut input, mut output) = (schema.clone(), schema);
        may_be_null(&mut input);
        never_null(&mut output);
        let inputs = [
            ("a", json!({"type": "string"})),
            ("b", json!({"type": ["integer", "null"]})),
            ("c", json!({"oneOf": [{"const": "x"}, {"type": "null"}]})),
            ("d", json!({"type": ["string", "null"], "enum": ["x", null]})),
            ("e", json!({})),
        ];
        for (name, want) in inputs {
            assert_eq!(input["properties"][name], want, "{name}");
        }
        let inner = &input["properties"]["f"]["items"]["properties"]["g"];
        assert_eq!(inner, &json!({"type": ["boolean", "null"]}));
        assert_eq!(output["properties"]["d"], json!({"type": "string", "enum": ["x"]}));
        assert_eq!(output["properties"]["b"], json!({"type": "integer"}));
    }
}
