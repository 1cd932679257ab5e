//! The application: a shared inbox. One file per action, one line per action in `actions!`.
//!
//! People and the agent work on the same emails, which are documents of the tenant's scope `app:inbox`. An inbox
//! that nobody has changed shows sample mail; the first change writes the samples down, in the same transaction.
//! `TANDEM_SEED=0` begins with an empty inbox instead. Where mail and notifications go is in [`Settings`].

mod draft;
mod email_id;
mod generated;
mod inbox;
mod listing;
mod mail;
mod mbox;
mod memory;
mod outbox;
mod settings;

pub use settings::Settings;

use tandem_actions::{ActionDef, Registry, RegistryError};

/// The application's part of the agent's system prompt.
pub const INSTRUCTIONS: &str = include_str!("instructions.md");

/// Lists the files of actions: each is a module with a constant `ACTION`.
macro_rules! actions {
    ($($file:ident,)*) => {
        $(mod $file;)*

        /// Every action of the application, in the order in which they are shown.
        pub const ACTIONS: &[ActionDef] = &[$($file::ACTION),*];
    };
}

actions! {
    list_emails,
    search_emails,
    read_email,
    summarize_inbox,
    draft_reply,
    email,
    send_email,
    archive_email,
    unarchive_email,
    mark_email,
    label_email,
    import_emails,
    notify_webhook,
    remember,
    recall,
    forget,
    view_screen,
    navigate,
}

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
