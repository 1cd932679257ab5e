//! `list-emails`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tandem_actions::{ActionDef, ActionError, Context, Effect, Method, action};

use crate::email_id::EmailId;
use crate::inbox;
use crate::mail::{Email, Summary};

const LIMIT: u32 = 20;
/// Emails that one call looks at for those that fit; beyond, the caller goes on with the cursor.
const MAX_LOOKED_AT: usize = 500;
const PAGE: usize = 50;

/// List the emails of the inbox, newest first, a page at a time.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Input {
    /// Only emails with this label.
    label: Option<String>,
    /// Only emails that are unread (true) or read (false).
    unread: Option<bool>,
    /// True: only archived emails. Otherwise only those that are not archived.
    archived: Option<bool>,
    /// How many emails; 20 if absent.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u32>,
    /// The cursor of the page before, to get the next one.
    cursor: Option<EmailId>,
}

/// A page of emails.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    emails: Vec<Summary>,
    /// Where the next page begins; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<EmailId>,
}

pub(crate) const ACTION: ActionDef = action("list-emails").effect(Effect::Read).method(Method::Get).run(&list);

async fn list(input: Input, ctx: &mut Context) -> Result<Output, ActionError> {
    let limit = usize::try_from(input.limit.unwrap_or(LIMIT)).unwrap_or(PAGE);
    let (mut emails, mut cursor, mut looked_at) = (Vec::new(), input.cursor, 0);
    loop {
        let (page, more) = inbox::page(&mut ctx.state, cursor, limit.max(PAGE)).await?;
        let last = page.last().map(|email| email.id);
        for email in page {
            (cursor, looked_at) = (Some(email.id), looked_at + 1);
            if input.wants(&email) {
                emails.push(email.summary());
            }
            if emails.len() >= limit {
                break;
            }
        }
        let more = more || cursor != last;
        if !more || emails.len() >= limit || looked_at >= MAX_LOOKED_AT {
            return Ok(Output { emails, cursor: cursor.filter(|_| more) });
        }
    }
}

impl Input {
    fn wants(&self, email: &Email) -> bool {
        email.archived == self.archived.unwrap_or(false)
            && self.unread.is_none_or(|unread| email.unread == unread)
            && self.label.as_ref().is_none_or(|label| email.labels.contains(label))
    }
}
