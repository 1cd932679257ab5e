//! What an attempt reads before it works, and needs no log for: so it is read while the run is claimed.

use tandem_model::{Model, ToolSpec};
use tandem_protocol::{EndReason, Run};
use tandem_store::Input;

use crate::history::{self, History};
use crate::{Agent, Stop, prompt};

/// The input of a run and, for a turn, what is the same for each of its steps. What could not be read is told when it is
/// needed: calls that a person approved run whatever has become of the model since.
pub struct Prepared {
    pub(crate) input: Result<Input, Stop>,
    /// None: the run is for one action.
    pub(crate) context: Option<Result<Context, Stop>>,
}

/// What is the same for every step of an attempt.
pub(crate) struct Context {
    pub(crate) system: Vec<String>,
    pub(crate) history: History,
    pub(crate) tools: Vec<ToolSpec>,
    pub(crate) model: std::sync::Arc<dyn Model>,
}

impl Agent {
    /// Reads what an attempt at `run` needs. `input`: the run's input, where it has been read already.
    pub async fn prepare(&self, run: &Run, input: Option<Input>) -> Prepared {
        let input = match input {
            Some(input) => Ok(input),
            None => self.input(run).await,
        };
        let context = match &input {
            Ok(input) if input.action.is_none() => Some(self.context(run, input).await),
            _ => None,
        };
        Prepared { input, context }
    }

    async fn input(&self, run: &Run) -> Result<Input, Stop> {
        let input = self.store.input(&run.run_id).await?;
        input.ok_or_else(|| Stop::Failed(EndReason::SetupFailed, "The run has no input.".into()))
    }

    async fn context(&self, run: &Run, input: &Input) -> Result<Context, Stop> {
        let model = self.models.get(input.model.as_deref());
        let model = model.map_err(|unknown| Stop::Failed(EndReason::SetupFailed, unknown.to_string()))?;
        let (history, system) = tokio::try_join!(history::load(&self.store, run, input), prompt::system(self, run))?;
        let tools = self.registry.tools(&run.owner).into_iter().map(|tool| ToolSpec {
            name: tool.name,
            description: tool.description,
            schema: tool.schema,
        });
        Ok(Context { system, history, tools: tools.collect(), model })
    }
}
