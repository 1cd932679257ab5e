//! Failures go to models, logs and browsers: known shapes of secrets are taken out of their texts, and so is what stands
//! behind a name that says that it is one.

/// Beginnings of words that are secrets or names of internal things.
const SHAPES: [&str; 13] = [
    "sk-",
    "sk_live_",
    "pk_live_",
    "ghp_",
    "gho_",
    "github_pat_",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "ASIA",
    "AIza",
    "eyJ",
    "arn:aws",
];
const HIDDEN: &str = "[hidden]";

/// What the words before say of the next one.
#[derive(Clone, Copy, PartialEq)]
enum Before {
    Nothing,
    /// A name of a secret; with a sign behind it, its value follows.
    Name,
    /// It is the value of a name.
    Value,
    /// It stands behind `Bearer` or `Basic`, which was the value of a name.
    SignIn,
    /// It stands behind a `Bearer` in a sentence.
    Bearer,
}

/// The text without secrets.
pub(crate) fn redacted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = Before::Nothing;
    for piece in text.split_inclusive(is_between) {
        let word = piece.trim_end_matches(is_between);
        let end = &piece[word.len()..];
        if !word.is_empty() {
            before = put(word, before, &mut out);
        }
        out.push_str(end);
        if [",", ";", "}", ")", "&"].contains(&end) {
            before = Before::Nothing;
        }
    }
    out
}

fn is_between(c: char) -> bool {
    c.is_whitespace() || "\"'`(),;<>&?{}[]".contains(c)
}

/// Adds a word, or what may be told of it; gives what it says of the next one.
fn put(word: &str, before: Before, out: &mut String) -> Before {
    let is_sign = [":", "=", ":=", "=>"].contains(&word);
    match before {
        Before::Name if is_sign => {
            out.push_str(word);
            return Before::Value;
        }
        Before::Value if is_scheme(word) => {
            out.push_str(word);
            return Before::SignIn;
        }
        Before::Value | Before::SignIn => {
            out.push_str(HIDDEN);
            return Before::Nothing;
        }
        // `a bearer token` is no secret.
        Before::Bearer if word.len() >= 16 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) => {
            out.push_str(HIDDEN);
            return Before::Nothing;
        }
        Before::Bearer | Before::Name | Before::Nothing => {}
    }
    if is_secret(word) {
        out.push_str(HIDDEN);
        return Before::Nothing;
    }
    let word = put_user_info(word, out);
    for (at, sign) in word.match_indices([':', '=']) {
        let (name, value) = (&word[..at], &word[at + 1..]);
        let is_named = is_name(name) || (sign == "=" && is_name_where_set(name));
        if is_named && (value.is_empty() || is_scheme(value)) {
            out.push_str(word);
            return if value.is_empty() { Before::Value } else { Before::SignIn };
        }
        if is_named || is_secret(value) {
            out.push_str(&word[..=at]);
            out.push_str(HIDDEN);
            return Before::Nothing;
        }
    }
    out.push_str(word);
    if is_name(word) {
        Before::Name
    } else if word.eq_ignore_ascii_case("bearer") {
        Before::Bearer
    } else {
        Before::Nothing
    }
}

/// Adds an address up to its host, without `user:password`; gives what is left to add.
fn put_user_info<'a>(word: &'a str, out: &mut String) -> &'a str {
    let Some((scheme, rest)) = word.split_once("://") else { return word };
    let authority = rest.split('/').next().unwrap_or_default();
    let Some(at) = authority.rfind('@') else { return word };
    out.push_str(scheme);
    out.push_str("://");
    out.push_str(HIDDEN);
    &rest[at..]
}

/// A known beginning with something substantial behind it.
fn is_secret(word: &str) -> bool {
    SHAPES.iter().any(|shape| word.strip_prefix(shape).is_some_and(|rest| rest.len() >= 6))
}

fn is_scheme(word: &str) -> bool {
    ["bearer", "basic"].iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}

/// The name at the end of a text: `token` of `/x#token`.
fn name_of(text: &str) -> &str {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    text.rsplit(|c| !is_part(c)).next().unwrap_or_default()
}

