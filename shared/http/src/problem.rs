//! Problems as responses. The request's id is added, and the body written, in one place: `request::identify`.

use std::time::Instant;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tandem_protocol::{Code, Fault, Problem};
use tandem_runs::{AbortError, NotAdmitted, StartError, ThreadError, TooMany};
use tandem_store::{StateError, StoreError};

use crate::tally::Tally;

/// A refusal or a failure of a route.
#[derive(Debug)]
pub struct ApiError(pub Box<Problem>);

impl ApiError {
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        ApiError(Box::new(Problem::new(code, detail)))
    }

    /// A fault of the input at one place.
    pub fn invalid(pointer: &str, detail: impl Into<String>) -> Self {
        let problem = Problem::new(Code::InvalidInput, "The request has a fault.").at(pointer, detail);
        ApiError(Box::new(problem))
    }

    /// Faults of the input, each with its place.
    pub(crate) fn faults(faults: Vec<Fault>) -> Self {
        let problem = Problem::new(Code::InvalidInput, "The request has faults; all of them are in `errors`.");
        ApiError(Box::new(Problem { errors: faults, ..problem }))
    }

    pub fn not_found(detail: &str) -> Self {
        Self::new(Code::NotFound, detail)
    }

    /// Also for what is no id of a thread.
    pub(crate) fn no_thread() -> Self {
        Self::not_found("There is no such thread, or it is not yours.")
    }

    /// Also for what is no name of a scope.
    pub(crate) fn no_scope() -> Self {
        Self::not_found(
            "There is no such scope, or it is not yours: there are user, tenant, thread:<id> and app:<name>.",
        )
    }

    pub fn method_not_allowed() -> Self {
        Self::new(
            Code::MethodNotAllowed,
            "This path takes other methods: the header Allow names them, and `curl -i` shows it.",
        )
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.0.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = status.into_response();
        if let Some(seconds) = self.0.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.0.code == Code::Unauthenticated {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(self.0);
        response
    }
}

impl From<Box<Problem>> for ApiError {
    fn from(problem: Box<Problem>) -> Self {
        ApiError(problem)
    }
}

impl From<StoreError> for ApiError {
    /// The cause goes to the log, under the request's id; callers learn what to do.
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, "store");
        match error {
            StoreError::Unavailable(_) => {
                let mut problem = Problem::new(Code::StoreUnavailable, "Nothing was lost; try again in a moment.");
                problem.retry_after = Some(1);
                ApiError(Box::new(problem))
            }
            StoreError::Rejected(_) | StoreError::Corrupt { .. } => {
                Self::new(Code::Internal, "Report the request id to the operator.")
            }
        }
    }
}

impl From<StateError> for ApiError {
    fn from(error: StateError) -> Self {
        match error {
            StateError::NoSuchScope(_) => Self::no_scope(),
            StateError::TooDeep(_) => Self::invalid("", error.to_string()),
            StateError::BadKey { detail, .. } => Self::invalid("path {key}", detail),
            StateError::TooLarge(text) => Self::new(Code::TooLarge, text),
            StateError::Expired { .. } => Self::new(
                Code::Expired,
                "The changes after that position are not there any more. Read GET /state/{scope} again and go on from its rev.",
            ),
            StateError::Store(error) => error.into(),
        }
    }
}

impl From<StartError> for ApiError {
    fn from(error: StartError) -> Self {
        match error {
            StartError::ThreadNotFound => {
                let detail = "There is no such thread. Leave threadId out to start a new one.";
                let problem = Problem::new(Code::NotFound, detail).at("/threadId", "is not a thread of yours");
                ApiError(Box::new(problem))
            }
            StartError::Busy { active } => {
                let detail = format!(
                    "The run {active} is under way in the thread. Wait for it, stop it with POST /runs/{active}/abort, or \
                     send \"whenBusy\": \"interrupt\"."
                );
                let mut problem = Problem::new(Code::ThreadBusy, detail);
                problem.active_run_id = Some(active.to_string());
                ApiError(Box::new(problem))
            }
            StartError::Taken => {
                let detail = "The turn was said with another text. Send an id of its own for a new message; to put it in \
                              the place of the earlier one and of all that was said since, send \"edit\": true, or with \
                              the AI SDK's messages its messageId.";
                ApiError(Box::new(Problem { title: "The id is taken".into(), ..Problem::new(Code::Conflict, detail) }))
            }
            StartError::NothingToEdit => {
                let detail = "There is no such message in the thread. Without \"edit\" it is said as a new one.";
                ApiError(Box::new(Problem::new(Code::NotFound, detail).at("/turnId", "is no message of the thread")))
            }
            StartError::NotYours => {
                let detail = "Only who said a message may edit it, or have it answered again once more has been said \
                              since. Say yours as a new one.";
                Self::new(Code::Forbidden, detail)
            }
            StartError::Expired => {
                Self::new(Code::Expired, "The log has been deleted; read GET /threads/{thread}/messages.")
            }
            StartError::NotAsked(text) => Self::new(Code::Conflict, text),
            StartError::UnknownModel(text) => Self::invalid("/model", text),
            StartError::TooMany(too_many) => too_many.into(),
            StartError::Store(error) => error.into(),
        }
    }
}

static THROTTLED: Tally = Tally::new();

impl From<TooMany> for ApiError {
    fn from(TooMany { text, retry_after }: TooMany) -> Self {
        if let Some(count) = THROTTLED.add(Instant::now()) {
            tracing::info!(count, "requests throttled");
        }
        ApiError(Box::new(Problem { retry_after: Some(retry_after), ..Problem::new(Code::Throttled, text) }))
    }
}

impl From<NotAdmitted> for ApiError {
    fn from(error: NotAdmitted) -> Self {
        match error {
            NotAdmitted::TooMany(too_many) => too_many.into(),
            NotAdmitted::Store(error) => error.into(),
        }
    }
}

impl From<ThreadError> for ApiError {
    fn from(error: ThreadError) -> Self {
        match error {
            ThreadError::NotFound => Self::no_thread(),
            ThreadError::NotOwner => {
                Self::new(Code::Forbidden, "The thread is shared with you; only its owner may do this.")
            }
            ThreadError::Store(error) => error.into(),
        }
    }
}

impl From<AbortError> for ApiError {
    fn from(error: AbortError) -> Self {
        match error {
            AbortError::NotFound => Self::not_found("There is no such run, or it is not yours."),
            AbortError::Store(error) => error.into(),
        }
    }
}
