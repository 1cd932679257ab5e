//! Calls that a person must agree to. An MCP client is somebody's agent, so it is asked as ours is.
//!
//! Where the client can ask its person (`elicitation`, since the revision of 2026-07-28 in answer to the call itself),
//! the call is answered with the question and a sealed state; the client sends the call again with the answer and that
//! state. Nothing is kept here in between. The state holds for one person, one action and exactly one input, for
//! [`VALID`]; it carries the idempotency key of the call, so that an approval that is sent twice has one effect.
//!
//! Older clients keep a connection for such questions, and here are no connections: their calls are refused, with what
//! a person can do instead.

use std::collections::BTreeMap;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, InputRequest, InputRequiredResult, ProtocolVersion, RequestStateCodec, SealOptions,
};
use rmcp::service::RequestContext;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tandem_actions::IdempotencyKey;
use tandem_auth::DispatchKeys;
use tandem_protocol::{Code, Principal};
use tandem_store::new_id;

use crate::ApiError;

/// How long a question may lie.
const VALID: Duration = Duration::from_secs(15 * 60);
/// Name of the question, and of the one field of its form.
const QUESTION: &str = "approval";
const FIELD: &str = "approve";
/// What the key that seals is made for.
const PURPOSE: &str = "tandem.mcp-approval.v1";

/// What becomes of a call that needs a person.
pub(super) enum Decision {
    /// It may run, as the call with this key.
    Approved(IdempotencyKey),
    /// The client is to ask.
    Ask(Box<InputRequiredResult>),
    Refused(ApiError),
}

/// A call whose input has been checked.
pub(super) struct Asked<'a> {
    pub(super) principal: &'a Principal,
    pub(super) action: &'a str,
    pub(super) input: &'a Value,
    /// The client's own key of the call.
    pub(super) key: Option<IdempotencyKey>,
}

#[derive(Serialize, Deserialize)]
struct Sealed {
    key: String,
}

/// Whether a person has agreed to this call.
pub(super) fn decide(
    asked: Asked<'_>,
    params: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
    keys: &DispatchKeys,
) -> Decision {
    let Ok(codec) = codec(keys) else {
        return Decision::Refused(ApiError::new(Code::Internal, "Approvals cannot be sealed: a fault on our side."));
    };
    let bound = asked.bound();
    let answer = params.input_responses.as_ref().and_then(|answers| answers.get(QUESTION));
    let key = match &params.request_state {
        None if can_ask(context) => asked.key.clone().map_or_else(new_id, |key| key.as_str().to_owned()),
        None => return Decision::Refused(ApiError::new(Code::ApprovalRequired, asked.by_hand())),
        Some(state) => match codec.open_json_with::<Sealed>(state, &bound) {
            Ok(sealed) => sealed.key,
            Err(error) => {
                tracing::info!(%error, action = asked.action, "an approval was not accepted");
                let text = "The approval is for another call, or older than 15 minutes. Nothing was run. Call again \
                            without requestState, and the person will be asked again.";
                return Decision::Refused(ApiError::new(Code::ApprovalRequired, text));
            }
        },
    };
    match answer {
        Some(answer) if params.request_state.is_some() => {
            let answer: Option<ElicitResult> = serde_json::from_value(answer.clone()).ok();
            let agreed = |answer: &ElicitResult| {
                let field = answer.content.as_ref().and_then(|content| content.get(FIELD));
                answer.action == ElicitationAction::Accept && field == Some(&Value::Bool(true))
            };
            match (answer.as_ref().is_some_and(agreed), IdempotencyKey::new(key)) {
                (true, Ok(key)) => Decision::Approved(key),
                _ => {
                    let text = "The person did not agree. Nothing was run. Do not try again unless asked to.";
                    Decision::Refused(ApiError::new(Code::Denied, text))
                }
            }
        }
        _ => {
            let options = SealOptions::new().associated_data(&bound).ttl(VALID);
            match (codec.seal_json_with(&Sealed { key }, &options), form()) {
                (Ok(state), Some(form)) => Decision::Ask(Box::new(asked.question(state, form))),
                _ => {
                    Decision::Refused(ApiError::new(Code::Internal, "The question cannot be put: a fault on our side."))
                }
            }
        }
    }
}

impl Asked<'_> {
    /// What an approval is good for.
    fn bound(&self) -> Vec<u8> {
        // As JSON, no two lists of texts are the same bytes.
        let Principal { tenant, user, .. } = self.principal;
        let input = self.input.to_string();
        serde_json::to_vec(&[tenant.as_str(), user.as_str(), self.action, input.as_str()]).unwrap_or_default()
    }

    fn question(&self, state: String, form: ElicitationSchema) -> InputRequiredResult {
        let message = format!("May {} run with exactly this input?\n{:#}", self.action, self.input);
        let params = ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema: form };
        let request = InputRequest::Elicitation(ElicitRequest::new(params));
        InputRequiredResult::new(Some(BTreeMap::from([(QUESTION.to_owned(), request)])), Some(state))
    }

    fn by_hand(&self) -> String {
        let name = self.action;
        format!(
            "{name} needs a person's agreement, and this client cannot ask for it here: that takes MCP 2026-07-28 with \
             the capability `elicitation`. Nothing was run. The person can run it with `tandem action {name}` or \
             /api/{name}, or have the agent of the application ask them in its chat."
        )
    }
}

/// Whether the client said, with this request, that it can show its person a form.
fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    let new = |version: ProtocolVersion| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str();
    let has_form = |capabilities: ClientCapabilities| {
        // Saying no kind means forms.
        capabilities.elicitation.is_some_and(|can| can.form.is_some() || can.url.is_none())
    };
    context.protocol_version().is_some_and(new) && context.client_capabilities().is_some_and(has_form)
}

fn form() -> Option<ElicitationSchema> {
    ElicitationSchema::builder()
        .required_bool_with(FIELD, |field| field.title("Yes, do it").with_default(false))
        .build()
        .ok()
}

fn codec(keys: &DispatchKeys) -> Result<RequestStateCodec, rmcp::model::RequestStateError> {
    let keys = keys.derive(PURPOSE);
    let first = keys.first().map(|(name, _)| name.clone()).unwrap_or_default();
    RequestStateCodec::new_with_keyring(first, keys)
}
