//! `send-email`

use std::time::{Duration, SystemTime};

use lettre::Message;
use lettre::message::Mailbox;
use lettre::message::header::ContentType;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tandem_actions::{ActionDef, ActionError, Context, Effect, action};

use crate::outbox::Outgoing;

/// Send a new email to somebody outside the inbox. To answer an email of the inbox, reply to it instead.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Input {
    /// Who gets it: an address, also with a name, such as Ann Miller <ann@example.com>.
    to: Recipient,
    /// The subject, one line.
    #[schemars(length(min = 1, max = 200))]
    subject: String,
    /// The text.
    #[schemars(length(min = 1, max = 20_000))]
    body: String,
}

/// The email has left.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    /// The id by which mail programs know it.
    message_id: String,
    to: String,
    subject: String,
}

/// An address, also with a name.
#[derive(Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String", extend("format" = "email"))]
struct Recipient(Mailbox);

// Mail cannot be taken back, and mail servers do not remove duplicates: an external effect, which by itself asks a
// person first when the agent wants it.
pub(crate) const ACTION: ActionDef =
    action("send-email").effect(Effect::External).timeout(Duration::from_secs(30)).run(&send);

async fn send(input: Input, ctx: &mut Context) -> Result<Output, ActionError> {
    let outgoing = ctx.resource::<Outgoing>()?;
    let Input { to: Recipient(to), subject, body } = input;
    if subject.chars().any(char::is_control) {
        return Err(ActionError::failed("bad_subject", "The subject must be one line."));
    }
    // The same for every run of this call, so that two copies could be told to be one mail.
    let message_id = format!("<{}@{}>", ctx.new_id(), outgoing.from.email.domain());
    let shown = to.to_string();
    let mail = Message::builder()
        .from(outgoing.from.clone())
        .to(to)
        .subject(&subject)
        .date(SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(ctx.now()).unwrap_or(0)))
        .message_id(Some(message_id.clone()))
        .header(ContentType::TEXT_PLAIN)
        .body(body)
        .map_err(|error| ActionError::failed("bad_mail", format!("This cannot be sent as an email: {error}")))?;
    outgoing.outbox.send(mail).await?;
    Ok(Output { message_id, to: shown, subject })
}

impl TryFrom<String> for Recipient {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let fault = |_| "must be an address, such as ann@example.com or Ann Miller <ann@example.com>".to_owned();
        text.parse().map(Recipient).map_err(fault)
    }
}
