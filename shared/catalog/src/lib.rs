//! The application: a shared inbox. One file per action, one line per action in [`ACTIONS`].
//!
//! People and the agent work on the same emails, which are documents of the tenant's scope `app:inbox`. An inbox
//! that nobody has changed shows sample mail; the first change writes the samples down, in the same transaction.
//! `TANDEM_SEED=0` begins with an empty inbox instead. Where mail and notifications go is in [`Settings`].

mod archive_email;
mod email;
mod email_id;
mod forget;
mod generated;
mod import_emails;
mod inbox;
mod label_email;
mod list_emails;
mod listing;
mod mail;
mod mbox;
mod memory;
mod navigate;
mod notify_webhook;
mod outbox;
mod read_email;
mod recall;
mod remember;
mod search_emails;
mod send_email;
mod settings;
mod summarize_inbox;
mod view_screen;

pub use settings::Settings;

use tandem_actions::{ActionDef, Registry, RegistryError};

/// The application's part of the agent's system prompt.
pub const INSTRUCTIONS: &str = include_str!("instructions.md");

/// Every action of the application, in the order in which they are shown.
pub const ACTIONS: &[ActionDef] = &[
    list_emails::ACTION,
    search_emails::ACTION,
    read_email::ACTION,
    summarize_inbox::ACTION,
    email::ACTION,
    send_email::ACTION,
    archive_email::ACTION,
    label_email::ACTION,
    import_emails::ACTION,
    notify_webhook::ACTION,
    remember::ACTION,
    recall::ACTION,
    forget::ACTION,
    view_screen::ACTION,
    navigate::ACTION,
];

/// The actions, checked, with the settings of the environment. An error is a fault of the code or of the settings.
pub fn registry() -> Result<Registry, RegistryError> {
    registry_with(&Settings::from_env(|name| std::env::var(name).ok()))
}

/// The actions, checked.
pub fn registry_with(settings: &Settings) -> Result<Registry, RegistryError> {
    let fault = |action: &str| {
        let action = action.to_owned();
        |fault| RegistryError { action, fault }
    };
    let webhook = notify_webhook::Webhook::new(settings).map_err(fault("notify-webhook"))?;
    let outgoing = outbox::Outgoing::new(settings).map_err(fault("send-email"))?;
    let registry = Registry::new(ACTIONS)?.with(webhook).with(outgoing);
    Ok(inbox::KEPT.into_iter().fold(registry, |registry, prefix| registry.keep(inbox::scope(), prefix)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_actions_are_a_registry() {
        registry().unwrap();
    }

    #[test]
    fn settings_that_cannot_work_are_named_and_not_repeated() {
        let nothing = Settings::default();
        for (settings, action, name) in [
            (Settings { webhook_url: Some("hooks/secret".into()), ..nothing.clone() }, "notify-webhook", "WEBHOOK_URL"),
            (Settings { webhook_url: Some("ftp://secret".into()), ..nothing.clone() }, "notify-webhook", "WEBHOOK_URL"),
            (Settings { smtp_url: Some("mail:secret".into()), ..nothing.clone() }, "send-email", "SMTP_URL"),
            (Settings { mail_from: "nobody".into(), ..nothing.clone() }, "send-email", "MAIL_FROM"),
        ] {
            let error = registry_with(&settings).unwrap_err();
            assert_eq!(error.action, action);
            assert!(error.fault.starts_with(name) && !error.fault.contains("secret"), "{error}");
        }
    }

    #[test]
    fn empty_variables_are_not_set() {
        let settings = Settings::from_env(|name| Some(if name == "MAIL_FROM" { "a@b.example" } else { " " }.into()));
        assert_eq!((settings.webhook_url, settings.smtp_url), (None, None));
        assert_eq!((settings.outbox_dir, settings.mail_from), (".tandem/outbox".into(), "a@b.example".into()));
    }
}
