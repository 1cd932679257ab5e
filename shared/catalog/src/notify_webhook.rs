//! `notify-webhook`

use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode, Url};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tandem_actions::{ActionDef, ActionError, Context, Effect, action};

use crate::settings::Settings;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// Pauses before the second and the third try. Each try has the same key, so none of them notifies twice.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(1)];

/// Notify people outside the inbox: posts a text to the webhook of this deployment, such as a chat channel.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Input {
    /// What to say.
    #[schemars(length(min = 1, max = 4000))]
    text: String,
}

/// The webhook has accepted the text.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    /// What the webhook answered.
    status: u16,
}

pub(crate) const ACTION: ActionDef =
    action("notify-webhook").effect(Effect::Keyed).timeout(Duration::from_secs(30)).run(&notify);

/// Where notifications go; none: nowhere.
pub(crate) struct Webhook(Option<(Client, Url)>);

impl Webhook {
    /// An error says what is wrong with the settings.
    pub(crate) fn new(settings: &Settings) -> Result<Self, String> {
        let Some(url) = &settings.webhook_url else { return Ok(Webhook(None)) };
        // The address itself is often the secret: it is never repeated.
        let url = Url::parse(url.trim()).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let url = url.ok_or("WEBHOOK_URL must be an http or https address")?;
        let client = Client::builder()
            .redirect(Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(settings.webhook_timeout)
            .user_agent(concat!("tandem/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Webhook(Some((client.map_err(|error| error.to_string())?, url))))
    }
}

async fn notify(input: Input, ctx: &mut Context) -> Result<Output, ActionError> {
    let webhook = ctx.resource::<Webhook>()?;
    let Some((client, url)) = &webhook.0 else {
        return Err(ActionError::failed("not_configured", "No webhook is set up: the operator must set WEBHOOK_URL."));
    };
    let body = json!({"text": input.text});
    let mut pauses = PAUSES.into_iter();
    loop {
        let request = client.post(url.clone()).header("Idempotency-Key", ctx.idempotency_key()).json(&body);
        // The body of the answer is of no interest, and may be long.
        let failed = match request.send().await.map(|response| response.status()) {
            Ok(status) if status.is_success() => return Ok(Output { status: status.as_u16() }),
            Ok(status) if !may_pass(status) => {
                let text = format!("The webhook refused the text with status {}.", status.as_u16());
                return Err(ActionError::failed("webhook_refused", text));
            }
            Ok(status) => format!("The webhook fails with status {}", status.as_u16()),
            Err(error) => {
                tracing::warn!(error = %error.without_url(), "the webhook did not answer");
                "The webhook does not answer".to_owned()
            }
        };
        match pauses.next() {
            Some(pause) => tokio::time::sleep(pause).await,
            None => {
                let text = format!("{failed}; it may have taken the text all the same.");
                return Err(ActionError::failed("webhook_unavailable", text));
            }
        }
    }
}

/// Whether the same request may be accepted a moment later. 409: an earlier try with this key is under way.
fn may_pass(status: StatusCode) -> bool {
    matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT | StatusCode::CONFLICT)
        || status.is_server_error()
}
