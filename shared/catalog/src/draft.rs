//! The draft of a reply: one document per email, which people and the agent write together.
//!
//! `drafts/<email id>` holds `{"text"}`, and `"sending": true` while somebody sends it. People write it through the
//! state endpoints, so what is there may be anything.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use tandem_actions::{ActionError, State};

use crate::email_id::EmailId;
use crate::inbox;
use crate::mail::shortened;

/// Longest draft that an action writes, in characters: as long as a reply may be.
pub(crate) const MAX_TEXT: usize = 20_000;

/// A reply that is being written and has not been sent.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Draft {
    /// Who wrote it last.
    pub by: String,
    /// At most 20,000 characters; `isCut` says that there are more.
    pub text: String,
    pub is_cut: bool,
    /// Somebody has begun to send it.
    pub sending: bool,
    /// Its revision: who changes it names the one that the change was made from. It comes last, so that whoever is shown
    /// only the beginning of a result has none to write with.
    pub rev: u64,
}

impl EmailId {
    /// Key of the draft of its reply.
    pub(crate) fn draft(self) -> String {
        format!("drafts/{self}")
    }
}

/// The draft of the reply to an email; none: nobody has begun one.
pub(crate) async fn find(state: &mut State, id: EmailId) -> Result<Option<Draft>, ActionError> {
    let document = state.document(&inbox::scope(), &id.draft()).await?;
    Ok(document.map(|document| {
        let text = document.value.get("text").unwrap_or(&document.value).as_str().unwrap_or_default();
        Draft {
            rev: document.rev,
            by: document.by.user.to_string(),
            sending: document.value["sending"] == Value::Bool(true),
            is_cut: text.chars().nth(MAX_TEXT).is_some(),
            text: shortened(text, MAX_TEXT),
        }
    }))
}
