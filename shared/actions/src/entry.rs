//! One action of a registry: the declaration, and what is made from its types.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use tandem_protocol::{Caller, Principal};

use crate::definition::{ActionDef, Approval};
use crate::{Effect, Method, declared, schema};

/// Whether a person must agree before the agent's call of an action runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NeedsApproval {
    Never,
    Always,
    /// The input decides.
    Sometimes,
}

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
        declared::check(&def.options)?;
        let schemas = def.handler.schemas();
        let description = schemas.input.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
        schema::check(&schemas.input)?;
        let tool = schema::export(&schemas.input)?;
        declared::check_texts(&description, &tool)?;
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

    /// Only callers with one of these; empty: everybody.
    pub fn roles(&self) -> &'static [&'static str] {
        self.def.options.roles
    }

    /// Whether a person must agree before the agent's call runs, as far as that is known without its input.
    pub fn approval(&self) -> NeedsApproval {
        match (self.def.options.approval, self.effect()) {
            (Some(Approval::Always), _) | (None, Effect::External) => NeedsApproval::Always,
            (Some(Approval::When(_)), _) => NeedsApproval::Sometimes,
            (Some(Approval::Never), _)
            | (None, Effect::Read | Effect::Transactional | Effect::Checkpointed | Effect::Keyed) => {
                NeedsApproval::Never
            }
        }
    }

    /// Whether a person must agree before the agent's call with this input runs. `input` is what
    /// [`Registry::check`](crate::Registry::check) gave.
    pub fn needs_approval(&self, input: &Value) -> bool {
        match (self.approval(), self.def.options.approval) {
            (NeedsApproval::Sometimes, Some(Approval::When(is_needed))) => is_needed(input),
            (needs, _) => needs == NeedsApproval::Always,
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
