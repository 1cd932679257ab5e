//! Faults of an input, told by the flag that is meant.

use serde_json::Value;
use tandem_actions::Described;
use tandem_protocol::{Fault, pointer};

use super::command::{Flag, flags};

/// One line for each fault.
pub(super) fn lines(action: &Described, input: &Value, faults: &[Fault]) -> String {
    let flags = flags(action);
    let lines: Vec<String> = faults.iter().map(|fault| line(&flags, input, fault)).collect();
    lines.join("\n")
}

fn line(flags: &[Flag<'_>], input: &Value, Fault { pointer, detail }: &Fault) -> String {
    let mut path = pointer.strip_prefix('/').unwrap_or_default().splitn(2, '/');
    let field = pointer::name(path.next().unwrap_or_default());
    let below = path.next().map(|below| format!(" /{below}")).unwrap_or_default();
    let Some(flag) = flags.iter().find(|flag| flag.field == field) else {
        let at = if pointer.is_empty() { "the input" } else { pointer };
        return format!("{at} {detail}");
    };
    let near = near(flag, input.pointer(pointer));
    format!("--{}{below} {detail}{near}", flag.name)
}

/// The choice that was meant, perhaps.
fn near(flag: &Flag<'_>, value: Option<&Value>) -> String {
    let Some(Value::String(text)) = value else { return String::new() };
    match tandem_actions::near(text, flag.choices().into_iter()).first() {
        Some(best) if best != text => format!("; did you mean {best}?"),
        _ => String::new(),
    }
}
