//! What is left out of a history, summed up: who said what, by its beginning, and what was called.

use tandem_model::Message;

use crate::prompt;

/// Characters of one message that are shown.
const BEGINNING: usize = 200;
/// Most characters of a sum, and how much shorter it is at least than what it stands for.
const MOST: usize = 4_000;
const SHORTER: usize = 4;

/// A note that says what is left out and how that began; the newest lines where not all fit. `what` begins with a
/// bracket, which the note closes.
pub(crate) fn note(what: &str, left_out: &[Message]) -> String {
    let why = "as the conversation is too long";
    let budget = MOST.min(left_out.iter().map(characters).sum::<usize>() / SHORTER);
    let (mut lines, mut length) = (Vec::new(), 0);
    for line in lines_of(left_out).into_iter().rev() {
        length += line.chars().count() + 1;
        if length > budget {
            break;
        }
        lines.push(line);
    }
    if lines.is_empty() {
        return format!("{what}, {why}.]");
    }
    lines.reverse();
    format!("{}\n]", prompt::data(&format!("{what}, {why}. How the last of them began"), "left-out", &lines.join("\n")))
}

/// Characters of a message, arguments and results among them.
pub(crate) fn characters(message: &Message) -> usize {
    match message {
        Message::User { results, text } => {
            let results: usize = results.iter().map(|result| result.output.chars().count()).sum();
            results + text.as_ref().map_or(0, |text| text.chars().count())
        }
        Message::Assistant { text, calls, .. } => {
            let inputs: usize = calls.iter().map(|call| call.input.to_string().chars().count()).sum();
            inputs + text.chars().count()
        }
    }
}

fn lines_of(messages: &[Message]) -> Vec<String> {
    let failed = |id: &str| {
        let results = messages.iter().filter_map(|message| match message {
            Message::User { results, .. } => Some(results),
            Message::Assistant { .. } => None,
        });
        results.flatten().any(|result| result.id == id && result.is_error)
    };
    let mut lines = Vec::new();
    for message in messages {
        match message {
            Message::User { text: Some(text), .. } => lines.push(format!("user: {}", beginning(text))),
            Message::User { text: None, .. } => {}
            Message::Assistant { text, calls, .. } => {
                if !text.trim().is_empty() {
                    lines.push(format!("you: {}", beginning(text)));
                }
                let called = |name: &str, id: &str| format!("{name}{}", if failed(id) { " (failed)" } else { "" });
                let calls: Vec<_> = calls.iter().map(|call| called(&call.name, &call.id)).collect();
                if !calls.is_empty() {
                    lines.push(format!("you called {}", calls.join(", ")));
                }
            }
        }
    }
    lines
}

/// The first characters, in one line.
fn beginning(text: &str) -> String {
    let mut words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = words.char_indices().nth(BEGINNING) {
        words.truncate(end);
        words.push('…');
    }
    words
}
