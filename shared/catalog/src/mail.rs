//! Emails and replies as they are stored and shown.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::email_id::EmailId;

/// Longest stored text of an email, in bytes: a document and an answer must hold it.
const MAX_BODY: usize = 64 * 1024;
/// Longest stored line of a header, in bytes.
const MAX_LINE: usize = 400;
/// Length of the beginning that lists show, in characters.
const SNIPPET: usize = 140;

/// An email of the inbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Email {
    pub id: EmailId,
    /// The same for all emails of one conversation.
    pub conversation: String,
    /// Name and address of the sender.
    pub from: String,
    pub subject: String,
    /// RFC 3339, UTC.
    pub date: String,
    pub labels: Vec<String>,
    pub unread: bool,
    pub archived: bool,
    /// Somebody has replied.
    pub answered: bool,
    pub body: String,
}

/// An email as lists show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Summary {
    pub id: EmailId,
    /// The same for all emails of one conversation.
    pub conversation: String,
    /// Name and address of the sender.
    pub from: String,
    pub subject: String,
    /// RFC 3339, UTC.
    pub date: String,
    pub labels: Vec<String>,
    pub unread: bool,
    pub archived: bool,
    /// Somebody has replied.
    pub answered: bool,
    /// How the text begins.
    pub snippet: String,
}

/// A reply that was sent from the inbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Reply {
    pub id: String,
    /// The email that it answers.
    pub email_id: EmailId,
    pub to: String,
    pub subject: String,
    /// RFC 3339, UTC.
    pub date: String,
    /// Who sent it.
    pub by: String,
    pub body: String,
}

/// A mail that has no id yet: it is about to arrive.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Incoming {
    pub conversation: String,
    pub from: String,
    pub subject: String,
    pub date: String,
    pub labels: Vec<String>,
    pub unread: bool,
    pub body: String,
}

impl Incoming {
    /// The email with its id; what is too long to be stored is cut.
    pub(crate) fn arrive(self, id: EmailId) -> Email {
        Email {
            id,
            conversation: line(&self.conversation),
            from: line(&self.from),
            subject: line(&self.subject),
            date: self.date,
            labels: self.labels.iter().take(20).map(|label| line(label)).collect(),
            unread: self.unread,
            archived: false,
            answered: false,
            body: text(&self.body),
        }
    }
}

impl Email {
    pub(crate) fn summary(self) -> Summary {
        let words = self.body.split_whitespace().flat_map(|word| [word, " "]).take(2 * SNIPPET).collect::<String>();
        Summary {
            id: self.id,
            conversation: self.conversation,
            from: self.from,
            subject: self.subject,
            date: self.date,
            labels: self.labels,
            unread: self.unread,
            archived: self.archived,
            answered: self.answered,
            snippet: shortened(words.trim_end(), SNIPPET),
        }
    }
}

/// RFC 3339 in UTC of a time in milliseconds since 1970.
pub(crate) fn date(ms: i64) -> String {
    mail_parser::DateTime::from_timestamp(ms.max(0) / 1000).to_rfc3339()
}

/// At most so many characters, with an ellipsis where something is missing.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn line(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    cut(line, MAX_LINE)
}

fn text(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    cut(text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect(), MAX_BODY)
}

fn cut(mut text: String, most: usize) -> String {
    if text.len() > most {
        let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_is_cut_at_a_character() {
        assert_eq!(shortened("grüße", 3), "grü…");
        assert_eq!(shortened("grüße", 5), "grüße");
        assert_eq!(cut("üü".into(), 3), "ü…");
        assert_eq!(line("a\r\nb"), "a  b");
        assert_eq!(text("a\r\nb\u{0}\tc"), "a\nb\tc");
        assert_eq!(date(1_700_000_000_123), "2023-11-14T22:13:20Z");
    }
}
