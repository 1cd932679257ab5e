//! The language of the scripted model: lines of directives, in groups divided by blank lines.

use std::time::Duration;

/// What a user wrote, line by line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Script {
    answers: Vec<Vec<Line>>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Line {
    /// `@say N every D`
    Say { count: u32, every: Duration },
    /// `@think N every D`
    Think { count: u32, every: Duration },
    /// `@wait D`
    Wait(Duration),
    /// `@fail KIND [xN]`
    Fail { how: Failing, times: u32 },
    /// `@cut`
    Cut,
    /// `/name {json}`: the arguments as written, which need not be JSON.
    Call { name: String, arguments: String },
    /// Anything else, or what is wrong with a directive.
    Text(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failing {
    Overloaded,
    RateLimit,
    Context,
    Truncated,
    MidStream,
}

impl Script {
    /// None if no line is a directive: then it is a person talking.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let directive = |line: &str| line.starts_with(['/', '@']);
        if !text.lines().any(|line| directive(line.trim())) {
            return None;
        }
        let mut answers = vec![Vec::new()];
        let mut calls = false;
        for line in text.lines().map(str::trim) {
            if line.is_empty() {
                // An answer of the model ends with the group that has calls.
                if std::mem::take(&mut calls) {
                    answers.push(Vec::new());
                }
                continue;
            }
            let line = parse_line(line);
            calls |= matches!(line, Line::Call { .. });
            if let Some(answer) = answers.last_mut() {
                answer.push(line);
            }
        }
        if calls {
            answers.push(Vec::new());
        }
        Some(Self { answers })
    }

    /// The lines of the answer at `step`; nothing from the end of the script on.
    pub(crate) fn answer(&self, step: usize) -> &[Line] {
        self.answers.get(step).map_or(&[], Vec::as_slice)
    }

    /// Whether nothing follows the answer at `step`.
    pub(crate) fn is_last(&self, step: usize) -> bool {
        step + 1 >= self.answers.len()
    }

    /// How many words `@say` and `@think` have told before `step`.
    pub(crate) fn words_before(&self, step: usize) -> (u64, u64) {
        let mut words = (0, 0);
        for line in self.answers.iter().take(step).flatten() {
            match line {
                Line::Say { count, .. } => words.0 += u64::from(*count),
                Line::Think { count, .. } => words.1 += u64::from(*count),
                _ => {}
            }
        }
        words
    }
}

fn parse_line(line: &str) -> Line {
    if let Some(call) = line.strip_prefix('/') {
        return parse_call(call).unwrap_or_else(|| explain(line, "write `/name {json}`, e.g. `/list-emails {}`"));
    }
    let Some(directive) = line.strip_prefix('@') else { return Line::Text(line.to_owned()) };
    let words: Vec<&str> = directive.split_whitespace().collect();
    let (&name, rest) = words.split_first().unwrap_or((&"", &[]));
    let (parsed, form) = match name {
        "say" => (
            words_every(rest).map(|(count, every)| Line::Say { count, every }),
            "write `@say N every D`, e.g. `@say 20 every 50ms`",
        ),
        "think" => (
            words_every(rest).map(|(count, every)| Line::Think { count, every }),
            "write `@think N every D`, e.g. `@think 20 every 50ms`",
        ),
        "wait" => (one(rest).and_then(parse_duration).map(Line::Wait), "write `@wait D`, e.g. `@wait 2s`"),
        "fail" => (
            parse_fail(rest),
            "write `@fail KIND` or `@fail KIND xN`, where KIND is overloaded, rate-limit, context, truncated or mid-stream",
        ),
        "cut" => (rest.is_empty().then_some(Line::Cut), "write `@cut` alone"),
        _ => (None, "there are @say, @think, @wait, @fail and @cut"),
    };
    parsed.unwrap_or_else(|| explain(line, form))
}

fn explain(line: &str, form: &str) -> Line {
    Line::Text(format!("I cannot follow `{line}`: {form}."))
}

fn parse_call(call: &str) -> Option<Line> {
    let (name, arguments) = call.split_once(char::is_whitespace).unwrap_or((call, ""));
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (!name.is_empty() && name.len() <= 64 && name.chars().all(legal))
        .then(|| Line::Call { name: name.to_owned(), arguments: arguments.trim().to_owned() })
}

fn parse_fail(words: &[&str]) -> Option<Line> {
    let (&kind, rest) = words.split_first()?;
    let how = match kind {
        "overloaded" => Failing::Overloaded,
        "rate-limit" => Failing::RateLimit,
        "context" => Failing::Context,
        "truncated" => Failing::Truncated,
        "mid-stream" => Failing::MidStream,
        _ => return None,
    };
    let times = match rest {
        [] => 1,
        [times] => times.strip_prefix('x')?.parse().ok()?,
        _ => return None,
    };
    Some(Line::Fail { how, times })
}

fn words_every(words: &[&str]) -> Option<(u32, Duration)> {
    match words {
        [count, "every", every] => Some((count.parse().ok()?, parse_duration(every)?)),
        _ => None,
    }
}

fn one<'a>(words: &[&'a str]) -> Option<&'a str> {
    match words {
        [word] => Some(word),
        _ => None,
    }
}

