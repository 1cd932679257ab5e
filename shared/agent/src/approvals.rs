//! Calls that a person must agree to: which they are, and what is said in the log once somebody has decided.

use serde_json::{Map, Value, json};
use tandem_actions::{Entry, NeedsApproval};
use tandem_protocol::{CallState, Caller, Chunk, ToolCall};
use tandem_store::{Decision, PendingApproval};

use crate::Stop;
use crate::turn::Turn;

impl Turn<'_> {
    /// Whether a person must agree before the call runs. A call that would be refused asks nobody: the refusal is for
    /// the model.
    pub(crate) fn needs_approval(&self, call: &ToolCall) -> bool {
        let registry = self.agent.registry();
        // Most calls ask nobody: their input is read once, when they run.
        let asks = |entry: &&Entry| entry.approval() != NeedsApproval::Never;
        let Some(entry) = registry.get(&call.name).filter(asks) else { return false };
        let admitted = registry.check(&call.name, call.input.clone(), &self.run.owner, Caller::Agent);
        admitted.is_ok_and(|input| entry.needs_approval(&input))
    }

    /// Says what was decided about calls of the run that this one continues; says whether there was anything to say.
    /// Each call is shown again whole, so that this run's log can be read by itself.
    pub(crate) async fn announce(&mut self, decisions: &[PendingApproval]) -> Result<bool, Stop> {
        let open = self.last_calls(|state| matches!(state, CallState::AwaitingApproval | CallState::Ready));
        let mut chunks = Vec::new();
        let mut by = self.decided_by();
        for PendingApproval { call, decision, .. } in decisions {
            let call = open.iter().find(|open| open.id == *call);
            if let (Some(call), Some(decision)) = (call, decision) {
                chunks.extend(said(call, decision)?);
                by.insert(call.id.to_string(), json!(decision.by));
            }
        }
        if chunks.is_empty() {
            return Ok(false);
        }
        chunks.push(Chunk::MessageMetadata { message_metadata: json!({"decidedBy": by}) });
        self.log.commit(chunks).await?;
        Ok(true)
    }

    /// Who answered what the message has asked so far, by call.
    fn decided_by(&self) -> Map<String, Value> {
        let known = self.log.transcript.metadata.as_ref().and_then(|metadata| metadata.get("decidedBy"));
        known.and_then(Value::as_object).cloned().unwrap_or_default()
    }
}

fn said(call: &ToolCall, decision: &Decision) -> Result<Vec<Chunk>, Stop> {
    let id = &call.id;
    let mut chunks = vec![
        Chunk::ToolInputAvailable {
            tool_call_id: id.clone(),
            tool_name: call.name.clone(),
            input: decision.input()?.unwrap_or_else(|| call.input.clone()),
        },
        Chunk::approval_request(id),
        Chunk::ToolApprovalResponse {
            approval_id: id.clone(),
            approved: decision.approved,
            reason: decision.reason.clone(),
        },
    ];
    if !decision.approved {
        chunks.push(Chunk::ToolOutputDenied { tool_call_id: id.clone() });
    }
    Ok(chunks)
}
