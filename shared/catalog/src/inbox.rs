//! The documents of the inbox, and the sample mail of one that nobody has changed.
//!
//! `emails/<8 digits>` are the emails, `sent/<8 digits>/...` the replies to each, and `inbox` says which id is next.
//! Where `inbox` does not exist the inbox is untouched: reads then show the samples without writing anything.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use tandem_actions::{ActionError, List, Page, Scope, State};

use crate::email_id::EmailId;
use crate::mail::Email;
use crate::mbox;

/// What an untouched inbox shows; nothing with `TANDEM_SEED=0`.
static SAMPLES: LazyLock<Vec<Email>> = LazyLock::new(|| {
    if std::env::var("TANDEM_SEED").as_deref() == Ok("0") {
        return Vec::new();
    }
    let mails = mbox::parse(include_str!("seed.mbox"), 0).into_iter();
    mails.zip(1..).map(|(mail, n)| mail.arrive(EmailId::new(n))).collect()
});

const KEY: &str = "inbox";
const EMAILS: &str = "emails/";
/// Beginnings of the keys that are in order only as long as nobody but the actions writes them.
pub(crate) const KEPT: [&str; 3] = [KEY, EMAILS, "sent/"];

#[derive(Serialize, Deserialize)]
struct Inbox {
    /// Number of the next email.
    next: u64,
}

/// Where the inbox of the caller's tenant is.
pub(crate) fn scope() -> Scope {
    Scope::app("inbox")
}

/// An email, to be read.
pub(crate) async fn find(state: &mut State, id: EmailId) -> Result<Email, ActionError> {
    if let Some(email) = state.get(&scope(), &id.key()).await? {
        return Ok(email);
    }
    let untouched = state.document(&scope(), KEY).await?.is_none();
    SAMPLES.iter().find(|email| untouched && email.id == id).cloned().ok_or_else(|| unknown(id))
}

/// An email, to be changed.
pub(crate) async fn find_to_change(state: &mut State, id: EmailId) -> Result<Email, ActionError> {
    if let Some(email) = state.get(&scope(), &id.key()).await? {
        return Ok(email);
    }
    next(state).await?;
    state.get(&scope(), &id.key()).await?.ok_or_else(|| unknown(id))
}

/// Makes an email what `change` makes of it; and whether it was anything else before.
pub(crate) async fn change(
    state: &mut State,
    id: EmailId,
    change: impl FnOnce(&mut Email),
) -> Result<(Email, bool), ActionError> {
    let before = find_to_change(state, id).await?;
    let mut email = before.clone();
    change(&mut email);
    let changed = email != before;
    if changed {
        save(state, &email).await?;
    }
    Ok((email, changed))
}

pub(crate) async fn save(state: &mut State, email: &Email) -> Result<(), ActionError> {
    state.put(&scope(), &email.id.key(), email).await
}

/// The number of the next email. Writes the samples down if the inbox is untouched.
pub(crate) async fn next(state: &mut State) -> Result<u64, ActionError> {
    if let Some(inbox) = state.get::<Inbox>(&scope(), KEY).await? {
        return Ok(inbox.next);
    }
    for email in &*SAMPLES {
        save(state, email).await?;
    }
    let next = SAMPLES.len() as u64 + 1;
    set_next(state, next).await?;
    Ok(next)
}

pub(crate) async fn set_next(state: &mut State, next: u64) -> Result<(), ActionError> {
    state.put(&scope(), KEY, &Inbox { next }).await
}

/// Emails from the newest one before `before` on, at most `limit`.
pub(crate) async fn page(
    state: &mut State,
    before: Option<EmailId>,
    limit: usize,
) -> Result<(Vec<Email>, bool), ActionError> {
    let list = List::prefix(EMAILS).descending().limit(limit);
    let list = before.map(EmailId::key).into_iter().fold(list, List::after);
    let Page { items, cursor } = state.list(&scope(), &list).await?;
    if !items.is_empty() || state.document(&scope(), KEY).await?.is_some() {
        return Ok((items, cursor.is_some()));
    }
    let mut samples = SAMPLES.iter().rev().filter(|email| before.is_none_or(|before| email.id < before));
    let shown = samples.by_ref().take(limit).cloned().collect();
    Ok((shown, samples.next().is_some()))
}

fn unknown(id: EmailId) -> ActionError {
    ActionError::failed("no_such_email", format!("There is no email {id}; list-emails shows which there are."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_samples_are_eight_complete_mails_in_order() {
        let samples = &*SAMPLES;
        assert_eq!(samples.len(), 8);
        assert!(samples.is_sorted_by_key(|email| email.date.clone()));
        for email in samples {
            assert!(email.from.contains('@') && !email.labels.is_empty() && email.body.len() > 50, "{email:?}");
        }
        let conversations: std::collections::BTreeSet<_> = samples.iter().map(|email| &email.conversation).collect();
        assert_eq!(conversations.len(), 6);
    }
}
