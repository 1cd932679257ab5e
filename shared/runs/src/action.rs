//! Runs that carry out one action which a person called: as durable as a turn, and without a model.

use serde_json::Value;
use tandem_actions::{ActionError, IdempotencyKey};
use tandem_protocol::{Caller, Principal, Run};
use tandem_store::{ActionCall, ActionRefused, Input, new_id, now_ms};

use crate::admission::TooMany;
use crate::born::{name_from, run_id, unclaimed};
use crate::{Runtime, Started};

/// Longest input, in bytes of JSON: a chunk of the log must hold it.
const MAX_INPUT: usize = 190 * 1024;

impl Runtime {
    /// Starts a run for a call that is let in, or gives the run that the same key started before. The caller sees to
    /// it that somebody drives it.
    pub async fn start_action(
        &self,
        principal: &Principal,
        caller: Caller,
        name: &str,
        input: Value,
        key: Option<&IdempotencyKey>,
    ) -> Result<Started, ActionError> {
        let input = self.0.agent.registry().check(name, input, principal, caller)?;
        let json = input.to_string();
        if json.len() > MAX_INPUT {
            return Err(ActionError::TooLarge(format!("the input takes more than {MAX_INPUT} bytes")));
        }
        let id = run_id(&key.map_or_else(new_id, |key| name_of(principal, name, key)))?;
        let now = now_ms();
        let due_at = now + self.0.config.limits.due_ahead_ms;
        let (action, trace) = (Some(name.to_owned()), self.1.clone());
        let most = self.0.config.most.runs;
        let run =
            Run { action, trace, counted_in: most.counted_in(principal), ..unclaimed(&id, principal, now, due_at) };
        let action = ActionCall { name: name.to_owned(), input: json, caller };
        let asked = Input {
            text: String::new(),
            author: None,
            model: None,
            message_n: 0,
            decisions: Vec::new(),
            action: Some(action),
        };
        let found = match self.0.store.start_action(&run, &asked, most).await? {
            Ok(()) => {
                tracing::info!(run = %run.run_id, action = name, "started");
                return Ok(Started { run, fresh: true });
            }
            Err(ActionRefused::Full(full)) => {
                let TooMany { text, retry_after } = full.into();
                return Err(ActionError::TooMany { text, retry_after });
            }
            Err(ActionRefused::Exists(found)) => *found,
        };
        let stored = self.0.store.input(&found.run_id).await?.and_then(|stored| stored.action);
        match stored.map(|stored| stored.input()).transpose()? {
            Some(stored) if stored == input => Ok(Started { run: found, fresh: false }),
            _ => Err(ActionError::KeyReused),
        }
    }
}

/// One name for a person's key of an action.
fn name_of(principal: &Principal, action: &str, key: &IdempotencyKey) -> String {
    let texts = [principal.tenant.as_str(), principal.user.as_str(), action, key.as_str()];
    name_from(&texts.join("\n"))
}
