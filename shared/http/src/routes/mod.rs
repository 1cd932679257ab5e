//! One file per resource.

pub(crate) mod actions;
pub(crate) mod agent_chat;
pub(crate) mod events;
pub(crate) mod healthz;
pub(crate) mod mcp;
pub(crate) mod presence;
pub(crate) mod process_run;
pub(crate) mod resume;
pub(crate) mod runs;
pub(crate) mod state;
pub(crate) mod state_events;
pub(crate) mod threads;
pub(crate) mod window;
