//! What was found, check by check.

use anyhow::{Result, bail};
use serde::Serialize;
use serde_json::json;

use crate::output::{print, say};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Ok,
    /// It works, and somebody should look all the same.
    Warn,
    Fail,
    Skip,
}

#[derive(Serialize)]
struct Check {
    check: &'static str,
    state: State,
    found: String,
    /// What to do about it.
    #[serde(rename = "do", skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

/// Tells each check as it is made, or all of them at the end.
pub(super) struct Report {
    url: String,
    json: bool,
    checks: Vec<Check>,
}

impl Report {
    pub(super) fn new(url: &str, json: bool) -> Self {
        Report { url: url.to_owned(), json, checks: Vec::new() }
    }

    pub(super) fn ok(&mut self, check: &'static str, found: impl Into<String>) {
        self.add(Check { check, state: State::Ok, found: found.into(), advice: None });
    }

    pub(super) fn warn(&mut self, check: &'static str, found: impl Into<String>, advice: impl Into<String>) {
        self.add(Check { check, state: State::Warn, found: found.into(), advice: Some(advice.into()) });
    }

    pub(super) fn fail(&mut self, check: &'static str, found: impl Into<String>, advice: impl Into<String>) {
        self.add(Check { check, state: State::Fail, found: found.into(), advice: Some(advice.into()) });
    }

    pub(super) fn skip(&mut self, check: &'static str, found: impl Into<String>) {
        self.add(Check { check, state: State::Skip, found: found.into(), advice: None });
    }

    /// An error where a check failed.
    pub(super) fn end(self) -> Result<()> {
        let failed = self.checks.iter().filter(|check| check.state == State::Fail).count();
        if self.json {
            print(&json!({"url": self.url, "ok": failed == 0, "checks": self.checks}));
        }
        match failed {
            0 => Ok(()),
            1 => bail!("1 check failed"),
            more => bail!("{more} checks failed"),
        }
    }

    fn add(&mut self, check: Check) {
        if !self.json {
            let state = match check.state {
                State::Ok => "ok",
                State::Warn => "warn",
                State::Fail => "FAIL",
                State::Skip => "skip",
            };
            say(format_args!("{state:<5} {:<10} {}", check.check, check.found));
            if let Some(advice) = &check.advice {
                say(format_args!("{:<17}{advice}", ""));
            }
        }
        self.checks.push(check);
    }
}
