//! Our request as rig's. rig adapts it to each wire: it keeps the ids of calls, answers what is unanswered, and
//! writes calls out as text where a request declares no tools (Bedrock refuses tool blocks without a `toolConfig`).

use rig_core::completion::{CompletionRequest, ToolDefinition};
use rig_core::message::{
    self, AssistantContent, AssistantMessage, CallId, Message as RigMessage, Text, ToolCall, ToolFunction, ToolName,
    ToolResultContent, UserContent,
};

use super::replay;
use crate::{Message, ModelError, Request, ToolResult, ToolSpec, ToolUse};

/// How a wire takes the parts of the system prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SystemParts {
    /// One block per part, so that a provider's prompt cache can keep the stable ones.
    Separate,
    /// One message: servers that imitate OpenAI often take a single system message only.
    Joined,
}

pub(crate) fn convert(request: Request, system: SystemParts) -> Result<CompletionRequest, ModelError> {
    let mut history = instructions(request.system, system);
    for message in request.messages {
        history.push(turn(message)?);
    }
    let tools = request.tools.into_iter().map(definition).collect::<Result<_, _>>()?;
    Ok(CompletionRequest::from(history).tools(tools).max_tokens(u64::from(request.max_tokens)))
}

fn instructions(parts: Vec<String>, system: SystemParts) -> Vec<RigMessage> {
    let parts = parts.into_iter().filter(|part| !part.trim().is_empty());
    match system {
        SystemParts::Separate => parts.map(RigMessage::system).collect(),
        SystemParts::Joined => {
            let joined = parts.collect::<Vec<_>>().join("\n\n");
            if joined.is_empty() { Vec::new() } else { vec![RigMessage::system(joined)] }
        }
    }
}

fn turn(message: Message) -> Result<RigMessage, ModelError> {
    Ok(match message {
        Message::User { results, text } => {
            let mut content = results.into_iter().map(result).collect::<Result<Vec<_>, _>>()?;
            content.extend(text.map(UserContent::text));
            RigMessage::User { content }
        }
        Message::Assistant { reasoning, text, calls } => {
            let (origin, mut content) = replay::blocks(&reasoning);
            if !text.is_empty() {
                content.push(AssistantContent::Text(Text::new(text)));
            }
            for call in calls {
                content.push(AssistantContent::ToolCall(tool_call(call)?));
            }
            RigMessage::Assistant(AssistantMessage::new(content).with_origin(origin))
        }
    })
}

fn tool_call(call: ToolUse) -> Result<ToolCall, ModelError> {
    let function = ToolFunction::new(tool_name(call.name)?, call.input);
    Ok(ToolCall::new(CallId::from_wire(call.id), function))
}

fn result(result: ToolResult) -> Result<UserContent, ModelError> {
    // Anthropic refuses an empty text block, Bedrock an empty result.
    let output = if result.output.trim().is_empty() { "(no output)".to_owned() } else { result.output };
    Ok(UserContent::ToolResult(message::ToolResult {
        call: CallId::from_wire(result.id),
        name: tool_name(result.name)?,
        content: vec![ToolResultContent::text(output)],
        is_error: result.is_error,
    }))
}

fn definition(tool: ToolSpec) -> Result<ToolDefinition, ModelError> {
    Ok(ToolDefinition::new(tool_name(tool.name)?, tool.description, tool.schema))
}

fn tool_name(name: String) -> Result<ToolName, ModelError> {
    ToolName::new(name).map_err(|_| ModelError::Permanent { message: "a tool without a name cannot be sent".into() })
}
