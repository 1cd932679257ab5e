//! `read-email`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tandem_actions::{ActionDef, ActionError, Context, Effect, List, Method, action};

use crate::email_id::EmailId;
use crate::inbox;
use crate::mail::{Email, Reply, shortened};

/// Replies that are shown, the newest ones.
const REPLIES: usize = 10;
/// Characters of a reply that are shown: the answer must have room for the email.
const REPLY_TEXT: usize = 4000;

/// Read one email and the replies to it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Input {
    /// The email to read.
    email_id: EmailId,
}

/// An email and the replies to it.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    #[serde(flatten)]
    email: Email,
    /// The newest replies that were sent from the inbox, oldest first.
    replies: Vec<Reply>,
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
    Ok(Output { email, replies })
}
