//! `view-screen`
//!
//! The user interface writes what its user looks at into the document `view` of the user's scope, in its own words.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tandem_actions::{ActionDef, ActionError, Context, Effect, Method, Scope, action};

const KEY: &str = "view";
/// Longest view that is shown, in bytes of JSON: it has to leave the model room for everything else.
const MAX_BYTES: usize = 32 * 1024;

/// See what the person has on the screen: the view, the open email, what is selected.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {}

/// What the person looks at.
#[derive(Serialize, JsonSchema)]
struct Output {
    /// False: no window has said yet what it shows.
    known: bool,
    /// What the window says that it shows, in its own words; null if nothing is known.
    view: Value,
}

pub(crate) const ACTION: ActionDef = action("view-screen").effect(Effect::Read).method(Method::Get).run(&view);

async fn view(_: Input, ctx: &mut Context) -> Result<Output, ActionError> {
    let Some(document) = ctx.state.document(&Scope::User, KEY).await? else {
        return Ok(Output { known: false, view: Value::Null });
    };
    if document.value.to_string().len() > MAX_BYTES {
        let text =
            format!("The view is longer than {MAX_BYTES} bytes: the window must say less in its document `view`.");
        return Err(ActionError::failed("view_too_long", text));
    }
    Ok(Output { known: true, view: document.value })
}
