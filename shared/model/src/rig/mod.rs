//! Asks a provider through rig: our request becomes rig's, rig's stream becomes our events.
//!
//! Of rig we use the wires and the decoders, neither its agent loop nor any retry. What all providers share is
//! here; the files beside this module hold what is theirs: a client and its credentials.

mod answer;
mod replay;
mod request;
mod silence;

pub(crate) use request::{SystemParts, convert};
pub(crate) use silence::Patient;

use rig_core::completion::CompletionRequest;
use rig_core::driver::Transport;
use rig_core::operation::Completion;
use rig_core::wire::Wire;

use crate::classify::{Provider, classify};
use crate::{Answer, ModelError};

/// Asks once. Resolves when the first event has arrived, so that a refused connection or an HTTP error is an
/// error of the call and only a failure in mid-answer is an item of the answer. `secret`: what the request is sent with.
pub(crate) async fn ask<W, T>(
    provider: &'static Provider,
    secret: Option<&str>,
    model: &rig_core::Model<W, Patient<T>>,
    request: CompletionRequest,
) -> Result<Answer, ModelError>
where
    W: Wire<Op = Completion>,
    T: Transport<W>,
{
    let stream = model.stream(request).map_err(|error| classify(provider, secret, &error))?;
    crate::started(answer::events(provider, secret.map(str::to_owned), stream)).await
}
