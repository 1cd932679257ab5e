//! `draft-reply`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tandem_actions::{ActionDef, ActionError, Context, Effect, action};

use crate::draft::{self, Draft};
use crate::email_id::EmailId;
use crate::inbox;

/// Write the draft of the reply to an email, which people see and edit at the same time. Nothing is sent.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Input {
    /// The email to answer.
    email_id: EmailId,
    /// The whole draft, as Markdown.
    #[schemars(length(min = 1, max = 20_000))]
    text: String,
    /// The `rev` of the draft that this one was made from, as `read-email` shows it; 0 if there was none.
    #[serde(default)]
    if_rev: u64,
}

/// It is there for everybody.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    email_id: EmailId,
    /// True: there was a draft, and this one is in its place.
    replaced: bool,
}

pub(crate) const ACTION: ActionDef = action("draft-reply").effect(Effect::Transactional).run(&draft_reply);

async fn draft_reply(input: Input, ctx: &mut Context) -> Result<Output, ActionError> {
    let Input { email_id, text, if_rev } = input;
    if text.trim().is_empty() {
        return Err(ActionError::failed("empty_reply", "A draft must say something."));
    }
    inbox::find(&mut ctx.state, email_id).await?;
    let found = draft::find(&mut ctx.state, email_id).await?;
    match &found {
        Some(draft) if draft.sending => {
            let text = format!("{} is sending this draft just now. Read the email again to see the reply.", draft.by);
            return Err(ActionError::failed("draft_sent", text));
        }
        Some(draft) if draft.is_cut => {
            let text = "The draft is longer than this action can write. Leave it to the people who write it.";
            return Err(ActionError::failed("draft_too_long", text));
        }
        Some(draft) if draft.rev != if_rev => return Err(changed(draft)),
        None if if_rev != 0 => {
            let text =
                "The draft is gone: it was sent or deleted. Read the email again; 0 as ifRev begins a new draft.";
            return Err(ActionError::failed("draft_gone", text));
        }
        _ => {}
    }
    ctx.state.put(&inbox::scope(), &email_id.draft(), &json!({"text": text})).await?;
    Ok(Output { email_id, replaced: found.is_some() })
}

/// Nobody's words are lost: whoever comes second has to read what the other one wrote. It does not stand here, as what
/// errors say is cut.
fn changed(draft: &Draft) -> ActionError {
    let text = format!(
        "Nothing was written: there is a draft of {} that is not the one you named. Read the email again, keep what its \
         draft says, add yours, and call again with its rev as ifRev.",
        draft.by
    );
    ActionError::failed("draft_changed", text)
}
