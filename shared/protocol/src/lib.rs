//! Every type that crosses a wire or is stored: ids, chunks, runs, messages, problems, requests.
//!
//! This crate knows no store, no HTTP and no clock; it depends on serde and schemars alone, so that every
//! other crate, and the TypeScript types made from it, can share one vocabulary.

mod chunk;
mod depth;
mod ids;
mod message;
pub mod pointer;
mod principal;
mod problem;
mod request;
mod request_body;
mod run;
mod trace;
mod transcript;

pub use chunk::{
    AttemptData, AttemptReason, CallData, Chunk, ContinueData, FinishReason, HolderKind, ProgressData, StateData, Usage,
};
pub use depth::{MAX_DEPTH, is_too_deep};
pub use ids::{ActionName, IdError, MessageId, RunId, TenantId, ThreadId, ToolCallId, TurnId, UserId};
pub use message::{Role, UiMessage};
pub use principal::{Caller, Principal};
pub use problem::{Code, Fault, Problem};
pub use request::{AgentChat, AgentChatError, ApprovalAnswer, MAX_MESSAGE_BYTES, ThreadChoice, Trigger};
pub use request_body::{AgentChatBody, AiSdkBody, NativeBody, SentMessage, SentTrigger, UserMessage, WhenBusy};
pub use run::{CountedIn, EndReason, Run, RunStatus, Seq};
pub use trace::{NoTraceId, TraceId};
pub use transcript::{Approval, CallState, End, Part, Step, ToolCall, Transcript};
