//! What the application is told from outside: where mail and notifications go.

use std::path::PathBuf;
use std::time::Duration;

/// Where the local outbox is, if nothing is said.
const OUTBOX: &str = ".tandem/outbox";
/// Who mail is from, if nothing is said.
const FROM: &str = "Tandem <tandem@localhost>";

/// Settings of the application; [`Settings::from_env`] reads them.
#[derive(Clone)]
pub struct Settings {
    /// `WEBHOOK_URL`: where `notify-webhook` posts; without it the action says that it is not set up.
    pub webhook_url: Option<String>,
    /// Longest wait for one answer of the webhook.
    pub webhook_timeout: Duration,
    /// `SMTP_URL`: the mail server that `send-email` uses, such as `smtps://user:password@mail.example.com`.
    pub smtp_url: Option<String>,
    /// `OUTBOX_DIR`: without a mail server, mail is written into this folder.
    pub outbox_dir: PathBuf,
    /// `MAIL_FROM`: the sender of mail.
    pub mail_from: String,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            webhook_url: None,
            webhook_timeout: Duration::from_secs(8),
            smtp_url: None,
            outbox_dir: OUTBOX.into(),
            mail_from: FROM.into(),
        }
    }
}

impl Settings {
    /// Reads the settings with `lookup`; an empty value counts as not set.
    pub fn from_env(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let get = |name: &str| lookup(name).filter(|value| !value.trim().is_empty());
        let default = Settings::default();
        Settings {
            webhook_url: get("WEBHOOK_URL"),
            webhook_timeout: default.webhook_timeout,
            smtp_url: get("SMTP_URL"),
            outbox_dir: get("OUTBOX_DIR").map_or(default.outbox_dir, PathBuf::from),
            mail_from: get("MAIL_FROM").unwrap_or(default.mail_from),
        }
    }
}
