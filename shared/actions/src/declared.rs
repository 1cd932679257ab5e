//! What a declaration may say: combinations that make no sense are refused when the registry is built.

use std::time::Duration;

use serde_json::Value;

use crate::definition::{Approval, Options, Surfaces};
use crate::{Effect, Method};

/// Fixed segments under `/api`, and the word that a command line takes for itself.
const RESERVED: [(&str, &str); 2] =
    [("agent-chat", "/api/agent-chat is an endpoint of the runtime"), ("help", "it is a word of the command line")];
const MAX_NAME: usize = 48;
/// Longest description of a tool that every provider takes, in characters.
const MAX_DESCRIPTION: usize = 1024;
/// Longest name of a field that every provider takes.
const MAX_FIELD: usize = 64;
/// Longest timeout: a holder's time must hold it.
const MAX_TIMEOUT: Duration = Duration::from_secs(600);
/// Longest result, in bytes of JSON: its item must fit into the store, beside what else is in a transaction.
const MAX_OUTPUT: usize = 195 * 1024;

/// The fault of what is declared, whatever the types are.
pub(crate) fn check(options: &Options) -> Result<(), String> {
    name(options.name)?;
    let Options { effect, method, approval, surfaces, .. } = *options;
    match (method, effect) {
        (Method::Get, Effect::Transactional | Effect::Checkpointed | Effect::Keyed | Effect::External) => {
            return Err(format!("GET is for read effects, not for {effect:?}"));
        }
        (Method::Put | Method::Delete, Effect::Read) => {
            return Err(format!(
                "{method:?} says that something changes: a read action is GET, or POST for long inputs"
            ));
        }
        (Method::Put | Method::Delete, Effect::External) => {
            return Err(format!(
                "{method:?} may be sent again by any client on its own, and an external effect must not: use POST"
            ));
        }
        _ => {}
    }
    if surfaces == NONE {
        return Err("it is on no surface, so nobody can call it".into());
    }
    if matches!(approval, Some(Approval::Always | Approval::When(_))) && !surfaces.tool && !surfaces.mcp {
        return Err("it asks for an approval, and only agents are asked: it is neither a tool nor on MCP".into());
    }
    if options.timeout.is_zero() || options.timeout > MAX_TIMEOUT {
        return Err(format!("its timeout must be more than 0 and at most {} s", MAX_TIMEOUT.as_secs()));
    }
    if options.max_output == 0 || options.max_output > MAX_OUTPUT {
        return Err(format!("its longest output must be 1 to {MAX_OUTPUT} bytes"));
    }
    if options.roles.iter().any(|role| role.trim().is_empty()) {
        return Err("one of its roles has no name".into());
    }
    Ok(())
}

const NONE: Surfaces = Surfaces { http: false, tool: false, cli: false, mcp: false };

fn name(name: &str) -> Result<(), String> {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(allowed) || name.starts_with('-') {
        return Err(format!("a name is 1 to {MAX_NAME} characters of a-z, 0-9 and -, and begins with no -"));
    }
    match RESERVED.iter().find(|(reserved, _)| *reserved == name) {
        Some((_, why)) => Err(format!("the name is reserved: {why}")),
        None => Ok(()),
    }
}

/// The fault of what people and models are told about an action. `tool` is the schema for models.
pub(crate) fn check_texts(description: &str, tool: &Value) -> Result<(), String> {
    if description.is_empty() {
        return Err("it has no description: write a doc comment on its input type".into());
    }
    if description.chars().count() > MAX_DESCRIPTION {
        return Err(format!(
            "its description is longer than {MAX_DESCRIPTION} characters, which model providers refuse"
        ));
    }
    for (field, schema) in tool["properties"].as_object().into_iter().flatten() {
        let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
        if field.is_empty() || field.len() > MAX_FIELD || !field.bytes().all(allowed) {
            return Err(format!(
                "the field {field:?} has a name that model providers refuse: use 1 to {MAX_FIELD} letters, digits, _ . -"
            ));
        }
        if schema.get("description").is_none() && schema.get("enum").is_none() {
            return Err(format!("the field {field:?} has no description: write a doc comment on it"));
        }
    }
    Ok(())
}
