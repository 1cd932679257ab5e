//! How an action is declared.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::Effect;
use crate::handler::{Erased, Handler};

/// Longest run of an action, if it does not say.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Longest result in bytes of JSON, if the action does not say. An item of the store must hold it.
const MAX_OUTPUT: usize = 180 * 1024;

/// Begins a declaration. `name` is kebab case, `[a-z0-9-]{1,48}`; it is also the tool name, the path segment and
/// the command.
///
/// ```ignore
/// pub const ACTION: ActionDef = action("email").effect(Effect::Transactional).run(&reply);
/// ```
pub const fn action(name: &'static str) -> ActionBuilder {
    ActionBuilder(Options {
        name,
        effect: Effect::External,
        method: Method::Post,
        approval: None,
        roles: &[],
        surfaces: Surfaces::ALL,
        timeout: TIMEOUT,
        max_output: MAX_OUTPUT,
    })
}

/// A declaration that lacks its function.
#[derive(Debug, Clone, Copy)]
pub struct ActionBuilder(Options);

/// An action: a constant of the module that holds its function.
#[derive(Clone, Copy)]
pub struct ActionDef {
    pub(crate) options: Options,
    pub(crate) handler: Erased,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    pub(crate) name: &'static str,
    pub(crate) effect: Effect,
    pub(crate) method: Method,
    /// None: what the effect suggests.
    pub(crate) approval: Option<Approval>,
    pub(crate) roles: &'static [&'static str],
    pub(crate) surfaces: Surfaces,
    pub(crate) timeout: Duration,
    pub(crate) max_output: usize,
}

/// The HTTP method of an action. GET is for read effects, with arguments in the query; others take a JSON body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    Get,
    Post,
    Put,
    Delete,
}

/// Whether a person must agree before the agent's call runs. People who call directly are not asked.
#[derive(Debug, Clone, Copy)]
pub enum Approval {
    Never,
    Always,
    /// When this is true of the input, which has been checked.
    When(fn(&Value) -> bool),
}

/// The doors through which an action can be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Surfaces {
    pub http: bool,
    /// As a tool of the agent.
    pub tool: bool,
    pub cli: bool,
    pub mcp: bool,
}

impl Surfaces {
    pub const ALL: Surfaces = Surfaces { http: true, tool: true, cli: true, mcp: true };
}

impl ActionBuilder {
    /// What happens when the machine dies in the middle; `External`, the most careful one, if not said.
    pub const fn effect(mut self, effect: Effect) -> Self {
        self.0.effect = effect;
        self
    }

    /// POST if not said.
    pub const fn method(mut self, method: Method) -> Self {
        self.0.method = method;
        self
    }

    /// For `External` always if not said, for others never.
    pub const fn approval(mut self, approval: Approval) -> Self {
        self.0.approval = Some(approval);
        self
    }

    /// Only callers with one of these roles; everybody if not said.
    pub const fn roles(mut self, roles: &'static [&'static str]) -> Self {
        self.0.roles = roles;
        self
    }

    /// All doors if not said.
    pub const fn surfaces(mut self, surfaces: Surfaces) -> Self {
        self.0.surfaces = surfaces;
        self
    }

    /// 60 s if not said. For a checkpointed action it is the longest time between two checkpoints.
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.0.timeout = timeout;
        self
    }

    /// Longest result in bytes of JSON; 180 KB if not said, and never more than an item of the store holds.
    pub const fn max_output(mut self, bytes: usize) -> Self {
        self.0.max_output = bytes;
        self
    }

    /// The function. The doc comments of its input and output types are the descriptions that everybody reads.
    pub const fn run<F, I, O>(self, function: &'static F) -> ActionDef
    where
        F: for<'a> Handler<'a, I, O>,
        I: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + Send + 'static,
    {
        ActionDef { options: self.0, handler: Erased::new(function) }
    }
}

impl std::fmt::Debug for ActionDef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ActionDef").field(&self.options).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ActionError, Context};

    /// Adds.
    #[derive(Deserialize, JsonSchema)]
    struct Input {
        a: u32,
    }

    async fn add(input: Input, ctx: &mut Context) -> Result<u32, ActionError> {
        let _ = ctx.caller();
        Ok(input.a + 1)
    }

    const ACTION: ActionDef = action("add").effect(Effect::Read).method(Method::Get).run(&add);

    #[test]
    fn a_definition_is_a_constant() {
        assert_eq!(ACTION.options.name, "add");
        assert_eq!(ACTION.options.effect, Effect::Read);
    }
}
