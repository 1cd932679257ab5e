//! `navigate`
//!
//! Writes the document `navigate` of the user's scope, `{id, at, to, taken}`. A window that sees it with `taken: false`
//! writes it back with `taken: true` at the revision that it saw, and goes there if that succeeds: of several windows
//! one wins, so it is carried out once. `at`, in milliseconds since 1970, lets a window pass over what is old.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tandem_actions::{ActionDef, ActionError, Context, Effect, Scope, action};

use crate::email_id::EmailId;
use crate::inbox;

const KEY: &str = "navigate";

/// Take the person to a place in the application, in a window that is open.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Input {
    /// Where to go.
    view: View,
    /// The email to show. Needed for the view email.
    email_id: Option<EmailId>,
    /// For the views inbox and archive: only emails with this label.
    #[schemars(length(max = 40))]
    label: Option<String>,
    /// The words to search for. Needed for the view search.
    #[schemars(length(max = 200))]
    query: Option<String>,
}

/// A place in the application.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum View {
    /// The emails that are not archived.
    Inbox,
    /// Those that are.
    Archive,
    /// One email and the replies to it.
    Email,
    /// Emails that hold some words.
    Search,
    /// Counts per label and day.
    Summary,
    /// What the agent remembers.
    Memory,
}

/// A place, with everything that is needed to go there.
#[derive(Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Place {
    view: View,
    #[serde(skip_serializing_if = "Option::is_none")]
    email_id: Option<EmailId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    query: Option<String>,
}

/// What windows are told.
#[derive(Serialize)]
struct Command<'a> {
    id: &'a str,
    at: i64,
    to: &'a Place,
    taken: bool,
}

/// The windows of the person are told. Whether one is open, nobody knows.
#[derive(Serialize, JsonSchema)]
struct Output {
    /// Id of the command.
    id: String,
    to: Place,
}

pub(crate) const ACTION: ActionDef = action("navigate").effect(Effect::Transactional).run(&navigate);

async fn navigate(input: Input, ctx: &mut Context) -> Result<Output, ActionError> {
    let to = place(input)?;
    if let Some(email) = to.email_id {
        inbox::find(&mut ctx.state, email).await?;
    }
    let id = ctx.new_id();
    let command = Command { id: &id, at: ctx.now(), to: &to, taken: false };
    ctx.state.put(&Scope::User, KEY, &command).await?;
    Ok(Output { id, to })
}

/// The place that is meant; what does not belong to its view is refused.
fn place(input: Input) -> Result<Place, ActionError> {
    let Input { view, email_id, label, query } = input;
    let refused = |text: &str| Err(ActionError::failed("bad_place", text));
    let query = query.filter(|query| !query.trim().is_empty());
    match view {
        View::Email if email_id.is_none() => return refused("Say which email, with emailId."),
        View::Search if query.is_none() => return refused("Say which words to search for, with query."),
        _ => {}
    }
    if email_id.is_some() && view != View::Email {
        return refused("emailId goes with the view email.");
    }
    if query.is_some() && view != View::Search {
        return refused("query goes with the view search.");
    }
    if label.is_some() && !matches!(view, View::Inbox | View::Archive) {
        return refused("label goes with the views inbox and archive.");
    }
    Ok(Place { view, email_id, label, query })
}
