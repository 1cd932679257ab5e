//! The whole document.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use tandem_actions::Registry;
use tandem_protocol::{Code, Problem};

use super::actions;
use super::operation::{Answer, Content, Events, Header, Operation};
use super::problems::{Problems, examples};
use super::schemas::{Schemas, without_null};
use crate::route::About;
use crate::routes::{table, tickets};

const ABOUT: &str = "\
People, programs and an agent work on one application, through the same actions and the same state.

Failures are problems (RFC 9457) with a stable `code`. Streams are server-sent events: each event's `id` is the number \
of a stored chunk and its `data` a `Chunk`; the stream of a run that has ended ends with `data: [DONE]`. A stream that \
ends without it means: come back with your cursor. Disconnecting stops nothing.";

/// Collects what operations share.
pub(super) struct Parts {
    pub(super) schemas: Schemas,
    pub(super) problems: Problems,
}

/// The description of every endpoint and of every action that is called over HTTP, whoever may call it.
pub fn openapi(registry: &Registry) -> Value {
    describe(registry, true)
}

/// `must_sign_in`: whether a request without a token is nobody's.
pub(crate) fn describe(registry: &Registry, must_sign_in: bool) -> Value {
    let mut parts = Parts { schemas: Schemas::new(), problems: Problems::default() };
    let mut paths = Map::new();
    for route in table() {
        match route.about {
            About::Operations(operations) => {
                let methods = operations
                    .into_iter()
                    .map(|(method, about)| (method.to_owned(), described(route.path, &about, &mut parts)));
                let methods: Map<String, Value> = methods.collect();
                paths.insert(route.path.replace("{*", "{"), methods.into());
            }
            About::Actions => actions::describe(registry, &mut paths, &mut parts),
        }
    }
    // No answer has brought it in: it is in responses that are shared.
    parts.schemas.output::<Problem>();
    json!({
        "openapi": "3.1.1",
        "info": {
            "title": "Tandem",
            "version": env!("CARGO_PKG_VERSION"),
            "description": ABOUT,
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": if must_sign_in { json!([{"bearer": []}]) } else { json!([{"bearer": []}, {}]) },
        "tags": [
            {"name": "Chat", "description": "Turns of the agent."},
            {"name": "Runs", "description": "What the agent does, chunk by chunk."},
            {"name": "Threads", "description": "Conversations."},
            {"name": "State", "description": "Documents that people, their windows and the agent share."},
            {"name": "Actions", "description": "What people and the agent can do."},
            {"name": "Service", "description": "The service itself."},
        ],
        "paths": paths,
        "components": {
            "securitySchemes": {"bearer": {
                "type": "http",
                "scheme": "bearer",
                "bearerFormat": "JWT",
                "description": "An OIDC access token. Locally `dev.<tenant>.<user>`; without a token `dev.local.you`.",
            }},
            "headers": headers(),
            "responses": parts.problems.into_components(),
            "examples": examples(),
            "schemas": parts.schemas.into_components(),
        },
    })
}

fn headers() -> Value {
    let header = |text: &str, is_required: bool, kind: &str| json!({"description": text, "required": is_required, "schema": {"type": kind}});
    json!({
        "RequestId": header("Names the request in the logs.", true, "string"),
        "RetryAfter": header("Seconds to wait before trying again.", false, "integer"),
        "Authenticate": header("How to sign in.", true, "string"),
        "Location": header("Where the run is.", true, "string"),
        "RunId": header("The run.", true, "string"),
        "ThreadId": header("Its thread; none where the run carries out an action.", false, "string"),
    })
}

fn described(path: &str, about: &Operation, parts: &mut Parts) -> Value {
    let mut described = json!({"operationId": about.id, "tags": [about.tag], "summary": about.summary});
    if !about.note.is_empty() {
        described["description"] = about.note.into();
    }
    if about.is_public {
        described["security"] = json!([]);
    }
    let mut parameters: Vec<Value> = path_parameters(path);
    let query = about.query.map(|schema| schema(&mut parts.schemas));
    parameters.extend(query.iter().flat_map(query_parameters));
    parameters.extend(about.headers.iter().map(|Header { name, text, pattern }| {
        json!({"name": name, "in": "header", "description": text, "schema": {"type": "string", "pattern": pattern}})
    }));
    if tickets::is_stream(path) {
        let text = "What POST /tickets gave, in the place of a token.";
        let ticket = json!({"name": "ticket", "in": "query", "description": text, "schema": {"type": "string"}});
        parameters.push(ticket);
    }
    if !parameters.is_empty() {
        described["parameters"] = parameters.into();
    }
    if let Some(body) = &about.body {
        let schema = (body.schema)(&mut parts.schemas);
        let examples = body.examples.iter().map(|(name, value)| ((*name).to_owned(), json!({"value": value})));
        let examples: Map<String, Value> = examples.collect();
        let content = json!({"application/json": {"schema": schema, "examples": examples}});
        described["requestBody"] = json!({"required": body.is_required, "content": content});
    }
    let mut responses: BTreeMap<String, Value> = BTreeMap::new();
    for answer in &about.answers {
        let response = responses.entry(answer.status.to_string()).or_insert_with(|| json!({"description": ""}));
        add_answer(response, answer, &mut parts.schemas);
    }
    match about.otherwise {
        Some(text) => _ = responses.insert("default".into(), json!({"description": text})),
        None => responses.extend(parts.problems.responses(codes(path, about))),
    }
    described["responses"] = json!(responses);
    described
}

/// What follows from how an operation is called, and what it says itself.
fn codes(path: &str, about: &Operation) -> Vec<Code> {
    let mut codes = Vec::new();
    if !about.is_public {
        codes.extend([Code::Unauthenticated, Code::StoreUnavailable]);
        codes.extend((!about.is_always_open).then_some(Code::Throttled));
    }
    if about.query.is_some() || about.body.is_some() {
        codes.extend([Code::InvalidRequest, Code::InvalidInput]);
    }
    if about.body.is_some() {
        codes.push(Code::TooLarge);
    }
    if path.contains('{') {
        codes.extend([Code::InvalidRequest, Code::InvalidInput, Code::NotFound]);
    }
    codes.push(Code::Internal);
    codes.extend(&about.refuses);
    codes
}

fn add_answer(response: &mut Value, answer: &Answer, schemas: &mut Schemas) {
    let before = response["description"].as_str().unwrap_or_default();
    response["description"] =
        if before.is_empty() { answer.text.into() } else { format!("{before} {}", answer.text).into() };
    response["headers"]["x-request-id"] = json!({"$ref": "#/components/headers/RequestId"});
    if answer.names_run {
        for (name, header) in [("x-run-id", "RunId"), ("x-workflow-run-id", "RunId"), ("x-thread-id", "ThreadId")] {
            response["headers"][name] = json!({"$ref": format!("#/components/headers/{header}")});
        }
    }
    match &answer.content {
        Content::Json(schema) => {
            let schema = schema(schemas);
            response["content"]["application/json"] = match &answer.example {
                Some(example) => json!({"schema": schema, "example": example}),
                None => json!({"schema": schema}),
            };
        }
        Content::Events(events) => {
            let schema = event(events, schemas);
            response["content"]["text/event-stream"] = json!({"schema": schema, "example": events.example});
        }
        Content::Nothing => {}
    }
}

/// One server-sent event, as a reader of such streams gives it.
fn event(events: &Events, schemas: &mut Schemas) -> Value {
    let data = json!({"type": "string", "contentMediaType": "application/json", "contentSchema": (events.of)(schemas)});
    let data = match events.is_of_run {
        true => json!({
            "description": "A `Chunk`, or `[DONE]` after the last one of a run that has ended.",
            "anyOf": [data, {"const": "[DONE]"}],
        }),
        false => data,
    };
    let event = json!({
        "type": "object",
        "description": "One event of a stream.",
        "properties": {"id": {"type": "string", "description": events.id}, "data": data},
        "required": ["data"],
    });
    schemas.name_output(events.name.into(), &event)
}

fn path_parameters(path: &str) -> Vec<Value> {
    let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let names = names.map(|name| name.trim_start_matches('*'));
    names
        .map(|name| {
            let schema = match name {
                "key" => json!({"type": "string", "minLength": 1, "maxLength": 512}),
                _ => json!({"type": "string", "minLength": 1}),
            };
            json!({"name": name, "in": "path", "required": true, "description": path_text(name), "schema": schema})
        })
        .collect()
}

fn path_text(name: &str) -> &'static str {
    match name {
        "run" => "Id of a run (`run_...`).",
        "thread" => "Id of a thread.",
        "id" => "Id of a thread or of a run.",
        "scope" => "Whose documents: `user`, `tenant`, `thread:<id>` or `app:<name>`.",
        "key" => "Key of a document: 1 to 512 bytes without control characters. It may hold slashes.",
        _ => "Id.",
    }
}

/// The fields of an object as parameters. Null is the absence of a parameter.
pub(super) fn query_parameters(schema: &Value) -> Vec<Value> {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let fields = schema["properties"].as_object().into_iter().flatten();
    fields
        .map(|(name, field)| {
            let mut field = field.clone();
            without_null(&mut field);
            let text = field.as_object_mut().and_then(|field| field.remove("description"));
            let required = required.iter().any(|required| required == name);
            json!({"name": name, "in": "query", "required": required, "description": text, "schema": field})
        })
        .collect()
}
