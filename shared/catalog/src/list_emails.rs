//! `list-emails`

use schemars::JsonSchema;
use serde::Deserialize;
use tandem_actions::{ActionDef, ActionError, Context, Effect, Method, action};

use crate::email_id::EmailId;
use crate::listing::{Emails, fitting};
use crate::mail::Email;

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

pub(crate) const ACTION: ActionDef = action("list-emails").effect(Effect::Read).method(Method::Get).run(&list);

async fn list(input: Input, ctx: &mut Context) -> Result<Emails, ActionError> {
    fitting(&mut ctx.state, input.cursor, input.limit, |email| input.wants(email)).await
}

impl Input {
    fn wants(&self, email: &Email) -> bool {
        email.archived == self.archived.unwrap_or(false)
            && self.unread.is_none_or(|unread| email.unread == unread)
            && self.label.as_ref().is_none_or(|label| email.labels.contains(label))
    }
}
