//! Turns: what a user asked for, and the run that answers it.

use aws_sdk_dynamodb::types::AttributeValue;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tandem_protocol::{MessageId, RunId, TenantId, ThreadId, ToolCallId, TurnId, UserId};

use crate::items::{from_item, n, to_item};
use crate::threads::thread_item;
use crate::write::{Condition, Transacted};
use crate::{AnsweredCall, Store, StoreError, Thread, keys};

/// Pointer from a turn to its latest run. It moves by comparing and setting from exactly the run before.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Turn {
    pub turn: TurnId,
    pub run: RunId,
    /// Position of the user's message in the thread.
    pub message_n: u64,
    /// The message that the turn's runs write, where `run` continues an earlier one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// What `run` asks a person, all of it: the decision that answers the last one starts the next run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<PendingApproval>,
    /// Goes up with every decision.
    #[serde(default)]
    pub version: u64,
}

/// What is stored under the name of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum TurnItem {
    Turn(Turn),
    Stop(TurnStop),
}

/// A turn that was stopped before it began: its start makes a run that has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnStop {
    /// Everybody who did.
    pub stopped_by: Vec<UserId>,
}

impl TurnItem {
    pub fn turn(self) -> Option<Turn> {
        match self {
            TurnItem::Turn(turn) => Some(turn),
            TurnItem::Stop(_) => None,
        }
    }
}

/// A call that a person must agree to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PendingApproval {
    pub call: ToolCallId,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
}

/// What a person said to a call. The first decision stays.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Decision {
    pub approved: bool,
    /// The input that is approved instead of the model's, as JSON: numbers of JSON are none of DynamoDB's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// For people and the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub by: UserId,
}

impl Decision {
    /// The input that is approved instead of the model's.
    pub fn input(&self) -> Result<Option<Value>, StoreError> {
        let read = |json: &String| serde_json::from_str(json).map_err(|e| StoreError::corrupt("a decision", e));
        self.input.as_ref().map(read).transpose()
    }
}

impl PendingApproval {
    fn answered(&self) -> Option<AnsweredCall> {
        let Decision { approved, by, .. } = self.decision.as_ref()?;
        Some(AnsweredCall { call: self.call.clone(), approved: *approved, by: by.clone() })
    }
}

impl Turn {
    /// The assistant message that the turn's latest run writes.
    pub fn message(&self) -> MessageId {
        self.message_id.clone().unwrap_or_else(|| MessageId::of_run(&self.run))
    }
}

impl Store {
    /// Writes decisions if turn and thread are still as they were read, and into the thread who said what, so that
    /// everybody sees it at once. `false`: somebody was faster.
    pub async fn put_decisions(
        &self,
        thread: &Thread,
        turn: &Turn,
        approvals: Vec<PendingApproval>,
    ) -> Result<bool, StoreError> {
        let answered = approvals.iter().filter_map(PendingApproval::answered).collect();
        let told = Thread { answered, version: thread.version + 1, ..thread.clone() };
        let next = Turn { approvals, version: turn.version + 1, ..turn.clone() };
        let item = to_item(&keys::turn(&thread.tenant, &thread.thread, &turn.turn), &next)?;
        let written = self.transact(vec![
            self.put_operation(item, Condition::version(turn.version)),
            // A new message refuses what was asked: no decision is told after that.
            self.put_operation(thread_item(&told)?, Condition::version(thread.version)),
        ]);
        let written = matches!(written.await?, Transacted::Committed);
        self.nudge_thread(&thread.tenant, &thread.thread);
        Ok(written)
    }

    pub async fn turn(&self, tenant: &TenantId, thread: &ThreadId, turn: &TurnId) -> Result<Option<Turn>, StoreError> {
        Ok(self.turn_item(tenant, thread, turn).await?.and_then(TurnItem::turn))
    }

    /// The turn, or that it was stopped before it began.
    pub async fn turn_item(
        &self,
        tenant: &TenantId,
        thread: &ThreadId,
        turn: &TurnId,
    ) -> Result<Option<TurnItem>, StoreError> {
        self.get(&keys::turn(tenant, thread, turn)).await?.map(from_item).transpose()
    }

    /// Stops a turn that has not begun. Kept as long as logs are. `false`: it has begun.
    pub async fn stop_turn(
        &self,
        tenant: &TenantId,
        thread: &ThreadId,
        turn: &TurnId,
        by: &UserId,
    ) -> Result<bool, StoreError> {
        let not_begun = Condition {
            text: "attribute_not_exists(#run)".into(),
            names: vec![("#run", "run")],
            values: vec![(":by", AttributeValue::Ss(vec![by.to_string()])), (":expires", n(self.expiry()))],
        };
        let stop = "ADD stoppedBy :by SET expires_at = :expires";
        let written = self.transact(vec![self.update_operation(&keys::turn(tenant, thread, turn), stop, not_begun)]);
        Ok(matches!(written.await?, Transacted::Committed))
    }
}
