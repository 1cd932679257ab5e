//! The doors: how an input gets to the action, and what is told of it.

use std::process::Stdio;

use reqwest::{RequestBuilder, Url};
use serde_json::{Value, json};
use tandem_actions::ActionError;
use tandem_protocol::Fault;
use tokio::process::Command;

use crate::server::Server;
use crate::table::Want;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    Http,
    Agent,
    Mcp,
    /// `tandem action NAME JSON`, for an action that takes a body and for one that takes a query.
    Cli,
    CliGet,
    Query,
    Flags,
    FlagsGet,
}

/// What the caller is told, whatever the door's own form.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Told {
    /// The result, as it is written.
    Output(String),
    /// Each fault with its place.
    Faults(Vec<(String, String)>),
    /// All faults in one text, or in lines.
    Text(Vec<String>),
    /// It is no JSON.
    Unreadable,
    /// What no door may say here.
    Other(String),
}

impl Door {
    pub(crate) const ALL: [Door; 8] =
        [Door::Http, Door::Agent, Door::Mcp, Door::Cli, Door::CliGet, Door::Query, Door::Flags, Door::FlagsGet];

    /// Whether arguments are text here.
    pub(crate) fn is_text(self) -> bool {
        matches!(self, Door::Query | Door::Flags | Door::FlagsGet)
    }

    pub(crate) async fn json(self, server: &Server, json: &str) -> Told {
        match self {
            Door::Http => http(server.http.post(format!("{}/api/probe", server.url)).body(json.to_owned())).await,
            Door::Agent => agent(server, json).await,
            Door::Mcp => mcp(server, json).await,
            Door::Cli => cli(server, &["probe", json]).await,
            Door::CliGet => cli(server, &["probe-get", json]).await,
            Door::Query | Door::Flags | Door::FlagsGet => unreachable!("arguments are text here"),
        }
    }

    pub(crate) async fn text(self, server: &Server, fields: &[(&str, &str)]) -> Told {
        let flags: Vec<String> = fields.iter().map(|(field, text)| format!("--{}={text}", kebab(field))).collect();
        let flags = |name| std::iter::once(name).chain(flags.iter().map(String::as_str)).collect::<Vec<_>>();
        match self {
            Door::Query => {
                let url = Url::parse_with_params(&format!("{}/api/probe-get", server.url), fields).unwrap();
                http(server.http.get(url)).await
            }
            Door::Flags => cli(server, &flags("probe")).await,
            Door::FlagsGet => cli(server, &flags("probe-get")).await,
            Door::Http | Door::Agent | Door::Mcp | Door::Cli | Door::CliGet => unreachable!("arguments are JSON here"),
        }
    }
}

impl Told {
    /// A door that tells faults in one text tells the same if its text is made of the same faults.
    pub(crate) fn is_the_same_as(&self, want: &Told) -> bool {
        let Told::Faults(faults) = want else { return self == want };
        let list = || faults.iter().map(|(at, detail)| Fault { pointer: at.clone(), detail: detail.clone() }).collect();
        match self {
            Told::Faults(_) => self == want,
            // The agent's: what every caller in Rust sees, and then the shape that was expected.
            Told::Text(lines)
                if lines.len() == 1
                    && lines[0].starts_with("the input")
                    && faults.iter().all(|(at, _)| !at.is_empty()) =>
            {
                lines[0].starts_with(&ActionError::Invalid(list()).to_string())
            }
            // The program's: a line for each.
            Told::Text(lines) => {
                let want: Vec<String> = faults.iter().map(|(at, detail)| line(at, detail)).collect();
                *lines == want || lines[0].starts_with(&ActionError::Invalid(list()).to_string())
            }
            _ => false,
        }
    }
}

impl From<&Want> for Told {
    fn from(want: &Want) -> Self {
        match want {
            Want::Output(output) => Told::Output((*output).to_owned()),
            Want::Faults(faults) => {
                Told::Faults(faults.iter().map(|(at, detail)| ((*at).to_owned(), (*detail).to_owned())).collect())
            }
            Want::Unreadable => Told::Unreadable,
        }
    }
}

fn kebab(field: &str) -> String {
    field.chars().flat_map(|c| c.is_uppercase().then_some('-').into_iter().chain(c.to_lowercase())).collect()
}

