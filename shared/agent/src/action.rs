//! A run without a model: one action that a person called and that takes longer than a request may.

use tandem_protocol::{CallState, Chunk, EndReason, FinishReason, Usage};
use tandem_store::ActionCall;

use crate::turn::Turn;
use crate::{Stop, TurnEnd};

impl Turn<'_> {
    /// Carries the action out as the one call of the one step: begun once, then settled by its effect.
    pub(crate) async fn carry_out(&mut self, action: &ActionCall) -> Result<TurnEnd, Stop> {
        self.caller = action.caller;
        let step = self.log.transcript.steps.last();
        let (begun, finished) = step.map_or((false, false), |step| (step.called, step.finished));
        if begun {
            let open = self.last_calls(|state| matches!(state, CallState::Intended));
            self.settle_calls(open).await?;
        } else {
            self.show_call(action).await?;
            let ready = self.last_calls(|state| matches!(state, CallState::Ready));
            self.run_calls(ready).await?;
        }
        if !finished {
            self.finish_step(Usage::default(), &[]).await?;
        }
        match self.last_calls(CallState::is_settled).pop().map(|call| call.state) {
            Some(CallState::Failed(text)) => Err(Stop::Failed(EndReason::ActionFailed, text)),
            _ => Ok(TurnEnd::Finished(FinishReason::Stop)),
        }
    }

    async fn show_call(&mut self, action: &ActionCall) -> Result<(), Stop> {
        let internal = || Stop::Failed(EndReason::Internal, "The call has no name.".into());
        let (tool_call_id, input) = (self.log.call_id().ok_or_else(internal)?, action.input()?);
        if self.log.transcript.open_step().is_none() {
            self.log.push(Chunk::StartStep).await?;
        }
        let tool_name = action.name.clone();
        Ok(self.log.commit([Chunk::ToolInputAvailable { tool_call_id, tool_name, input }]).await?)
    }
}
