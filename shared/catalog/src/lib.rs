//! The application: a shared inbox. One file per action, one line per action in [`ACTIONS`].
//!
//! People and the agent work on the same emails, which are documents of the tenant's scope `app:inbox`. An inbox
//! that nobody has changed shows sample mail; the first change writes the samples down, in the same transaction.
//! `TANDEM_SEED=0` begins with an empty inbox instead.

mod archive_email;
mod email;
mod email_id;
mod generated;
mod import_emails;
mod inbox;
mod list_emails;
mod mail;
mod mbox;
mod read_email;

use tandem_actions::{ActionDef, Registry, RegistryError};

/// The application's part of the agent's system prompt.
pub const INSTRUCTIONS: &str = include_str!("instructions.md");

/// Every action of the application, in the order in which they are shown.
pub const ACTIONS: &[ActionDef] =
    &[list_emails::ACTION, read_email::ACTION, email::ACTION, archive_email::ACTION, import_emails::ACTION];

/// The actions, checked. An error is a fault of the code.
pub fn registry() -> Result<Registry, RegistryError> {
    Registry::new(ACTIONS)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_actions_are_a_registry() {
        super::registry().unwrap();
    }
}
