//! `mark-email`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tandem_actions::{ActionDef, ActionError, Context, Effect, action};

use crate::email_id::EmailId;
use crate::inbox;

/// Mark an email as read or as unread, for everybody. Reading an email does not mark it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Input {
    /// The email to mark.
    email_id: EmailId,
    /// True: as unread; false: as read.
    unread: bool,
}

/// How the email is marked now.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    email_id: EmailId,
    subject: String,
    unread: bool,
    /// False: it was marked so before.
    changed: bool,
}

pub(crate) const ACTION: ActionDef = action("mark-email").effect(Effect::Transactional).run(&mark);

async fn mark(input: Input, ctx: &mut Context) -> Result<Output, ActionError> {
    let (email, changed) = inbox::change(&mut ctx.state, input.email_id, |email| email.unread = input.unread).await?;
    Ok(Output { email_id: email.id, subject: email.subject, unread: email.unread, changed })
}
