//! `remember`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tandem_actions::{ActionDef, ActionError, Context, Effect, action};

use crate::mail::date;
use crate::memory::{Name, Stored, Whose};

/// Keep something for later conversations, under a name. A memory of the same name is replaced.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Its name.
    name: Name,
    /// What to remember: one fact or wish, in full sentences.
    #[schemars(length(min = 1, max = 4000))]
    text: String,
    /// Whose memory it is; the person's own if absent.
    #[serde(default)]
    scope: Whose,
}

/// It is remembered.
#[derive(Serialize, JsonSchema)]
struct Output {
    name: Name,
    scope: Whose,
    /// True: there was a memory of this name, and this one is in its place.
    replaced: bool,
}

pub(crate) const ACTION: ActionDef = action("remember").effect(Effect::Transactional).run(&remember);

async fn remember(input: Input, ctx: &mut Context) -> Result<Output, ActionError> {
    let Input { name, text, scope } = input;
    if text.trim().is_empty() {
        return Err(ActionError::failed("empty_memory", "Say what to remember."));
    }
    let replaced = ctx.state.document(&scope.scope(), &name.key()).await?.is_some();
    let stored = Stored { text: &text, date: &date(ctx.now()) };
    ctx.state.put(&scope.scope(), &name.key(), &stored).await?;
    Ok(Output { name, scope, replaced })
}
