//! `unarchive-email`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tandem_actions::{ActionDef, ActionError, Context, Effect, action};

use crate::email_id::EmailId;
use crate::inbox;

/// Put an archived email back into the inbox.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Input {
    /// The email to put back.
    email_id: EmailId,
}

/// The email is in the inbox.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    email_id: EmailId,
    subject: String,
    /// False: it was not archived.
    changed: bool,
}

pub(crate) const ACTION: ActionDef = action("unarchive-email").effect(Effect::Transactional).run(&unarchive);

async fn unarchive(input: Input, ctx: &mut Context) -> Result<Output, ActionError> {
    let (email, changed) = inbox::change(&mut ctx.state, input.email_id, |email| email.archived = false).await?;
    Ok(Output { email_id: email.id, subject: email.subject, changed })
}
