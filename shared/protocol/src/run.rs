//! The run record.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{MessageId, Principal, RunId, TenantId, ThreadId, TraceId, TurnId, UserId};

/// Position of a chunk in its run: dense from 0.
pub type Seq = u64;

/// Where a run is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// Waits for somebody to claim it.
    Dispatched,
    /// A holder drives it.
    Running,
    Completed,
    Failed,
    Aborted,
    /// It ended because a person must agree to a call; the next run of the turn goes on.
    AwaitingApproval,
}

impl RunStatus {
    /// The snake-case word.
    pub fn as_str(self) -> &'static str {
        match self {
            RunStatus::Dispatched => "dispatched",
            RunStatus::Running => "running",
            RunStatus::Completed => "completed",
            RunStatus::Failed => "failed",
            RunStatus::Aborted => "aborted",
            RunStatus::AwaitingApproval => "awaiting_approval",
        }
    }

    /// A terminal run never changes again.
    pub fn is_terminal(self) -> bool {
        match self {
            RunStatus::Dispatched | RunStatus::Running => false,
            RunStatus::Completed | RunStatus::Failed | RunStatus::Aborted | RunStatus::AwaitingApproval => true,
        }
    }
}

/// Why a run ended: a stable code, also in the brackets of an `error` chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    Completed,
    /// A person stopped it.
    Aborted,
    /// A person must agree to a call.
    AwaitingApproval,
    /// The action that the run was for refused or failed.
    ActionFailed,
    /// No background worker ever claimed the run.
    NeverClaimed,
    /// Holders kept disappearing without finishing a step or a call.
    NoProgress,
    /// Too many continuations or too long in all.
    RunBudgetExhausted,
    /// The model asked for more steps than a run may have.
    TooManySteps,
    /// A budget for models is used up: the run's, the person's or the tenant's.
    SpendingLimit,
    ModelOverloaded,
    ModelRateLimited,
    ModelRefused,
    ModelFailed,
    ContextTooLong,
    MissingCredentials,
    /// The worker could not prepare the turn.
    SetupFailed,
    Internal,
}

impl EndReason {
    pub fn status(self) -> RunStatus {
        match self {
            EndReason::Completed => RunStatus::Completed,
            EndReason::Aborted => RunStatus::Aborted,
            EndReason::AwaitingApproval => RunStatus::AwaitingApproval,
            _ => RunStatus::Failed,
        }
    }

    /// Whether somebody who operates the system, or a provider, is at fault: neither the person's request nor a limit
    /// that was set for it.
    pub fn is_fault(self) -> bool {
        match self {
            EndReason::Completed
            | EndReason::Aborted
            | EndReason::AwaitingApproval
            | EndReason::ActionFailed
            | EndReason::TooManySteps
            | EndReason::SpendingLimit
            | EndReason::ModelRefused
            | EndReason::ContextTooLong => false,
            EndReason::NeverClaimed
            | EndReason::NoProgress
            | EndReason::RunBudgetExhausted
            | EndReason::ModelOverloaded
            | EndReason::ModelRateLimited
            | EndReason::ModelFailed
            | EndReason::MissingCredentials
            | EndReason::SetupFailed
            | EndReason::Internal => true,
        }
    }

    /// The snake-case code.
    pub fn code(self) -> &'static str {
        match self {
            EndReason::Completed => "completed",
            EndReason::Aborted => "aborted",
            EndReason::AwaitingApproval => "awaiting_approval",
            EndReason::ActionFailed => "action_failed",
            EndReason::NeverClaimed => "never_claimed",
            EndReason::NoProgress => "no_progress",
            EndReason::RunBudgetExhausted => "run_budget_exhausted",
            EndReason::TooManySteps => "too_many_steps",
            EndReason::SpendingLimit => "spending_limit",
            EndReason::ModelOverloaded => "model_overloaded",
            EndReason::ModelRateLimited => "model_rate_limited",
            EndReason::ModelRefused => "model_refused",
            EndReason::ModelFailed => "model_failed",
            EndReason::ContextTooLong => "context_too_long",
            EndReason::MissingCredentials => "missing_credentials",
            EndReason::SetupFailed => "setup_failed",
            EndReason::Internal => "internal",
        }
    }
}

/// Where a run counts as under way, as there was a limit when it was started. Its end takes it out there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CountedIn {
    /// The number of its owner.
    User,
    /// One of the numbers that a tenant has, so that many people do not wait for each other.
    Tenant { shard: u8, of: u8 },
}

/// Whose a run is, as it is shown: the roles that its owner had are for its holders alone.
#[derive(JsonSchema)]
#[allow(dead_code)]
struct Owner {
    tenant: TenantId,
    user: UserId,
}

/// The run record, under 1 KB. Times are milliseconds since 1970; they are shown and used to find
/// candidates for recovery, never compared to decide who holds the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    pub run_id: RunId,
    /// None: the run carries out one action that a person called, outside any thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// The action that the run carries out; none: it answers a turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// The run of the same turn whose approvals were answered: this one goes on with its message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continues: Option<RunId>,
    /// The assistant message that this run writes; runs that continue one another write the same.
    pub message_id: MessageId,
    #[schemars(with = "Owner")]
    pub owner: Principal,
    /// What the request that started it belongs to: log lines of every holder name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceId>,
    pub status: RunStatus,
    /// Goes up with every change of this record; every write is conditional on it.
    pub version: u64,
    /// Number of claims so far; 0 while nobody has claimed.
    pub attempt: u32,
    /// Unique per claim; stays after the end, so that a claimant can recognise its own success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// Dispatches since somebody last held the run.
    pub dispatches: u32,
    /// When the first of them was sent.
    pub dispatched_at: i64,
    /// How often a holder handed over because its time was up.
    pub continuations: u32,
    /// The last holder handed over by itself, so what comes next is a continuation and no recovery.
    #[serde(default)]
    pub handed_over: bool,
    /// Attempts in a row that finished no step and stored no outcome.
    pub no_progress: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_reason: Option<EndReason>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counted_in: Vec<CountedIn>,
    pub created_at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<i64>,
    /// When a sweep should look; present exactly while the run is not terminal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<i64>,
    /// When its log may be deleted, in seconds since 1970. Readers answer 410 from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
}
