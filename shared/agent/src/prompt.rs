//! The system prompt: the most stable part first, so that provider caches stay warm.

use tandem_protocol::Principal;

use crate::{Agent, Stop};

/// Instructions of the application, the same for everybody; then what belongs to this person.
///
/// What people and tools write is data: it is framed as such and never taken for instructions.
pub(crate) async fn system(agent: &Agent, principal: &Principal) -> Result<Vec<String>, Stop> {
    Ok(vec![
        agent.instructions.to_string(),
        format!("You work for the user {} of {}.", principal.user, principal.tenant),
    ])
}
