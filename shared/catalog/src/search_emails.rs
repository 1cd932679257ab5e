//! `search-emails`

use schemars::JsonSchema;
use serde::Deserialize;
use tandem_actions::{ActionDef, ActionError, Context, Effect, Method, action};

use crate::email_id::EmailId;
use crate::listing::{Emails, fitting};
use crate::mail::Email;

/// Find emails by words, newest first: in the sender, the subject, the labels and the text. Archived ones too.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Input {
    /// The words. An email must hold all of them, in any order; upper and lower case are the same.
    #[schemars(length(min = 1, max = 200))]
    query: String,
    /// How many emails; 20 if absent.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u32>,
    /// The cursor of the page before, to get the next one. A page may hold few emails, or none, and have a cursor.
    cursor: Option<EmailId>,
}

pub(crate) const ACTION: ActionDef = action("search-emails").effect(Effect::Read).method(Method::Get).run(&search);

async fn search(input: Input, ctx: &mut Context) -> Result<Emails, ActionError> {
    let query = input.query.to_lowercase();
    let words: Vec<&str> = query.split_whitespace().collect();
    if words.is_empty() {
        return Err(ActionError::failed("empty_query", "Say which words to look for."));
    }
    fitting(&mut ctx.state, input.cursor, input.limit, |email| holds(email, &words)).await
}

fn holds(email: &Email, words: &[&str]) -> bool {
    let Email { from, subject, labels, body, .. } = email;
    let text = [from, subject, &labels.join(" "), body].map(|text| text.to_lowercase()).join("\n");
    words.iter().all(|word| text.contains(word))
}
