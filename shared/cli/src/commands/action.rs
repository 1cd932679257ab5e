//! `tandem action`: call an action of a running or deployed system.

mod ask;
mod catalogue;
mod command;
mod faults;
mod input;

use std::io::IsTerminal;

use anyhow::Result;
use serde_json::{Value, json};
use tandem_actions::Described;

use crate::client::Target;
use crate::no_action::no_action;
use crate::output::{print, say};

/// Call an action: `tandem action` lists them, `tandem action <NAME> --help` tells what one takes.
#[derive(clap::Args)]
#[command(after_help = "The flags of an action are made from its schema, as the system that is called describes it.")]
pub(crate) struct Args {
    #[command(flatten)]
    target: Target,
    /// The action and its flags; its input may also be given whole, as JSON, as @FILE, or as @- for stdin.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "NAME [--FLAG ...] [INPUT]")]
    call: Vec<String>,
}

pub(crate) async fn run(args: Args) -> Result<()> {
    let Args { target, call } = args;
    let target = command::target_of(target, &call);
    let actions = catalogue::fetch(&target).await?;
    if call.is_empty() {
        list(&actions);
        return Ok(());
    }
    let wanted = command::parse(&actions, &call)?;
    let Some(action) = actions.iter().find(|action| action.name == wanted.action) else {
        return Err(no_action(&wanted.action, actions.iter().map(|action| action.name.as_str())).into());
    };
    let input = input::assemble(action, &wanted)?;
    let output = ask::call(action, input, wanted.target(target), wanted.key).await?;
    print(&output);
    Ok(())
}

/// For people a line for each action; for programs JSON.
fn list(actions: &[Described]) {
    let width = actions.iter().map(|action| action.name.len()).max().unwrap_or_default();
    if std::io::stdout().is_terminal() {
        for Described { name, description, .. } in actions {
            say(format_args!("{name:width$}  {}", description.lines().next().unwrap_or_default()));
        }
        return;
    }
    let told = actions.iter().map(|Described { name, description, method, effect, .. }| {
        json!({"name": name, "description": description, "method": method, "effect": effect})
    });
    print(&Value::Array(told.collect()));
}