/// `20ms`, `1s`, `2m` or `0`; at most a day.
fn parse_duration(text: &str) -> Option<Duration> {
    const LIMIT: Duration = Duration::from_secs(24 * 60 * 60);
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u32 = number.parse().ok()?;
    let duration = match unit {
        "" if number == 0 => Duration::ZERO,
        "ms" => Duration::from_millis(u64::from(number)),
        "s" => Duration::from_secs(u64::from(number)),
        "m" => Duration::from_secs(60 * u64::from(number)),
        _ => return None,
    };
    (duration <= LIMIT).then_some(duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, arguments: &str) -> Line {
        Line::Call { name: name.into(), arguments: arguments.into() }
    }

    fn text(text: &str) -> Line {
        Line::Text(text.into())
    }

    #[test]
    fn every_directive_is_understood() {
        let ms = Duration::from_millis;
        for (line, want) in [
            ("@say 3 every 20ms", Line::Say { count: 3, every: ms(20) }),
            ("  @think 2 every 1s ", Line::Think { count: 2, every: ms(1000) }),
            ("@say 1 every 0", Line::Say { count: 1, every: ms(0) }),
            ("@wait 2m", Line::Wait(ms(120_000))),
            ("@fail overloaded", Line::Fail { how: Failing::Overloaded, times: 1 }),
            ("@fail rate-limit x2", Line::Fail { how: Failing::RateLimit, times: 2 }),
            ("@fail context x9", Line::Fail { how: Failing::Context, times: 9 }),
            ("@fail truncated", Line::Fail { how: Failing::Truncated, times: 1 }),
            ("@fail mid-stream", Line::Fail { how: Failing::MidStream, times: 1 }),
            ("@cut", Line::Cut),
            ("/list-emails", call("list-emails", "")),
            ("/send_mail  {\"to\": \"a b\"} ", call("send_mail", "{\"to\": \"a b\"}")),
            ("/broken {\"to\":", call("broken", "{\"to\":")),
        ] {
            let script = Script::parse(line).unwrap();
            assert_eq!(script.answer(0), [want], "{line}");
        }
    }

    #[test]
    fn a_directive_that_cannot_be_followed_is_explained() {
        let say = "write `@say N every D`, e.g. `@say 20 every 50ms`";
        for (line, form) in [
            ("@say", say),
            ("@say ten every 20ms", say),
            ("@say -1 every 20ms", say),
            ("@say 3 every 20", say),
            ("@say 3 every 99999999m", say),
            ("@say 99999999999 every 0", say),
            ("@wait", "write `@wait D`, e.g. `@wait 2s`"),
            ("@wait ünd", "write `@wait D`, e.g. `@wait 2s`"),
            ("@cut now", "write `@cut` alone"),
            ("@", "there are @say, @think, @wait, @fail and @cut"),
            ("@dance", "there are @say, @think, @wait, @fail and @cut"),
            ("/", "write `/name {json}`, e.g. `/list-emails {}`"),
            ("/a/b {}", "write `/name {json}`, e.g. `/list-emails {}`"),
        ] {
            let script = Script::parse(line).unwrap();
            assert_eq!(script.answer(0), [text(&format!("I cannot follow `{line}`: {form}."))]);
        }
        for kind in ["@fail", "@fail never", "@fail overloaded 2", "@fail overloaded x", "@fail context x1 x2"] {
            assert!(matches!(Script::parse(kind).unwrap().answer(0), [Line::Text(_)]), "{kind}");
        }
    }

    #[test]
    fn an_answer_ends_with_the_group_that_has_calls() {
        let script = "hello\n\n@wait 1s\n\n/a {}\n/b {}\r\n\n\n/c\nlater\n\nbye\n";
        let script = Script::parse(script).unwrap();
        let wait = Line::Wait(Duration::from_secs(1));
        let answers = [
            vec![text("hello"), wait, call("a", "{}"), call("b", "{}")],
            vec![call("c", ""), text("later")],
            vec![text("bye")],
            vec![],
        ];
        for (step, want) in answers.iter().enumerate() {
            assert_eq!(script.answer(step), want, "{step}");
            assert_eq!(script.is_last(step), step >= 2, "{step}");
        }
        let script = Script::parse("/a").unwrap();
        assert_eq!((script.answer(0), script.answer(1)), ([call("a", "")].as_slice(), [].as_slice()));
        assert!(!script.is_last(0) && script.is_last(1));
    }

    #[test]
    fn words_are_counted_through_the_whole_script() {
        let script =
            Script::parse("@say 3 every 0\n@think 2 every 0\n/a\n\n@say 4 every 0\n/b\n\n@say 1 every 0").unwrap();
        assert_eq!([0, 1, 2, 9].map(|step| script.words_before(step)), [(0, 0), (3, 2), (7, 2), (8, 2)]);
    }

    #[test]
    fn without_a_directive_there_is_no_script() {
        assert_eq!([Script::parse("hello\nthere"), Script::parse(""), Script::parse("a / b @ c")], [None, None, None]);
    }
}
