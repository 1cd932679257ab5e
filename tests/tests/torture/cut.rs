//! Somebody who ends a turn before its time, and does not rest until it is known to have ended.

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use tandem_tests::{Api, Log, new_id};
use tokio::sync::watch;

use crate::client::{body, follow_for, patiently, post_and_follow};

/// What the turn after another says.
pub(crate) const NEXT: &str = "@say 2 every 0";

/// How a turn is ended, as soon as its run has said so many chunks.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cut {
    Never,
    Stop {
        after: usize,
    },
    /// Another message of the same thread takes its place.
    Interrupt {
        after: usize,
    },
}

impl Cut {
    /// Ends the turn by `api`; gives what was received of the turn that took its place, if one did.
    pub(crate) async fn make(self, api: Api, thread: String, mut runs: watch::Receiver<Vec<String>>) -> Vec<Log> {
        let (Cut::Stop { after } | Cut::Interrupt { after }) = self else { return Vec::new() };
        // An error: the turn was never accepted.
        let Ok(run) = runs.wait_for(|runs| !runs.is_empty()).await.map(|runs| runs[0].clone()) else {
            return Vec::new();
        };
        follow_for(&api, &run, after).await;
        match self {
            Cut::Never => Vec::new(),
            Cut::Stop { .. } => {
                let stop = || api.request(Method::POST, &format!("/runs/{run}/abort"));
                let stopped = ended(stop).await;
                assert_eq!(ended(stop).await, stopped, "a stop that is repeated has the same answer");
                Vec::new()
            }
            Cut::Interrupt { .. } => {
                let mut message = body(&thread, &new_id(), NEXT);
                message["whenBusy"] = json!("interrupt");
                let (tell, _runs) = watch::channel(Vec::new());
                post_and_follow(api, message, tell).await
            }
        }
    }
}

/// The status and the reason that the answer to a stop tells: those of a run that has ended, by itself or so.
async fn ended(stop: impl Fn() -> RequestBuilder) -> (Value, Value) {
    let response = patiently(stop).await;
    let (status, text) = (response.status(), response.text().await.unwrap_or_default());
    assert!(status.is_success(), "a stop was answered with {status}: {text}");
    let run: Value = serde_json::from_str(&text).unwrap();
    let told = (run["status"].clone(), run["endReason"].clone());
    let has_ended = ["aborted", "completed", "failed"].iter().any(|ended| told.0 == *ended);
    assert!(has_ended, "a stop was answered with {text}");
    told
}
