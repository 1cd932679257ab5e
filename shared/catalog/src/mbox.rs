//! Mail from the text of an mbox, the format that most mail programs export.

use mail_parser::mailbox::mbox::MessageIterator;
use mail_parser::{DateTime, HeaderValue, Message, MessageParser};

use crate::mail::Incoming;

/// The mails of an mbox, in its order. A mail without a usable date gets `now`, in milliseconds since 1970.
pub(crate) fn parse(text: &str, now: i64) -> Vec<Incoming> {
    let parser = MessageParser::default();
    // Reading from memory cannot fail.
    let mails = MessageIterator::new(text.as_bytes()).map_while(Result::ok);
    mails.filter_map(|mail| parser.parse(mail.contents()).map(|message| incoming(&message, now))).collect()
}

fn incoming(message: &Message<'_>, now: i64) -> Incoming {
    let date = message.date().filter(|date| date.is_valid()).map(|date| DateTime::from_timestamp(date.to_timestamp()));
    // `Status: RO` is what mail programs write when a mail was read.
    let read = header(message, "Status").is_some_and(|status| status.contains('R'));
    Incoming {
        conversation: conversation(message),
        from: sender(message),
        subject: message.subject().unwrap_or("(no subject)").to_owned(),
        date: date.map_or_else(|| crate::mail::date(now), |date| date.to_rfc3339()),
        labels: texts(message.keywords()).map(str::trim).filter(|label| !label.is_empty()).map(str::to_owned).collect(),
        unread: !read,
        body: message.body_text(0).unwrap_or_default().trim().to_owned(),
    }
}

/// The id of the conversation's first mail.
fn conversation(message: &Message<'_>) -> String {
    let earlier = [message.references(), message.in_reply_to()];
    let first = earlier.into_iter().flat_map(texts).next().or(message.message_id());
    first.unwrap_or_default().to_owned()
}

fn sender(message: &Message<'_>) -> String {
    let sender = message.from().and_then(|from| from.first());
    match sender.map(|sender| (sender.name(), sender.address())) {
        Some((Some(name), Some(address))) => format!("{name} <{address}>"),
        Some((Some(one), None) | (None, Some(one))) => one.to_owned(),
        Some((None, None)) | None => "(unknown sender)".to_owned(),
    }
}

fn header(message: &Message<'_>, name: &'static str) -> Option<String> {
    message.header(name).and_then(|value| texts(value).next().map(str::to_owned))
}

fn texts<'a>(value: &'a HeaderValue<'_>) -> impl Iterator<Item = &'a str> {
    let (one, list) = match value {
        HeaderValue::Text(text) => (Some(text.as_ref()), &[][..]),
        HeaderValue::TextList(list) => (None, &list[..]),
        _ => (None, &[][..]),
    };
    one.into_iter().chain(list.iter().map(AsRef::as_ref))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_mbox_of_a_mail_program_is_read() {
        let text = "From ann@example.com Mon Jan  6 10:00:00 2025\r\n\
            From: =?utf-8?q?Ann_M=C3=BCller?= <ann@example.com>\r\n\
            Subject: =?utf-8?b?R3LDvMOfZQ==?=\r\n\
            Date: Mon, 6 Jan 2025 11:00:00 +0100\r\n\
            Message-ID: <1@example.com>\r\n\
            Keywords: team, urgent\r\n\
            Status: RO\r\n\
            Content-Type: text/plain; charset=utf-8\r\n\
            \r\n\
            Hello,\r\n\
            >From here on it is quoted.\r\n\
            \r\n\
            From bob@example.com Mon Jan  6 10:00:00 2025\n\
            From: bob@example.com\n\
            In-Reply-To: <1@example.com>\n\
            Date: nonsense\n\
            Content-Type: text/html\n\
            \n\
            <p>Hi <b>Ann</b></p>\n";
        let first = Incoming {
            conversation: "1@example.com".into(),
            from: "Ann Müller <ann@example.com>".into(),
            subject: "Grüße".into(),
            date: "2025-01-06T10:00:00Z".into(),
            labels: vec!["team".into(), "urgent".into()],
            unread: false,
            body: "Hello,\r\nFrom here on it is quoted.".into(),
        };
        let second = Incoming {
            conversation: "1@example.com".into(),
            from: "bob@example.com".into(),
            subject: "(no subject)".into(),
            date: crate::mail::date(0),
            labels: Vec::new(),
            unread: true,
            body: "Hi Ann".into(),
        };
        assert_eq!(parse(text, 0), [first, second]);
        assert_eq!(parse("no mail at all", 0), []);
    }
}
