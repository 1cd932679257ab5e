//! What the turns do. An action with another effect is one more line in a script, and what must be true of it.

use crate::effects::Effect;

/// What stands in a script for the mark of its case.
const MARK: &str = "<MARK>";

/// A turn of the scripted model.
#[derive(Debug)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    script: &'static str,
    /// What must be true afterwards, whatever was broken.
    pub(crate) effects: &'static [Effect],
}

impl Scenario {
    /// The script of a case. `mark`: a word of its own, by which its effects elsewhere are known.
    pub(crate) fn script(&self, mark: &str) -> String {
        self.script.replace(MARK, mark)
    }
}

/// Calls of every effect that a turn may have, in two steps, and a last step that answers.
pub(crate) const TWO_STEPS: Scenario = Scenario {
    name: "two steps",
    script: "/list-emails {\"limit\":3}\n\
             /email {\"emailId\":\"e-1\",\"body\":\"Thanks!\"}\n\
             /notify-webhook {\"text\":\"<MARK>\"}\n\
             /read-email {\"emailId\":\"e-1\"}\n\
             \n\
             @say 5 every 20ms\n\
             /archive-email {\"emailId\":\"e-2\"}\n\
             /send-email {\"to\":\"ann@example.com\",\"subject\":\"<MARK>\",\"body\":\"Hello!\"}\n\
             /read-email {\"emailId\":\"e-2\"}",
    effects: &[
        Effect::Changed { prefix: "sent/", documents: 1, changes: 1 },
        // Once with the samples of an untouched inbox, and once archived.
        Effect::Changed { prefix: "emails/00000002", documents: 1, changes: 2 },
        Effect::Notified,
        Effect::Shown { action: "read-email", nth: 0, at: "/replies/0/body", value: "\"Thanks!\"" },
        Effect::Shown { action: "read-email", nth: 0, at: "/replies/1", value: "null" },
        Effect::Sent,
        Effect::Shown { action: "read-email", nth: 1, at: "/archived", value: "true" },
    ],
};

/// A long call that commits slice by slice.
pub(crate) const IMPORT: Scenario = Scenario {
    name: "import of 2,000",
    script: "/import-emails {\"count\":2000}",
    effects: &[Effect::Imported { count: 2000 }],
};

/// The same in short.
pub(crate) const SHORT_IMPORT: Scenario = Scenario {
    name: "import of 100",
    script: "/import-emails {\"count\":100}",
    effects: &[Effect::Imported { count: 100 }],
};
