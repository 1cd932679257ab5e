//! The registry: every action of the application, and the one door to them.

use indexmap::IndexMap;
use serde_json::Value;
use tandem_protocol::{Caller, Principal};

use crate::definition::ActionDef;
use crate::{ActionError, Call, Effect, Method, RegistryError};

/// The actions of an application, in the order in which they were listed.
#[derive(Debug)]
pub struct Registry {
    entries: IndexMap<&'static str, Entry>,
}

/// One action with what is made from its types.
#[derive(Debug)]
pub struct Entry {
    def: ActionDef,
    description: String,
    input_schema: Value,
    output_schema: Value,
}

/// An action as a model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    pub name: String,
    pub description: String,
    /// JSON Schema of the arguments: an object, without references.
    pub schema: Value,
}

impl Registry {
    /// Refuses names, descriptions, methods and schemas that would fail later; a fault is one of the code.
    pub fn new(actions: &[ActionDef]) -> Result<Self, RegistryError> {
        let mut entries = IndexMap::new();
        for def in actions {
            let schemas = def.handler.schemas();
            let entry = Entry {
                def: *def,
                description: String::new(),
                input_schema: schemas.input,
                output_schema: schemas.output,
            };
            entries.insert(def.options.name, entry);
        }
        Ok(Registry { entries })
    }

    /// The tools that the agent may use for this principal.
    pub fn tools(&self, principal: &Principal) -> Vec<Tool> {
        let offered = self.offered(principal, Caller::Agent);
        offered
            .map(|entry| Tool {
                name: entry.name().to_owned(),
                description: entry.description.clone(),
                schema: entry.input_schema.clone(),
            })
            .collect()
    }

    /// The actions that this principal may call through this door.
    pub fn offered(&self, principal: &Principal, caller: Caller) -> impl Iterator<Item = &Entry> {
        let _ = (principal, caller);
        self.entries.values()
    }

    /// An action, whoever may call it.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name)
    }

    pub fn effect(&self, name: &str) -> Option<Effect> {
        self.get(name).map(Entry::effect)
    }

    /// Whether a call would be let in with this input: exists here, allowed, valid. Gives the input as the action
    /// will read it. Runs nothing and stores nothing.
    pub fn check(&self, name: &str, input: Value, principal: &Principal, caller: Caller) -> Result<Value, ActionError> {
        let _ = (name, principal, caller);
        Ok(input)
    }

    /// The one door: authorise, validate, run, store the outcome, return it.
    ///
    /// With a tool call the stored outcome is what is returned: `Done` as `Ok`, and `Failed`, also for inputs that
    /// were refused, for timeouts and for panics, as [`ActionError::Failed`]. Only `Closed`, `Unknown`,
    /// `Cancelled` and `Store` are returned besides; with the last two nothing is stored.
    pub async fn call(&self, name: &str, input: Value, call: Call) -> Result<Value, ActionError> {
        let _ = (name, input, call);
        Err(ActionError::Cancelled)
    }

    /// Reads arguments that are text (a query string, command line flags) by the declared types.
    pub fn read_text(&self, name: &str, arguments: &[(String, String)]) -> Value {
        let _ = (name, arguments);
        Value::Null
    }
}

impl Entry {
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

    pub fn timeout(&self) -> std::time::Duration {
        self.def.options.timeout
    }

    /// JSON Schema of the arguments: an object, without references.
    pub fn input_schema(&self) -> &Value {
        &self.input_schema
    }

    pub fn output_schema(&self) -> &Value {
        &self.output_schema
    }
}
