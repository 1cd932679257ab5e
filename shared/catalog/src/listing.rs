//! Pages of emails that fit a description.

use schemars::JsonSchema;
use serde::Serialize;
use tandem_actions::{ActionError, State};

use crate::email_id::EmailId;
use crate::inbox;
use crate::mail::{Email, Summary};

const LIMIT: u32 = 20;
/// Emails that one call looks at for those that fit; beyond, the caller goes on with the cursor.
const MAX_LOOKED_AT: usize = 500;
const PAGE: usize = 50;

/// A page of emails, newest first.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Emails {
    emails: Vec<Summary>,
    /// Where the next page begins; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<EmailId>,
}

/// The emails before `cursor` that fit, newest first; at most `limit`, or 20.
pub(crate) async fn fitting(
    state: &mut State,
    mut cursor: Option<EmailId>,
    limit: Option<u32>,
    fits: impl Fn(&Email) -> bool,
) -> Result<Emails, ActionError> {
    let limit = usize::try_from(limit.unwrap_or(LIMIT)).unwrap_or(PAGE);
    let (mut emails, mut looked_at) = (Vec::new(), 0);
    loop {
        let (page, more) = inbox::page(state, cursor, limit.max(PAGE)).await?;
        let last = page.last().map(|email| email.id);
        for email in page {
            (cursor, looked_at) = (Some(email.id), looked_at + 1);
            if fits(&email) {
                emails.push(email.summary());
            }
            if emails.len() >= limit {
                break;
            }
        }
        // An empty page is the end: the caller's own cursor may lie behind every email.
        let more = more || (last.is_some() && cursor != last);
        if !more || emails.len() >= limit || looked_at >= MAX_LOOKED_AT {
            return Ok(Emails { emails, cursor: cursor.filter(|_| more) });
        }
    }
}
