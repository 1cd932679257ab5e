//! The actions in the description: a path for each, made from its declaration.

use serde_json::{Map, Value, json};
use tandem_actions::{Effect, Entry, Method, Registry};
use tandem_protocol::{Caller, Code};

use super::document::{Parts, query_parameters};
use super::schemas::Schemas;
use crate::routes::actions::UnderWay;

/// Adds the actions that are called over HTTP.
pub(super) fn describe(registry: &Registry, paths: &mut Map<String, Value>, parts: &mut Parts) {
    for entry in registry.entries().filter(|entry| entry.is_on(Caller::Http)) {
        let (method, operation) = (method(entry), operation(entry, parts));
        paths.insert(format!("/api/{}", entry.name()), json!({method: operation}));
    }
}

fn operation(entry: &Entry, parts: &mut Parts) -> Value {
    let name = pascal(entry.name());
    let summary = entry.description().split_once(". ").map_or(entry.description(), |(first, _)| first);
    let mut operation = json!({
        "operationId": entry.name(),
        "tags": ["Actions"],
        "summary": summary.lines().next().unwrap_or_default().trim_end_matches('.'),
        "description": entry.description(),
        "x-effect": entry.effect(),
        "x-approval": entry.approval(),
    });
    let mut parameters = Vec::new();
    if entry.method() == Method::Get {
        parameters.extend(query_parameters(entry.input_schema()));
    } else {
        let schema = parts.schemas.name_input(format!("{name}Input"), entry.input_schema());
        let required = !entry.input_schema()["required"].as_array().is_none_or(Vec::is_empty);
        // Null is the same as no body: no arguments.
        let schema = if required { schema } else { json!({"anyOf": [schema, {"type": "null"}]}) };
        operation["requestBody"] = json!({"required": required, "content": {"application/json": {"schema": schema}}});
    }
    if entry.effect() != Effect::Read {
        parameters.push(idempotency_key());
    }
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    let output = parts.schemas.name_output(format!("{name}Output"), entry.output_schema());
    let mut responses = parts.problems.responses(codes(entry));
    let (status, text, schema) = match entry.effect() {
        // What it gives is the output of its run's one call.
        Effect::Checkpointed => {
            ("202", "The run that carries it out: follow it.", Schemas::output::<UnderWay>(&mut parts.schemas))
        }
        Effect::Read | Effect::Transactional | Effect::Keyed | Effect::External => {
            ("200", "What the action gives.", output)
        }
    };
    let mut headers = json!({"x-request-id": {"$ref": "#/components/headers/RequestId"}});
    if entry.effect() == Effect::Checkpointed {
        for (name, header) in [("location", "Location"), ("x-run-id", "RunId"), ("x-workflow-run-id", "RunId")] {
            headers[name] = json!({"$ref": format!("#/components/headers/{header}")});
        }
    }
    responses.insert(
        status.into(),
        json!({
            "description": text,
            "headers": headers,
            "content": {"application/json": {"schema": schema}},
        }),
    );
    operation["responses"] = json!(responses);
    operation
}

fn idempotency_key() -> Value {
    json!({
        "name": "Idempotency-Key",
        "in": "header",
        "required": false,
        "description": "Makes a repeated call the same call, for a day: it has one effect, and the answer is the first \
                        one's. The same key with another input is refused.",
        "schema": {"type": "string", "pattern": "^[!-~]{1,255}$"},
        "example": "8e03978e-40d5-43dd-bc93-6894a57f9324",
    })
}

fn codes(entry: &Entry) -> Vec<Code> {
    let mut codes = vec![
        Code::InvalidRequest,
        Code::InvalidInput,
        Code::Unauthenticated,
        Code::Throttled,
        Code::TooLarge,
        Code::ActionFailed,
        Code::Internal,
        Code::StoreUnavailable,
        Code::Timeout,
    ];
    if !entry.roles().is_empty() {
        codes.push(Code::Forbidden);
    }
    match entry.effect() {
        Effect::Read => {}
        Effect::Transactional | Effect::Checkpointed => {
            codes.extend([Code::Conflict, Code::InProgress, Code::KeyReused])
        }
        Effect::Keyed | Effect::External => {
            codes.extend([Code::OutcomeUnknown, Code::Conflict, Code::InProgress, Code::KeyReused]);
        }
    }
    codes
}

fn method(entry: &Entry) -> &'static str {
    match entry.method() {
        Method::Get => "get",
        Method::Post => "post",
        Method::Put => "put",
        Method::Delete => "delete",
    }
}

/// `list-emails` is `ListEmails`. No two names become the same.
fn pascal(name: &str) -> String {
    let mut words = String::new();
    let mut letters = name.chars().peekable();
    let mut begins = true;
    while let Some(letter) = letters.next() {
        if letter == '-' && letters.peek().is_some_and(char::is_ascii_lowercase) {
            begins = true;
        } else {
            words.push(if begins { letter.to_ascii_uppercase() } else { letter });
            begins = false;
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_schemas_are_as_different_as_the_names_of_actions() {
        for (name, want) in
            [("email", "Email"), ("list-emails", "ListEmails"), ("a-1", "A-1"), ("a1", "A1"), ("a--b", "A-B")]
        {
            assert_eq!(pascal(name), want);
        }
    }
}
