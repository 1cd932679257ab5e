//! Runs that carry out one action which a person called: as durable as a turn, and without a model.

use serde_json::Value;
use tandem_actions::{ActionError, IdempotencyKey, call_named};
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
        let (now, store) = (now_ms(), &self.0.store);
        let id = match key {
            Some(key) => name_from(&call_named(store, principal, name, key, &input, now).await?),
            None => new_id(),
        };
        let id = run_id(&id)?;
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
        match store.start_action(&run, &asked, most).await? {
            Ok(()) => {
                tracing::info!(run = %run.run_id, action = name, "started");
                Ok(Started { run, fresh: true })
            }
            // The name holds whose it is; a run of somebody else is never given away.
            Err(ActionRefused::Exists(found)) if found.owner != run.owner => Err(ActionError::KeyReused),
            Err(ActionRefused::Exists(found)) => Ok(Started { run: *found, fresh: false }),
            Err(ActionRefused::Full(full)) => {
                let TooMany { text, retry_after } = full.into();
                Err(ActionError::TooMany { text, retry_after })
            }
        }
    }
}
