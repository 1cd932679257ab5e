//! What the turns do. An action with another effect is one more line in a script, and what must be true of it.

use crate::effects::Effect;

/// A turn of the scripted model.
#[derive(Debug)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) script: &'static str,
    /// What must be true afterwards, whatever was broken.
    pub(crate) effects: &'static [Effect],
}

/// Reads and transactional calls in two steps, and a last step that answers.
pub(crate) const TWO_STEPS: Scenario = Scenario {
    name: "two steps",
    script: "/list-emails {\"limit\":3}\n\
             /email {\"emailId\":\"e-1\",\"body\":\"Thanks!\"}\n\
             /read-email {\"emailId\":\"e-1\"}\n\
             \n\
             @say 5 every 20ms\n\
             /archive-email {\"emailId\":\"e-2\"}\n\
             /read-email {\"emailId\":\"e-2\"}",
    effects: &[
        Effect::Changed { prefix: "sent/", documents: 1, changes: 1 },
        // Once with the samples of an untouched inbox, and once archived.
        Effect::Changed { prefix: "emails/00000002", documents: 1, changes: 2 },
        Effect::Shown { call: 2, at: "/replies/0/body", value: "\"Thanks!\"" },
        Effect::Shown { call: 2, at: "/replies/1", value: "null" },
        Effect::Shown { call: 4, at: "/archived", value: "true" },
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
