//! `archive-email`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tandem_actions::{ActionDef, ActionError, Context, Effect, action};

use crate::email_id::EmailId;
use crate::inbox;

/// Take an email out of the inbox; list-emails with `archived` still finds it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Input {
    /// The email to archive.
    email_id: EmailId,
}

/// The email is archived.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    email_id: EmailId,
    subject: String,
    /// False: it was archived before.
    changed: bool,
}

pub(crate) const ACTION: ActionDef = action("archive-email").effect(Effect::Transactional).run(&archive);

async fn archive(input: Input, ctx: &mut Context) -> Result<Output, ActionError> {
    let (email, changed) = inbox::change(&mut ctx.state, input.email_id, |email| email.archived = true).await?;
    Ok(Output { email_id: email.id, subject: email.subject, changed })
}
