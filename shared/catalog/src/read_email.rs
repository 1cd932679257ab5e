//! `read-email`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tandem_actions::{ActionDef, ActionError, Context, Effect, List, Method, action};

use crate::draft::{self, Draft};
use crate::email_id::EmailId;
use crate::inbox;
use crate::mail::{Email, Reply, shortened};

/// Replies that are shown, the newest ones.
const REPLIES: usize = 10;
/// Characters of a reply that are shown: the answer must have room for the email.
const REPLY_TEXT: usize = 4000;

/// Read one email, the replies to it, and the draft of a reply.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Input {
    /// The email to read.
    email_id: EmailId,
}

/// An email, the replies to it, and the draft of the next one.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    #[serde(flatten)]
    email: Email,
    /// The newest replies that were sent from the inbox, oldest first.
    replies: Vec<Reply>,
    /// The reply that somebody is writing now; absent if nobody is.
    #[serde(skip_serializing_if = "Option::is_none")]
    draft: Option<Draft>,
}

pub(crate) const ACTION: ActionDef = action("read-email").effect(Effect::Read).method(Method::Get).run(&read);

async fn read(input: Input, ctx: &mut Context) -> Result<Output, ActionError> {
    let email = inbox::find(&mut ctx.state, input.email_id).await?;
    let newest = List::prefix(input.email_id.replies()).descending().limit(REPLIES);
    let mut replies = ctx.state.list::<Reply>(&inbox::scope(), &newest).await?.items;
    replies.reverse();
    for reply in &mut replies {
        reply.body = shortened(&reply.body, REPLY_TEXT);
    }
    let draft = draft::find(&mut ctx.state, input.email_id).await?;
    Ok(Output { email, replies, draft })
}