/// A fault as the program tells it.
fn line(pointer: &str, detail: &str) -> String {
    match pointer.strip_prefix('/').map(|path| path.split_once('/').unwrap_or((path, ""))) {
        // Fields that the action does not have are no flags.
        Some(_) if detail.starts_with("is not a known field") && pointer.rfind('/') == Some(0) => {
            format!("{pointer} {detail}")
        }
        Some((field, "")) => format!("--{} {detail}", kebab(field)),
        Some((field, below)) => format!("--{} /{below} {detail}", kebab(field)),
        None => format!("the input {detail}"),
    }
}

async fn http(request: RequestBuilder) -> Told {
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    let body: Value = serde_json::from_str(&text).unwrap();
    match (status, body["code"].as_str()) {
        // As it is written, so that 3 is not 3.0 and -0.0 not 0.
        (200, _) => Told::Output(text),
        (400, Some("invalid_input")) => faults(&body),
        (400, Some("invalid_request")) => Told::Unreadable,
        _ => Told::Other(text),
    }
}

fn faults(problem: &Value) -> Told {
    let text = |fault: &Value, name: &str| fault[name].as_str().unwrap().to_owned();
    let faults = problem["errors"].as_array().unwrap();
    Told::Faults(faults.iter().map(|fault| (text(fault, "pointer"), text(fault, "detail"))).collect())
}

/// A turn in which the scripted model calls the tool with exactly this text.
async fn agent(server: &Server, json: &str) -> Told {
    let said = json!({"message": format!("/probe {json}")});
    let request = server.http.post(format!("{}/api/agent-chat", server.url)).json(&said);
    let stream = request.send().await.unwrap().text().await.unwrap();
    let chunks = stream.lines().filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok());
    for chunk in chunks {
        let text = || chunk["errorText"].as_str().unwrap().to_owned();
        match chunk["type"].as_str().unwrap() {
            "tool-output-available" => return Told::Output(chunk["output"].to_string()),
            "tool-output-error" => return Told::Text(vec![text()]),
            "tool-input-error" if text().contains("not valid JSON") => return Told::Unreadable,
            "tool-input-error" | "error" => return Told::Other(text()),
            _ => {}
        }
    }
    Told::Other(stream)
}

async fn mcp(server: &Server, json: &str) -> Told {
    // As text, so that nothing reads the numbers before the server does.
    let body = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"probe\",\"arguments\":{json}}}}}"
    );
    let request = server.http.post(format!("{}/mcp", server.url)).body(body);
    let request = request.header("content-type", "application/json").header("mcp-protocol-version", "2025-06-18");
    let response = request.header("accept", "application/json, text/event-stream").send().await.unwrap();
    let body: Value = response.json().await.unwrap();
    let result = &body["result"];
    match (result["isError"].as_bool(), body["error"]["code"].as_i64()) {
        (Some(false), _) => {
            let text = result["content"][0]["text"].as_str().unwrap().to_owned();
            assert_eq!(result["structuredContent"].to_string(), text);
            Told::Output(text)
        }
        (Some(true), _) if result["_meta"]["tandem/problem"]["code"] == "invalid_input" => {
            faults(&result["_meta"]["tandem/problem"])
        }
        (_, Some(-32700)) => Told::Unreadable,
        _ => Told::Other(body.to_string()),
    }
}

async fn cli(server: &Server, args: &[&str]) -> Told {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tandem"));
    command.arg("action").args(args).env_clear().env("TANDEM_URL", &server.url);
    let done = command.stdin(Stdio::null()).kill_on_drop(true).output().await.unwrap();
    let (out, err) = (String::from_utf8(done.stdout).unwrap(), String::from_utf8(done.stderr).unwrap());
    match done.status.code() {
        Some(0) => Told::Output(out.trim_end().to_owned()),
        Some(2) if err.starts_with("the INPUT must be JSON") => Told::Unreadable,
        Some(2) => {
            let plain = |line: &str| line.split("; did you mean ").next().unwrap_or_default().to_owned();
            Told::Text(err.lines().map(plain).collect())
        }
        code => Told::Other(format!("{code:?}: {err}")),
    }
}
