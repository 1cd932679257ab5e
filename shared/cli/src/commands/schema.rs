//! `tandem schema`: what an action takes and gives.

use anyhow::Result;
use serde_json::json;
use tandem_protocol::Caller;

use crate::no_action::no_action;
use crate::output::print_pretty;

/// Print what an action takes and gives, as JSON Schema, and what the model is told about it.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The action, such as list-emails.
    action: String,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let registry = tandem_host::registry()?;
    let names: Vec<&str> = registry.entries().map(|entry| entry.name()).collect();
    let entry = registry.get(&args.action);
    let entry = entry.ok_or_else(|| no_action(&args.action, names.iter().copied()))?;
    print_pretty(&json!({
        "name": entry.name(),
        "description": entry.description(),
        "method": entry.method(),
        "effect": entry.effect(),
        "approval": entry.approval(),
        "input": entry.input_schema(),
        "output": entry.output_schema(),
        "tool": entry.is_on(Caller::Agent).then(|| entry.tool_schema()),
    }));
    Ok(())
}
