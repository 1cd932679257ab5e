//! What the turns do. An action with another effect is one more line in a script, and what must be true of it.

use crate::cut::Cut;
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
    /// Who ends it before its time.
    pub(crate) cut: Cut,
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
    cut: Cut::Never,
};

/// A long call that commits slice by slice.
pub(crate) const IMPORT: Scenario = Scenario {
    name: "import of 2,000",
    script: "/import-emails {\"count\":2000}",
    effects: &[Effect::Imported { count: 2000 }],
    cut: Cut::Never,
};

/// The same in short.
pub(crate) const SHORT_IMPORT: Scenario = Scenario {
    name: "import of 100",
    script: "/import-emails {\"count\":100}",
    effects: &[Effect::Imported { count: 100 }],
    cut: Cut::Never,
};

/// A turn that is cut short: calls, words, and calls that it must not come to once its end is told.
const LONG: &str = "/email {\"emailId\":\"e-1\",\"body\":\"Thanks!\"}\n\
                    /notify-webhook {\"text\":\"<MARK>\"}\n\
                    /read-email {\"emailId\":\"e-1\"}\n\
                    \n\
                    @say 50 every 20ms\n\
                    /email {\"emailId\":\"e-2\",\"body\":\"Too late\"}\n\
                    /import-emails {\"count\":200}";
/// Of each call is there what its outcome says.
const AS_TOLD: &[Effect] =
    &[Effect::AsTold { action: "email", prefix: "sent/" }, Effect::Notified, Effect::Imported { count: 200 }];

/// Stopped while it says its words.
pub(crate) const STOPPED: Scenario =
    Scenario { name: "stopped", script: LONG, effects: AS_TOLD, cut: Cut::Stop { after: 20 } };

/// Stopped as soon as it has begun, while it calls its first actions.
pub(crate) const STOPPED_AT_ONCE: Scenario =
    Scenario { name: "stopped at once", script: LONG, effects: AS_TOLD, cut: Cut::Stop { after: 2 } };

/// Another message takes its place while it says its words.
pub(crate) const INTERRUPTED: Scenario =
    Scenario { name: "interrupted", script: LONG, effects: AS_TOLD, cut: Cut::Interrupt { after: 20 } };
