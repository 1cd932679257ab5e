//! What a turn has done outside the store.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tandem_testkit::{Delivery, Webhook};

/// Where calls have effects that no transaction holds.
#[derive(Debug)]
pub(crate) struct Outside {
    webhook: Webhook,
    outbox: PathBuf,
}

/// What is there of one turn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Elsewhere {
    deliveries: Vec<Delivery>,
    /// Files in the outbox.
    pub(crate) mails: usize,
}

impl Outside {
    /// `dir`: where the outbox will be.
    pub(crate) async fn open(dir: &Path) -> Self {
        Outside { webhook: Webhook::open().await.unwrap(), outbox: dir.join("outbox") }
    }

    /// The settings that lead there.
    pub(crate) fn env(&self) -> [(&str, &str); 2] {
        [("WEBHOOK_URL", self.webhook.url()), ("OUTBOX_DIR", self.outbox.to_str().unwrap())]
    }

    /// What bears this mark.
    pub(crate) fn of(&self, mark: &str) -> Elsewhere {
        let subject = format!("Subject: {mark}\r\n");
        let is_marked = |file: &PathBuf| std::fs::read_to_string(file).unwrap().contains(&subject);
        // The folder is made with the first mail.
        let files = std::fs::read_dir(&self.outbox).into_iter().flatten().map(|file| file.unwrap().path());
        let mails = files.filter(|file| file.extension().is_some_and(|kind| kind == "eml")).filter(is_marked).count();
        Elsewhere { deliveries: self.webhook.deliveries_of(mark), mails }
    }
}

impl Elsewhere {
    /// The keys that the webhook saw.
    pub(crate) fn keys(&self) -> BTreeSet<&str> {
        self.deliveries.iter().map(|delivery| delivery.key.as_str()).collect()
    }

    /// How often it counted.
    pub(crate) fn counted(&self) -> usize {
        self.deliveries.iter().filter(|delivery| delivery.counted).count()
    }
}
