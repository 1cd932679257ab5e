//! The input of a call: the whole as JSON, and flags, which are text and are read by the declared types.

use std::io::Read;

use anyhow::{Context, Result};
use serde_json::{Map, Value};
use tandem_actions::Described;

use super::command::{Wanted, flags};
use crate::output::BadUsage;

/// The input that the command line is. What does not fit is left as it is: the check says so.
pub(super) fn assemble(action: &Described, wanted: &Wanted) -> Result<Value> {
    let whole = wanted.input.as_deref().map(whole).transpose()?;
    if wanted.fields.is_empty() {
        return Ok(whole.unwrap_or_else(|| Value::Object(Map::new())));
    }
    let flags = flags(action);
    let is_nested = |field: &str| flags.iter().any(|flag| flag.field == field && flag.takes_files());
    let mut texts = Vec::with_capacity(wanted.fields.len());
    for (field, text) in &wanted.fields {
        let text = match text.strip_prefix('@').filter(|_| is_nested(field)) {
            Some(file) => read(file)?.trim().to_owned(),
            None => text.clone(),
        };
        texts.push((field.clone(), text));
    }
    let read = action.read_text(&texts);
    let mut fields = match whole {
        None => Map::new(),
        Some(Value::Object(fields)) => fields,
        Some(_) => return Err(BadUsage::new("with flags, the INPUT must be a JSON object").into()),
    };
    if let Value::Object(read) = read {
        fields.extend(read);
    }
    Ok(Value::Object(fields))
}

fn whole(text: &str) -> Result<Value> {
    let json = match text.strip_prefix('@') {
        Some(file) => read(file)?,
        None => text.to_owned(),
    };
    serde_json::from_str(&json).map_err(|error| {
        let told = format!("the INPUT must be JSON, @FILE or @-: {error}");
        BadUsage::new(told).into()
    })
}

/// A file; `-` is stdin.
fn read(file: &str) -> Result<String> {
    let mut text = String::new();
    let done = match file {
        "-" => std::io::stdin().read_to_string(&mut text).map(drop),
        file => std::fs::read_to_string(file).map(|read| text = read),
    };
    done.with_context(|| format!("{file} cannot be read")).map_err(|error| BadUsage::new(format!("{error:#}")))?;
    Ok(text)
}
