//! `forget`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tandem_actions::{ActionDef, ActionError, Context, Effect, action};

use crate::memory::{Name, Whose};

/// Delete something that was remembered.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Its name.
    name: Name,
    /// Whose memory it is; the person's own if absent.
    #[serde(default)]
    scope: Whose,
}

/// It is not remembered any more.
#[derive(Serialize, JsonSchema)]
struct Output {
    name: Name,
    scope: Whose,
    /// False: there was nothing of this name.
    forgotten: bool,
}

pub(crate) const ACTION: ActionDef = action("forget").effect(Effect::Transactional).run(&forget);

async fn forget(input: Input, ctx: &mut Context) -> Result<Output, ActionError> {
    let Input { name, scope } = input;
    let forgotten = ctx.state.document(&scope.scope(), &name.key()).await?.is_some();
    if forgotten {
        ctx.state.delete(&scope.scope(), &name.key()).await?;
    }
    Ok(Output { name, scope, forgotten })
}
