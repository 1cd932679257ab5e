//! Failures go to models, logs and browsers: known shapes of secrets are taken out of their texts.

/// Beginnings of words that are secrets or names of internal things.
const SHAPES: [&str; 12] =
    ["sk-", "sk_live_", "pk_live_", "ghp_", "gho_", "github_pat_", "xoxb-", "xoxp-", "AKIA", "ASIA", "eyJ", "arn:aws"];
/// Words after which the next one is a secret.
const NAMES: [&str; 8] =
    ["bearer", "authorization:", "password:", "password=", "token=", "secret=", "api_key=", "apikey="];
const HIDDEN: &str = "[hidden]";

/// The text without secrets.
pub(crate) fn redacted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut hide_next = false;
    for piece in text.split_inclusive(|c: char| c.is_whitespace() || "\"'`(),;<>&?{}".contains(c)) {
        let word = piece.trim_end_matches(|c: char| c.is_whitespace() || "\"'`(),;<>&?{}".contains(c));
        let end = &piece[word.len()..];
        let lower = word.to_lowercase();
        let named =
            NAMES.iter().find(|name| lower.starts_with(**name) && name.ends_with('=') && lower.len() > name.len());
        let announces = NAMES.contains(&lower.as_str());
        if word.is_empty() {
            out.push_str(piece);
            continue;
        } else if let Some(name) = named {
            out.push_str(&word[..name.len()]);
            out.push_str(HIDDEN);
        } else if !announces && (hide_next || is_secret(word)) {
            out.push_str(HIDDEN);
        } else {
            out.push_str(word);
        }
        out.push_str(end);
        hide_next = announces;
    }
    out
}

/// A known beginning with something substantial behind it.
fn is_secret(word: &str) -> bool {
    SHAPES.iter().any(|shape| word.strip_prefix(shape).is_some_and(|rest| rest.len() >= 6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_do_not_leave_in_a_message() {
        for (text, want) in [
            ("There is no email e-9.", "There is no email e-9."),
            ("refused: sk-ant-abc123def456 is spent", "refused: [hidden] is spent"),
            ("key \"AKIAIOSFODNN7EXAMPLE\" (x)", "key \"[hidden]\" (x)"),
            ("no access to arn:aws:dynamodb:eu:1:table/t", "no access to [hidden]"),
            ("Authorization: Bearer abc.def", "Authorization: Bearer [hidden]"),
            ("GET /x?token=abcdef&n=1", "GET /x?token=[hidden]&n=1"),
            ("password: hunter2, sorry", "password: [hidden], sorry"),
            ("a sk- and an eyJ", "a sk- and an eyJ"),
        ] {
            assert_eq!(redacted(text), want);
        }
    }
}
