//! Dispatch over HTTP, to a background worker on any host.

use tandem_auth::SignedDispatch;

use super::{Dispatch, DispatchError, TIMEOUT};

/// Posts to `/_agent-native/agent-chat/_process-run` of a background host.
pub struct HttpDispatch {
    client: reqwest::Client,
    url: String,
}

impl HttpDispatch {
    /// `base`: `http://host:port` of the background host.
    pub fn new(base: &str) -> Result<Self, DispatchError> {
        let client = reqwest::Client::builder().timeout(TIMEOUT).build();
        let client = client.map_err(|e| DispatchError(e.to_string()))?;
        Ok(HttpDispatch {
            client,
            url: format!("{}/_agent-native/agent-chat/_process-run", base.trim_end_matches('/')),
        })
    }
}

#[async_trait::async_trait]
impl Dispatch for HttpDispatch {
    async fn dispatch(&self, dispatch: &SignedDispatch) -> Result<(), DispatchError> {
        let answer = self.client.post(&self.url).json(dispatch).send().await;
        let answer = answer.map_err(|e| DispatchError(e.without_url().to_string()))?;
        let status = answer.status();
        if status.is_success() { Ok(()) } else { Err(DispatchError(format!("the background answered {status}"))) }
    }
}
