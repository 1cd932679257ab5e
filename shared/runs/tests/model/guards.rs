//! What can be switched off, and how far a model goes.

use tandem_actions::Effect;
use tandem_runs::Limits;

/// The rules that keep the promises. The runtime has them all; a test switches one off and expects the checker to
/// find a promise broken.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Guards {
    /// A frame is put only where nothing stands.
    pub(crate) position_fence: bool,
    /// A new holder stops when a later attempt stands in the log already.
    pub(crate) attempt_check: bool,
    /// The end puts `closed` for every call that may still be under way.
    pub(crate) closed_outcomes: bool,
    /// No call of a step begins before the response is complete.
    pub(crate) intents_after_response: bool,
    /// A claim needs the version that its claimant has seen.
    pub(crate) claim_version: bool,
}

impl Guards {
    pub(crate) const ALL: Guards = Guards {
        position_fence: true,
        attempt_check: true,
        closed_outcomes: true,
        intents_after_response: true,
        claim_version: true,
    };
}

/// How much may happen. Everything may also happen late, or never: that needs no bound.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) attempts: u32,
    /// What the model calls in its first step, in order; in its second step it answers.
    pub(crate) calls: &'static [Effect],
    /// Writes that are applied while their reply is lost, so that they are sent again.
    pub(crate) lost_replies: u8,
    /// Answers of the model that break off and are asked for again.
    pub(crate) broken_answers: u8,
    /// Holders whose time is up.
    pub(crate) timeouts: u8,
}

/// The limits that the pure functions are given. The clock stands still at 0 here, so that limits of time hold at
/// once or never; the counts are small, so that giving up is within the bounds.
pub(crate) const LIMITS: Limits = Limits {
    due_ahead_ms: 30_000,
    max_continuations: 2,
    max_no_progress: 3,
    max_age_ms: i64::MAX,
    max_dispatches: 2,
    never_claimed_ms: 0,
};
