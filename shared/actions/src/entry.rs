//! One action of a registry: the declaration, and what is made from its types.

use std::time::Duration;

use serde_json::Value;
use tandem_protocol::{Caller, Principal};

use crate::definition::{ActionDef, Approval};
use crate::schema;
use crate::{Effect, Method};

/// Fixed segments under `/api`.
const RESERVED: [&str; 1] = ["agent-chat"];
const MAX_NAME: usize = 48;

/// One action with what is made from its types.
#[derive(Debug)]
pub struct Entry {
    pub(crate) def: ActionDef,
    description: String,
    input: Value,
    output: Value,
    tool: Value,
}

impl Entry {
    /// The fault of a declaration, if it has one.
    pub(crate) fn new(def: ActionDef) -> Result<Self, String> {
        check_name(def.options.name)?;
        if def.options.method == Method::Get && def.options.effect != Effect::Read {
            return Err(format!("GET is for read effects, not for {:?}", def.options.effect));
        }
        let schemas = def.handler.schemas();
        let description = schemas.input.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
        if description.is_empty() {
            return Err("it has no description: write a doc comment on its input type".into());
        }
        let tool = schema::export(&schemas.input)?;
        for (field, schema) in tool["properties"].as_object().into_iter().flatten() {
            if schema.get("description").is_none() && schema.get("enum").is_none() {
                return Err(format!("the field {field:?} has no description: write a doc comment on it"));
            }
        }
        Ok(Entry { def, description, input: schemas.input, output: schemas.output, tool })
    }

    pub fn name(&self) -> &'static str {
        self.def.options.name
    }

    pub fn description(&self) -> &str {
        &self.description
    }

    pub fn effect(&self) -> Effect {
        self.def.options.effect
    }

    pub fn method(&self) -> Method {
        self.def.options.method
    }

    pub fn timeout(&self) -> Duration {
        self.def.options.timeout
    }

    /// JSON Schema of the input with everything that is checked, without references.
    pub fn input_schema(&self) -> &Value {
        &self.input
    }

    pub fn output_schema(&self) -> &Value {
        &self.output
    }

    /// JSON Schema of the input as models are given it: what every provider takes.
    pub fn tool_schema(&self) -> &Value {
        &self.tool
    }

    /// Whether a person must agree before the agent's call with this input runs. `input` is what
    /// [`Registry::check`](crate::Registry::check) gave.
    pub fn needs_approval(&self, input: &Value) -> bool {
        match (self.def.options.approval, self.effect()) {
            (Some(Approval::Never), _) => false,
            (Some(Approval::Always), _) | (None, Effect::External) => true,
            (Some(Approval::When(is_needed)), _) => is_needed(input),
            (None, Effect::Read | Effect::Transactional | Effect::Checkpointed | Effect::Keyed) => false,
        }
    }

    /// Whether the action can be called through this door.
    pub fn is_on(&self, caller: Caller) -> bool {
        let surfaces = self.def.options.surfaces;
        match caller {
            Caller::Http => surfaces.http,
            Caller::Agent => surfaces.tool,
            Caller::Cli => surfaces.cli,
            Caller::Mcp => surfaces.mcp,
        }
    }

    /// Whether the principal has one of the roles that the action asks for.
    pub fn admits(&self, principal: &Principal) -> bool {
        let roles = self.def.options.roles;
        roles.is_empty() || principal.roles.iter().any(|role| roles.contains(&role.as_str()))
    }
}

fn check_name(name: &str) -> Result<(), String> {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(allowed) {
        return Err(format!("a name is 1 to {MAX_NAME} characters of a-z, 0-9 and -"));
    }
    if RESERVED.contains(&name) {
        return Err(format!("the name is reserved: /api/{name} is an endpoint of the runtime"));
    }
    Ok(())
}
