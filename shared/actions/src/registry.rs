//! The registry: every action of the application, and the one door to them.

use std::any::Any;
use std::time::Duration;

use indexmap::IndexMap;
use serde_json::{Map, Value};
use tandem_protocol::{ActionName, Caller, Fault, Principal, is_too_deep};
use tandem_store::Scope;

use crate::definition::ActionDef;
use crate::entry::Entry;
use crate::near::near;
use crate::resources::Resources;
use crate::run::Job;
use crate::{ActionError, Call, Effect, RegistryError, input, once, run, shape, text};

/// Most names that are suggested for an unknown one.
const MAX_NEAR: usize = 3;

/// The actions of an application, in the order in which they were listed.
#[derive(Debug)]
pub struct Registry {
    entries: IndexMap<&'static str, Entry>,
    resources: Resources,
    /// Scope and beginning of the keys of the documents that only actions write.
    kept: Vec<(Scope, &'static str)>,
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
    /// Refuses names, descriptions, methods and schemas that would fail later: an error is a fault of the code, and
    /// names the action.
    pub fn new(actions: &[ActionDef]) -> Result<Self, RegistryError> {
        let mut entries = IndexMap::new();
        for def in actions {
            let name = def.options.name;
            let refused = |fault: String| RegistryError { action: name.into(), fault };
            let entry = Entry::new(*def).map_err(refused)?;
            if entries.insert(name, entry).is_some() {
                return Err(refused("there is another action of this name".into()));
            }
        }
        Ok(Registry { entries, resources: Resources::default(), kept: Vec::new() })
    }

    /// Gives the actions a value that they find with `ctx.resource`, such as a client or a configuration.
    #[must_use]
    pub fn with<T: Any + Send + Sync>(mut self, resource: T) -> Self {
        self.resources.add(resource);
        self
    }

    /// Keeps the documents of a scope whose keys begin with `prefix` for the actions alone: they have an order that only
    /// actions know. People read them, and change them through actions. All other documents people may write themselves.
    #[must_use]
    pub fn keep(mut self, scope: Scope, prefix: &'static str) -> Self {
        self.kept.push((scope, prefix));
        self
    }

    /// Whether only actions write this document.
    pub fn keeps(&self, scope: &Scope, key: &str) -> bool {
        self.kept.iter().any(|(kept, prefix)| kept == scope && key.starts_with(prefix))
    }

    /// The tools that the agent may use for this principal, always in the same order.
    pub fn tools(&self, principal: &Principal) -> Vec<Tool> {
        let tool = |entry: &Entry| Tool {
            name: entry.name().to_owned(),
            description: entry.description().to_owned(),
            schema: entry.tool_schema().clone(),
        };
        self.offered(principal, Caller::Agent).map(tool).collect()
    }

    /// The actions that this principal may call through this door.
    pub fn offered(&self, principal: &Principal, caller: Caller) -> impl Iterator<Item = &Entry> {
        self.entries.values().filter(move |entry| entry.is_on(caller) && entry.admits(principal))
    }

    /// Every action, whoever may call it, in the order in which they were listed.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    /// An action, whoever may call it.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name)
    }

    /// What decides parallelism and resumption of a tool call; none: there is no such action.
    pub fn effect(&self, name: &str) -> Option<Effect> {
        self.get(name).map(Entry::effect)
    }

    /// The longest time that a call may take; for a checkpointed action, between two checkpoints.
    pub fn timeout(&self, name: &str) -> Option<Duration> {
        self.get(name).map(Entry::timeout)
    }

    /// Whether a call would be let in: the action is offered here, the caller may call it, the input fits. Gives the
    /// input as the action will read it. Runs and stores nothing.
    pub fn check(&self, name: &str, input: Value, principal: &Principal, caller: Caller) -> Result<Value, ActionError> {
        self.admit(name, input, principal, caller).map(|(_, input)| input)
    }

    /// The one door: authorise, validate, run, store the outcome, return it.
    ///
    /// With a tool call the stored outcome is what is returned: `Done` as `Ok`, and `Failed` (also for a refused
    /// input, a timeout or a panic) as [`ActionError::Failed`]. Besides there are only `Closed` and `Unknown`, which
    /// were stored before, and `Cancelled` and `Store`, with which nothing is stored.
    ///
    /// The same holds for a call with an idempotency key, except that one that is not let in stores nothing. Who sends
    /// a key that is in use waits for its outcome, and gets `InProgress` when that takes too long.
    pub async fn call(&self, name: &str, input: Value, call: Call) -> Result<Value, ActionError> {
        let slot = call.tool_slot();
        let (entry, input) = match self.admit(name, input, &call.principal, call.caller) {
            Ok(admitted) => admitted,
            Err(error) => {
                let error = if slot.is_some() { self.told_to_models(name, error) } else { error };
                return run::fail(&call.store, slot.as_ref(), error).await;
            }
        };
        let mut call = call;
        let once = call.once.take().filter(|_| slot.is_none() && entry.effect() != Effect::Read);
        let job = Job { def: entry.def, call, slot, resources: self.resources.clone() };
        match once {
            Some(once) => once::call(job, input, &once).await,
            None => run::run(job, input).await,
        }
    }

    /// Reads arguments that are text (a query string, command line flags) by the declared types; the result is an
    /// input for `call`, which reports what does not fit.
    pub fn read_text(&self, name: &str, arguments: &[(String, String)]) -> Value {
        self.get(name).map_or_else(|| Value::Object(Map::new()), |entry| text::read(entry.input_schema(), arguments))
    }

    fn admit(
        &self,
        name: &str,
        input: Value,
        principal: &Principal,
        caller: Caller,
    ) -> Result<(&Entry, Value), ActionError> {
        let Some(entry) = self.get(name).filter(|entry| entry.is_on(caller)) else {
            return Err(ActionError::NotFound { name: name.to_owned(), near: self.near(name, principal, caller) });
        };
        if !entry.admits(principal) {
            return Err(ActionError::Forbidden);
        }
        if is_too_deep(&input) {
            let fault = Fault { pointer: String::new(), detail: "is nested too deeply: at most 64 levels".into() };
            return Err(ActionError::Invalid(vec![fault]));
        }
        let mut input = input;
        whole(&mut input);
        let mut faults = input::fit(&mut input, entry.input_schema());
        if !faults.is_empty() {
            if let Err(own) = entry.def.handler.check(input) {
                input::tell(&mut faults, own);
            }
            return Err(ActionError::Invalid(faults));
        }
        entry.def.handler.check(input.clone())?;
        Ok((entry, input))
    }

    /// A model does not look the schema up: its refused input comes back with the shape that was expected.
    fn told_to_models(&self, name: &str, error: ActionError) -> ActionError {
        let (ActionError::Invalid(faults), Some(entry)) = (&error, self.get(name)) else { return error };
        match shape::expected(entry.tool_schema(), faults) {
            Some(shape) => {
                let text = format!("{error}. Nothing was run. The arguments must fit this JSON Schema: {shape}");
                ActionError::failed(error.code(), text)
            }
            None => error,
        }
    }

    /// Names that the caller may have meant, of those that are offered to it.
    fn near(&self, name: &str, principal: &Principal, caller: Caller) -> Vec<ActionName> {
        let near = near(name, self.offered(principal, caller).map(Entry::name));
        near.into_iter().take(MAX_NEAR).filter_map(|name| ActionName::new(name).ok()).collect()
    }
}

/// No arguments at all are none.
pub(crate) fn whole(input: &mut Value) {
    if input.is_null() {
        *input = Value::Object(Map::new());
    }
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;
