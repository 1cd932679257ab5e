//! The run record, as the model keeps it: only what can differ, and changed by the runtime's own functions.

use std::sync::OnceLock;

use tandem_protocol::{EndReason, MessageId, Principal, Run, RunId, RunStatus, TenantId, ThreadId, TurnId, UserId};
use tandem_runs::{Event, Recovery, Refused, apply, recovery};

use crate::guards::LIMITS;

/// The version of the record as it is now. Versions only go up and are only compared for equality with the present
/// one, so all earlier ones are alike: after each change the present version is renamed to this, and every other
/// one to [`PAST`]. Without that, heartbeats alone would make the model endless.
pub(crate) const PRESENT: u64 = 1;
pub(crate) const PAST: u64 = 0;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Record {
    pub(crate) status: RunStatus,
    pub(crate) version: u64,
    pub(crate) attempt: u32,
    pub(crate) holder: Option<u32>,
    pub(crate) dispatches: u32,
    pub(crate) continuations: u32,
    pub(crate) handed_over: bool,
    pub(crate) no_progress: u32,
    pub(crate) end_reason: Option<EndReason>,
    pub(crate) due_at: Option<i64>,
}

impl Record {
    /// As `start` writes it.
    pub(crate) fn started() -> Self {
        Self::of(template())
    }

    /// The record after `event`, by the runtime's `apply`.
    pub(crate) fn apply(&self, event: &Event) -> Result<Self, Refused> {
        apply(&self.run(), event, 0, &LIMITS).map(|run| Self::of(&run))
    }

    /// What an observer does with the run, by the runtime's `recovery`.
    pub(crate) fn recovery(&self) -> Recovery {
        recovery(&self.run(), 0, &LIMITS)
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.status.is_terminal()
    }

    pub(crate) fn run(&self) -> Run {
        Run {
            status: self.status,
            version: self.version,
            attempt: self.attempt,
            holder: self.holder.map(|holder| holder.to_string()),
            dispatches: self.dispatches,
            continuations: self.continuations,
            handed_over: self.handed_over,
            no_progress: self.no_progress,
            end_reason: self.end_reason,
            due_at: self.due_at,
            ended_at: self.has_ended().then_some(0),
            ..template().clone()
        }
    }

    fn of(run: &Run) -> Self {
        Record {
            status: run.status,
            version: run.version,
            attempt: run.attempt,
            holder: run.holder.as_ref().and_then(|holder| holder.parse().ok()),
            dispatches: run.dispatches,
            continuations: run.continuations,
            handed_over: run.handed_over,
            no_progress: run.no_progress,
            end_reason: run.end_reason,
            due_at: run.due_at,
        }
    }
}

/// A run that has just been started, as runs/src/start.rs makes it.
pub(crate) fn template() -> &'static Run {
    static RUN: OnceLock<Run> = OnceLock::new();
    RUN.get_or_init(|| Run {
        run_id: RunId::new("run_1").unwrap(),
        thread_id: Some(ThreadId::new("t").unwrap()),
        turn_id: Some(TurnId::new("m").unwrap()),
        action: None,
        continues: None,
        message_id: MessageId::new("msg_1").unwrap(),
        owner: Principal { tenant: TenantId::new("a").unwrap(), user: UserId::new("b").unwrap(), roles: vec![] },
        trace: None,
        status: RunStatus::Dispatched,
        version: PRESENT,
        attempt: 0,
        holder: None,
        dispatches: 1,
        dispatched_at: 0,
        continuations: 0,
        handed_over: false,
        no_progress: 0,
        end_reason: None,
        counted_in: Vec::new(),
        created_at: 0,
        ended_at: None,
        due_at: Some(LIMITS.due_ahead_ms),
        expires_at: None,
    })
}
