use super::*;
use serde_json::json;
use tandem_actions::{Effect, Method};

fn actions() -> Vec<Described> {
    let input = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["emailId"],
        "properties": {
            "emailId": {"type": "string", "description": "Which email."},
            "limit": {"type": ["integer", "null"]},
            "unread": {"type": ["boolean", "null"]},
            "labels": {"type": "array", "items": {"type": "string"}},
            "mode": {"anyOf": [{"type": "string", "enum": ["fast", "slow"]}, {"type": "null"}]},
            "place": {"type": "object", "properties": {"x": {"type": "integer"}}},
            "url": {"type": "string"},
        },
    });
    let action = |name: &str| Described {
        name: name.into(),
        description: "Does it.\n\nIn detail.".into(),
        method: Method::Post,
        effect: Effect::Read,
        input: input.clone(),
        output: json!({}),
    };
    vec![action("read-email"), action("list-emails")]
}

fn parsed(line: &str) -> Result<Wanted, clap::Error> {
    let words: Vec<String> =
        line.split(' ').filter(|word| !word.is_empty()).map(|word| word.replace('_', " ")).collect();
    let actions = actions();
    let action = actions.iter().find(|action| action.name == words[0]);
    read(&actions, &joined(action, &words))
}

#[test]
fn flags_are_the_fields_in_kebab_case() {
    for (line, want) in [
        ("read-email --email-id e-1", vec![("emailId", "e-1")]),
        ("read-email --limit -5 --email-id=--x", vec![("emailId", "--x"), ("limit", "-5")]),
        ("read-email --email-id -_a_list", vec![("emailId", "- a list")]),
        ("read-email --unread", vec![("unread", "true")]),
        ("read-email --unread false", vec![("unread", "false")]),
        ("read-email --unread=no", vec![("unread", "no")]),
        ("read-email --labels a --limit 1 --labels b", vec![("limit", "1"), ("labels", "a"), ("labels", "b")]),
        ("read-email --limit 1 --limit 2", vec![("limit", "1"), ("limit", "2")]),
        ("read-email --place {\"x\":1}", vec![("place", "{\"x\":1}")]),
        ("read-email --input-url u --url http://h", vec![("url", "u")]),
        ("read-email --mode=", vec![("mode", "")]),
    ] {
        let wanted = parsed(line).unwrap();
        let fields: Vec<(&str, &str)> = wanted.fields.iter().map(|(name, text)| (&**name, &**text)).collect();
        assert_eq!((wanted.action.as_str(), fields), ("read-email", want), "{line}");
    }
    let wanted = parsed("list-emails --unread {\"limit\":1} --idempotency-key k --token t").unwrap();
    assert_eq!(wanted.fields, [("unread".to_owned(), "true".to_owned())]);
    assert_eq!((wanted.input.as_deref(), wanted.key.as_deref()), (Some("{\"limit\":1}"), Some("k")));
}

#[test]
fn mistakes_are_told_with_what_was_meant() {
    for (line, says) in [
        ("read-email --email e-1", "'--email-id'"),
        ("read-email --url nowhere", "http://"),
        ("read-email {} {}", "unexpected argument"),
    ] {
        let error = parsed(line).unwrap_err();
        assert!(error.to_string().contains(says), "{line}: {error}");
        assert_eq!(error.exit_code(), 2);
    }
}

#[test]
fn an_unknown_action_is_not_read() {
    let wanted = parsed("read-emails --email e-1").unwrap();
    assert_eq!((wanted.action.as_str(), wanted.fields.len()), ("read-emails", 0));
}

#[test]
fn help_is_the_description_of_the_schema() {
    let help = parsed("read-email --help").unwrap_err();
    assert_eq!(help.exit_code(), 0);
    let help = help.to_string();
    for says in [
        "Does it.",
        "--email-id <TEXT>",
        "Which email. (required)",
        "[one of: fast, slow]",
        "--input-url",
        "--url <URL>",
        "--idempotency-key <KEY>",
    ] {
        assert!(help.contains(says), "{says}: {help}");
    }
}

#[test]
fn fields_become_words_with_dashes() {
    for (field, want) in
        [("emailId", "email-id"), ("email_id", "email-id"), ("n", "n"), ("URL", "u-r-l"), ("größe", "größe")]
    {
        assert_eq!(kebab(field), want);
    }
}