/// Whether a value behind the name at the end of a text is a secret: `x-api-key`, `SOME_TOKEN`, `dbPassword`. Documents have
/// keys and parsers have tokens: as words of their own these two are not enough.
fn is_name(text: &str) -> bool {
    let name = name_of(text);
    let lower = name.to_ascii_lowercase();
    if ["password", "passwd", "secret", "authorization", "apikey"].iter().any(|end| lower.ends_with(end)) {
        return true;
    }
    [("key", "Key"), ("token", "Token")].iter().any(|(end, capital)| {
        let Some(first) = lower.strip_suffix(end) else { return false };
        let is_camel = name.ends_with(capital) && name[..first.len()].ends_with(|c: char| c.is_ascii_lowercase());
        first.ends_with(['_', '-', '.']) || is_camel
    })
}

/// The same of what is only told with `=` right behind it, as in a query.
fn is_name_where_set(text: &str) -> bool {
    let lower = name_of(text).to_ascii_lowercase();
    ["token", "signature", "credential"].iter().any(|end| lower.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_do_not_leave_in_a_message() {
        for (text, want) in [
            ("refused: sk-ant-abc123def456 is spent", "refused: [hidden] is spent"),
            ("key \"AKIAIOSFODNN7EXAMPLE\" (x)", "key \"[hidden]\" (x)"),
            ("no access to arn:aws:dynamodb:eu:1:table/t", "no access to [hidden]"),
            ("Authorization: Bearer abc.def", "Authorization: Bearer [hidden]"),
            ("Authorization:Bearer abc.def", "Authorization:Bearer [hidden]"),
            ("authorization: Basic YW5uOmFubg==", "authorization: Basic [hidden]"),
            ("sent Bearer abc.def", "sent Bearer [hidden]"),
            ("GET /x?token=abcdef&n=1", "GET /x?token=[hidden]&n=1"),
            ("GET /x#access_token=ab:cd=&n=1", "GET /x#access_token=[hidden]&n=1"),
            ("X-Amz-Signature=0af1", "X-Amz-Signature=[hidden]"),
            ("password: hunter2, sorry", "password: [hidden], sorry"),
            ("OPENAI_API_KEY=sk-proj-abc123def", "OPENAI_API_KEY=[hidden]"),
            ("OPENAI_API_KEY=short", "OPENAI_API_KEY=[hidden]"),
            ("x-api-key:sk-abc123def", "x-api-key:[hidden]"),
            ("x-api-key: abc", "x-api-key: [hidden]"),
            ("value=sk-proj-abc123def", "value=[hidden]"),
            ("[sk-ant-abc123def]", "[[hidden]]"),
            ("SOME_TOKEN=abc", "SOME_TOKEN=[hidden]"),
            ("id_token: abc", "id_token: [hidden]"),
            ("aws_secret_access_key = x", "aws_secret_access_key = [hidden]"),
            ("{\"apiKey\": \"abc\", \"name\": \"x\"}", "{\"apiKey\": \"[hidden]\", \"name\": \"x\"}"),
            ("{\"dbPassword\":\"\",\"name\":\"x\"}", "{\"dbPassword\":\"\",\"name\":\"x\"}"),
            ("https://user:pw@host/x?n=1", "https://[hidden]@host/x?n=1"),
            ("at redis://:pw@host:6379/0", "at redis://[hidden]@host:6379/0"),
        ] {
            assert_eq!(redacted(text), want);
        }
    }

    #[test]
    fn ordinary_texts_stay_what_they_are() {
        for text in [
            "There is no email e-9.",
            "a sk- and an eyJ",
            "The key is too long: 600 bytes",
            "no such key: emails/1",
            "key=emails/1 has another revision",
            "unexpected token: }",
            "unexpected token = at line 3, column 4",
            "a bearer token is missing",
            "The token is expired.",
            "a monkey: it is no secret",
            "the basic plan",
            "at 12:30:45 in eu-central-1: [timeout] after 30 s",
            "https://host/x?n=1&to=ann@example.com",
            "ann@example.com: no such mailbox",
            "[::1]:8080 refused, errno=111",
            "The secretary: out of office",
        ] {
            assert_eq!(redacted(text), text);
        }
    }
}
