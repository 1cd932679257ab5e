//! A history that does not fit the model, made shorter: a long conversation must not fail for ever.

use tandem_model::Message;

/// Characters that are left of a tool result.
const RESULT: usize = 4_000;
/// What the note of a cut may take: a result that is longer by no more than this is left alone.
const NOTE: usize = 100;
const OLDER: &str = "[The older messages of this conversation are left out, as it is too long.]\n\n";

/// Shortens a history: first its long tool results, then by the older half of what was said before the current
/// question, more with each call. What is left is a valid history still. `false`: nothing is left to shorten.
pub(crate) fn shorten(messages: &mut Vec<Message>) -> bool {
    cut_results(messages) || drop_older(messages)
}

fn cut_results(messages: &mut [Message]) -> bool {
    let mut cut = false;
    for message in messages {
        let Message::User { results, .. } = message else { continue };
        for result in results {
            let Some((end, _)) = result.output.char_indices().nth(RESULT) else { continue };
            let left_out = result.output[end..].chars().count();
            if left_out > NOTE {
                result.output.truncate(end);
                let note = format!(" [{left_out} more characters are left out, as the conversation is too long.]");
                result.output.push_str(&note);
                cut = true;
            }
        }
    }
    cut
}

/// Cuts where a person said something. The results beside it belong to calls that go too.
fn drop_older(messages: &mut Vec<Message>) -> bool {
    let is_question = |at: &usize| matches!(messages[*at], Message::User { text: Some(_), .. });
    let questions: Vec<usize> = (1..messages.len()).filter(is_question).collect();
    let half = messages.len() / 2;
    let Some(begin) = questions.iter().find(|at| **at >= half).or(questions.last()) else { return false };
    messages.drain(..begin);
    if let Some(Message::User { results, text: Some(text) }) = messages.first_mut() {
        results.clear();
        if !text.starts_with(OLDER) {
            text.insert_str(0, OLDER);
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tandem_model::{ToolResult, ToolUse};

    use super::*;

    fn said(text: &str) -> Message {
        Message::User { results: Vec::new(), text: Some(text.into()) }
    }

    fn answered(text: &str) -> Message {
        Message::Assistant { reasoning: Vec::new(), text: text.into(), calls: Vec::new() }
    }

    fn called(id: &str) -> Message {
        let call = ToolUse { id: id.into(), name: "look".into(), input: json!({}) };
        Message::Assistant { reasoning: Vec::new(), text: String::new(), calls: vec![call] }
    }

    fn result(id: &str, output: String, text: Option<&str>) -> Message {
        let result = ToolResult { id: id.into(), name: "look".into(), output, is_error: false };
        Message::User { results: vec![result], text: text.map(str::to_owned) }
    }

    /// Ten turns with a call each; every other one ended right after its call, so that the next question shares a
    /// message with the result.
    fn conversation() -> Vec<Message> {
        let mut messages = vec![said("question 0")];
        for n in 0..10 {
            let id = format!("c{n}");
            messages.push(called(&id));
            let next = format!("question {}", n + 1);
            if n % 2 == 0 {
                messages.push(result(&id, "é".repeat(9_000), None));
                messages.push(answered("so"));
                messages.push(said(&next));
            } else {
                messages.push(result(&id, "short".into(), Some(&next)));
            }
        }
        messages
    }

    fn assert_valid(messages: &[Message]) {
        let mut pending: Vec<&str> = Vec::new();
        for (n, message) in messages.iter().enumerate() {
            match message {
                Message::User { results, .. } => {
                    assert_eq!(n % 2, 0, "roles alternate: {messages:?}");
                    let of: Vec<&str> = results.iter().map(|result| result.id.as_str()).collect();
                    assert_eq!(of, std::mem::take(&mut pending), "every call has its result, and no other has");
                }
                Message::Assistant { calls, .. } => {
                    assert_eq!(n % 2, 1, "roles alternate: {messages:?}");
                    pending = calls.iter().map(|call| call.id.as_str()).collect();
                }
            }
        }
        assert!(pending.is_empty());
    }

    fn length(messages: &[Message]) -> usize {
        messages.iter().map(|message| format!("{message:?}").len()).sum()
    }

    #[test]
    fn calls_and_results_go_together_wherever_a_history_is_cut() {
        let whole = conversation();
        assert_valid(&whole);
        for begin in 0..whole.len() {
            let mut messages = whole[begin..].to_vec();
            if !matches!(messages[0], Message::User { ref results, .. } if results.is_empty()) {
                continue;
            }
            let mut before = length(&messages);
            let mut times = 0;
            while shorten(&mut messages) {
                assert_valid(&messages);
                assert!(length(&messages) < before, "each time it is shorter");
                before = length(&messages);
                times += 1;
            }
            assert!(times <= 8, "{times}");
            // The question that is asked now is never left out.
            let Some(Message::User { text: Some(text), .. }) = messages.last() else { panic!("{messages:?}") };
            assert!(text.ends_with("question 10"), "{text}");
        }
    }

    #[test]
    fn what_is_left_out_is_said() {
        let mut messages =
            vec![said("a"), called("c"), result("c", "x".repeat(5_000), None), answered("b"), said("now")];
        assert!(shorten(&mut messages));
        let Message::User { results, .. } = &messages[2] else { panic!() };
        assert_eq!(
            results[0].output.len(),
            4_000 + " [1000 more characters are left out, as the conversation is too long.]".len()
        );
        assert!(shorten(&mut messages));
        assert_eq!(messages, [said(&format!("{OLDER}now"))]);
        assert!(!shorten(&mut messages));
    }
}
