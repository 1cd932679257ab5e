//! The outbox: where mail leaves the application. A mail server, or a folder where there is none.

use std::path::PathBuf;

use async_trait::async_trait;
use lettre::message::Mailbox;
use lettre::{AsyncFileTransport, AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use tandem_actions::ActionError;

use crate::settings::Settings;

/// Longest wait for one step of the conversation with a mail server.
const SMTP_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(8);

/// A way out for mail.
#[async_trait]
pub(crate) trait Outbox: Send + Sync {
    /// Sends a mail, once. [`ActionError::Unknown`] where nobody can tell whether it was sent.
    async fn send(&self, mail: Message) -> Result<(), ActionError>;
}

/// The outbox of this deployment, and who mail is from.
pub(crate) struct Outgoing {
    pub(crate) outbox: Box<dyn Outbox>,
    pub(crate) from: Mailbox,
}

impl Outgoing {
    /// An error says what is wrong with the settings.
    pub(crate) fn new(settings: &Settings) -> Result<Self, String> {
        let from = settings.mail_from.parse().map_err(|error| format!("MAIL_FROM is not an address: {error}"))?;
        let outbox: Box<dyn Outbox> = match &settings.smtp_url {
            Some(url) => Box::new(MailServer::new(url)?),
            None => Box::new(Folder(settings.outbox_dir.clone())),
        };
        Ok(Outgoing { outbox, from })
    }
}

/// A mail server, over SMTP.
struct MailServer(AsyncSmtpTransport<Tokio1Executor>);

impl MailServer {
    fn new(url: &str) -> Result<Self, String> {
        // The address may hold a password: it is never repeated.
        let server = AsyncSmtpTransport::<Tokio1Executor>::from_url(url.trim())
            .map_err(|_| "SMTP_URL must be an address such as smtps://user:password@mail.example.com".to_owned())?;
        Ok(MailServer(server.timeout(Some(SMTP_TIMEOUT)).build()))
    }
}

#[async_trait]
impl Outbox for MailServer {
    async fn send(&self, mail: Message) -> Result<(), ActionError> {
        // Before anything is sent a failure is certain; afterwards a broken connection leaves it open.
        if let Err(error) = self.0.test_connection().await {
            tracing::warn!(error = told(&error), "the mail server cannot be used");
            let text = "The mail server cannot be reached, or does not let us in. Nothing was sent.";
            return Err(ActionError::failed("mail_unavailable", text));
        }
        match self.0.send(mail).await {
            Ok(_) => Ok(()),
            Err(error) if error.is_permanent() || error.is_transient() => {
                tracing::warn!(error = told(&error), "the mail server refused a mail");
                let status = error.status().map(|status| format!(" with status {status}")).unwrap_or_default();
                let text = format!("The mail server refused the mail{status}. Nothing was sent.");
                Err(ActionError::failed("mail_refused", text))
            }
            Err(error) => {
                tracing::warn!(error = told(&error), "the mail server did not say what became of a mail");
                Err(ActionError::Unknown)
            }
        }
    }
}

/// An error for the log: not the server's words, which may repeat who wanted to write to whom, and with which password.
fn told(error: &lettre::transport::smtp::Error) -> String {
    match error.status() {
        Some(status) => format!("status {status}"),
        None if error.is_response() => "its answer cannot be read".to_owned(),
        None => error.to_string(),
    }
}

/// A folder with a file for each mail.
struct Folder(PathBuf);

#[async_trait]
impl Outbox for Folder {
    async fn send(&self, mail: Message) -> Result<(), ActionError> {
        let unwritable = |error: String| {
            tracing::warn!(error, folder = %self.0.display(), "the outbox cannot be written");
            let text = "The outbox cannot be written: the operator must set SMTP_URL, or OUTBOX_DIR to a folder.";
            ActionError::failed("not_configured", text)
        };
        tokio::fs::create_dir_all(&self.0).await.map_err(|error| unwritable(error.to_string()))?;
        let files = AsyncFileTransport::<Tokio1Executor>::new(&self.0);
        files.send(mail).await.map(drop).map_err(|error| unwritable(error.to_string()))
    }
}
