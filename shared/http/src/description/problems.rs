//! Problems in the description: every code with an example, and a response for each set of codes.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use tandem_protocol::{Code, Problem};

/// Collects the responses that operations refer to.
#[derive(Default)]
pub(super) struct Problems(BTreeMap<String, Value>);

impl Problems {
    /// One response for each status of these codes.
    pub(super) fn responses(&mut self, codes: impl IntoIterator<Item = Code>) -> BTreeMap<String, Value> {
        let mut by_status: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
        for code in codes {
            let same = by_status.entry(code.status()).or_default();
            if !same.contains(&code) {
                same.push(code);
            }
        }
        by_status.into_iter().map(|(status, codes)| (status.to_string(), self.response(codes))).collect()
    }

    fn response(&mut self, mut codes: Vec<Code>) -> Value {
        codes.sort_by_key(|code| code.as_str());
        let names: Vec<&str> = codes.iter().map(|code| code.as_str()).collect();
        let name = names.join(".");
        self.0.entry(name.clone()).or_insert_with(|| response(&codes));
        json!({"$ref": format!("#/components/responses/{name}")})
    }

    pub(super) fn into_components(self) -> Map<String, Value> {
        self.0.into_iter().collect()
    }
}

fn response(codes: &[Code]) -> Value {
    let texts: Vec<String> = codes.iter().map(|code| format!("`{}`: {}.", code.as_str(), code.title())).collect();
    let names: Vec<&str> = codes.iter().map(|code| code.as_str()).collect();
    let example =
        |code: &Code| (code.as_str().to_owned(), json!({"$ref": format!("#/components/examples/{}", code.as_str())}));
    let mut headers = json!({"x-request-id": {"$ref": "#/components/headers/RequestId"}});
    if codes.contains(&Code::Unauthenticated) {
        headers["www-authenticate"] = json!({"$ref": "#/components/headers/Authenticate"});
    }
    if codes.iter().any(|code| matches!(code, Code::Throttled | Code::StoreUnavailable | Code::InProgress)) {
        headers["retry-after"] = json!({"$ref": "#/components/headers/RetryAfter"});
    }
    json!({
        "description": texts.join("\n"),
        "headers": headers,
        "content": {"application/problem+json": {
            "schema": {
                "allOf": [
                    {"$ref": "#/components/schemas/Problem"},
                    {"type": "object", "properties": {"code": {"enum": names}}},
                ],
            },
            "examples": codes.iter().map(example).collect::<Map<_, _>>(),
        }},
    })
}

/// An example of each code.
pub(super) fn examples() -> Map<String, Value> {
    let example = |code: &Code| {
        let mut problem = match code {
            Code::InvalidInput => {
                let problem = Problem::new(*code, "The input has faults; all of them are in `errors`.");
                problem.at("/emailId", "is missing").at("/limit", "must be at least 1")
            }
            Code::InvalidRequest => {
                Problem::new(*code, "The body must be JSON.").at("", "expected value at line 1 column 1")
            }
            Code::ThreadBusy => {
                let detail = "Wait for the run under way, or stop it with POST /runs/{run}/abort.";
                Problem { active_run_id: Some("run_01a2b3c4".into()), ..Problem::new(*code, detail) }
            }
            Code::Throttled | Code::StoreUnavailable | Code::InProgress => {
                Problem { retry_after: Some(1), ..Problem::new(*code, "Try again in a moment.") }
            }
            _ => Problem::new(*code, format!("{}.", code.title())),
        };
        problem.request_id = Some("01a2b3c4d5e6f708".into());
        (code.as_str().to_owned(), json!({"summary": code.title(), "value": problem}))
    };
    Code::ALL.iter().map(example).collect()
}
