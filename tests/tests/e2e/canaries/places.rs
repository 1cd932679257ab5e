//! Where secrets are set, and the servers that say them back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::http::{HeaderMap, StatusCode, Uri};
use serde_json::{Value, json};
use tandem_testkit::issuer::{FakeIssuer, SigningKey};
use tandem_testkit::providers::{FakeProvider, Reply, Wire};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::{PRIVATE, SECRET};

const KEY: &str = "canary-secret-provider-key";

/// The system's surroundings, each with a secret of its own.
pub(crate) struct Places {
    issuer: FakeIssuer,
    key: SigningKey,
    pub(crate) provider: FakeProvider,
    webhook: String,
    mail: String,
    called: Arc<AtomicBool>,
    asked: Arc<AtomicBool>,
    pub(crate) ann: String,
}

/// What came out.
#[derive(Default)]
pub(crate) struct Swept {
    /// Told to whom it belongs.
    pub(crate) own: Vec<String>,
    pub(crate) others: Vec<String>,
}

impl Swept {
    pub(crate) async fn keep_own(&mut self, answer: reqwest::Response) {
        let head = format!("{} {:?}", answer.status(), answer.headers());
        self.own.push(head + &answer.text().await.unwrap());
    }
}

impl Places {
    pub(crate) async fn new() -> Self {
        let key = SigningKey::ec("c");
        let issuer = FakeIssuer::start(std::slice::from_ref(&key)).await;
        let (called, asked) = (Arc::default(), Arc::default());
        let ann = key.token(&claims(&issuer, "acme", "ann"));
        Places {
            webhook: webhook(Arc::clone(&called)).await,
            mail: mail_server(Arc::clone(&asked)).await,
            provider: FakeProvider::start(),
            issuer,
            key,
            called,
            asked,
            ann,
        }
    }

    pub(crate) fn env(&self) -> Vec<(&'static str, String)> {
        let provider = format!("http://{}", self.provider.address());
        vec![
            ("OIDC_ISSUER", self.issuer.url.clone()),
            ("OIDC_AUDIENCE", "tandem".into()),
            ("DISPATCH_KEYS", "{\"k\": \"canary-secret-dispatch-key\"}".into()),
            ("MODEL", "scripted".into()),
            ("MODELS", "anthropic/m,openai/m".into()),
            ("ANTHROPIC_API_KEY", KEY.into()),
            ("ANTHROPIC_BASE_URL", provider.clone()),
            ("OPENAI_API_KEY", KEY.into()),
            ("OPENAI_BASE_URL", format!("{provider}/v1")),
            ("AWS_REGION", "us-east-1".into()),
            ("AWS_ACCESS_KEY_ID", "AKIDOFNOBODY".into()),
            ("AWS_SECRET_ACCESS_KEY", "canary-secret-aws-key".into()),
            ("AWS_SESSION_TOKEN", "canary-secret-aws-session".into()),
            ("WEBHOOK_URL", format!("http://user:canary-secret-webhook@{}/canary-secret-path", self.webhook)),
            ("SMTP_URL", format!("smtp://user:canary-secret-smtp@{}", self.mail)),
        ]
    }

    /// Tokens of another person of the tenant, of another tenant, and such as are none.
    pub(crate) fn others(&self) -> Vec<String> {
        let bob = self.key.token(&claims(&self.issuer, "acme", "bob"));
        let eve = self.key.token(&claims(&self.issuer, "other", "ann"));
        vec![bob, eve, "canary-secret-garbage".into(), format!("{}x", self.ann)]
    }

    /// Replies to one turn each: failures that repeat the key and the prompt.
    pub(crate) fn provider_says(&self) -> Vec<Vec<Reply>> {
        let said = format!("you sent {KEY} and {PRIVATE}; Authorization: Bearer {KEY}");
        let error = |kind: &str| json!({"type": "error", "error": {"type": kind, "message": said}}).to_string();
        let json = "application/json";
        let once = |status, body: &str| vec![Reply::other(status, json, body)];
        let bad = Reply::other(400, json, &error("invalid_request_error"));
        vec![
            once(401, &error("authentication_error")),
            once(403, &error("permission_error")),
            once(400, &error("invalid_request_error")),
            once(413, &said),
            vec![Reply::other(500, json, &error("api_error")), bad.clone()],
            vec![Reply::other(502, "text/html", &format!("<pre>{said}</pre>")), bad.clone()],
            once(200, &said),
            vec![
                Reply::frames([Reply::frame(
                    Wire::Anthropic,
                    "error",
                    &serde_json::from_str(&error("invalid_request_error")).unwrap(),
                )]),
                bad,
            ],
        ]
    }

    pub(crate) fn webhook_was_called(&self) -> bool {
        self.called.load(Ordering::SeqCst)
    }

    pub(crate) fn mail_server_was_asked(&self) -> bool {
        self.asked.load(Ordering::SeqCst)
    }

    /// No text holds a secret, as it is or as HTTP's basic authentication and SMTP write it, nor a token.
    pub(crate) fn show_no_secret(&self, what: &str, texts: &[String]) {
        let (message, signature) = self.ann.rsplit_once('.').unwrap();
        let hidden = [SECRET, signature, message, "dXNlcjpjYW5hcnk", "Y2FuYXJ5LXNlY3JldC"];
        let lines = texts.iter().flat_map(|text| text.lines());
        let told: Vec<_> = lines.filter(|line| hidden.iter().any(|secret| line.contains(secret))).collect();
        assert!(told.is_empty(), "{what} has a secret: {told:#?}");
    }
}

fn claims(issuer: &FakeIssuer, tenant: &str, user: &str) -> Value {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    json!({"iss": issuer.url, "aud": "tandem", "sub": user, "org_id": tenant, "exp": now + 3600})
}

/// Fails, and says back where it was called and with what.
async fn webhook(called: Arc<AtomicBool>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let fail = async move |uri: Uri, headers: HeaderMap, body: String| {
        called.store(true, Ordering::SeqCst);
        (StatusCode::INTERNAL_SERVER_ERROR, format!("{uri} {headers:?} {body}"))
    };
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(fail)).await });
    address
}

/// Lets nobody in, and says back who wanted in with what.
async fn mail_server(asked: Arc<AtomicBool>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            tokio::spawn(refuse(socket, Arc::clone(&asked)));
        }
    });
    address
}

async fn refuse(socket: TcpStream, asked: Arc<AtomicBool>) -> std::io::Result<()> {
    let (read, mut write) = socket.into_split();
    let mut lines = BufReader::new(read).lines();
    write.write_all(b"220 test\r\n").await?;
    while let Some(line) = lines.next_line().await? {
        let answer = match line.split(' ').next().unwrap_or_default() {
            "EHLO" => "250-test\r\n250 AUTH PLAIN LOGIN".to_owned(),
            "AUTH" => {
                asked.store(true, Ordering::SeqCst);
                format!("535 not with canary-secret-smtp, for {line}")
            }
            _ => "250 ok".to_owned(),
        };
        write.write_all(format!("{answer}\r\n").as_bytes()).await?;
    }
    Ok(())
}
