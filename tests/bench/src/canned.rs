//! A store that answers at once and keeps nothing, so that what is measured is the runtime.
//!
//! Reads are answered as the engine answered the same request once, or with "nothing there"; writes always succeed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

pub(crate) struct Canned {
    url: String,
    shared: Arc<Shared>,
}

/// Status and body.
type Answer = (u16, String);

struct Shared {
    engine: String,
    /// Answers by operation and body.
    known: Mutex<HashMap<(String, Vec<u8>), Answer>>,
    /// The engine is not asked any more.
    sealed: std::sync::atomic::AtomicBool,
}

impl Canned {
    /// Until it is sealed, `engine` is asked what is not known.
    pub(crate) async fn before(engine: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new(Shared { engine: engine.to_owned(), known: Mutex::default(), sealed: false.into() });
        let server = Arc::clone(&shared);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                stream.set_nodelay(true).unwrap();
                tokio::spawn(serve(stream, Arc::clone(&server)));
            }
        });
        Canned { url, shared }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn seal(&self) {
        self.shared.sealed.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

/// Answers the requests of one connection until it is closed.
async fn serve(mut stream: TcpStream, shared: Arc<Shared>) -> Option<()> {
    let mut buffer = Vec::new();
    loop {
        let (operation, body, used) = loop {
            if let Some(request) = request(&buffer) {
                break request;
            }
            if stream.read_buf(&mut buffer).await.ok()? == 0 {
                return None;
            }
        };
        buffer.drain(..used);
        let (status, answer) = shared.answer(operation, body).await;
        let head = format!(
            "HTTP/1.1 {status} Answer\r\ncontent-type: application/x-amz-json-1.0\r\ncontent-length: {}\r\n\r\n",
            answer.len()
        );
        stream.write_all((head + &answer).as_bytes()).await.ok()?;
    }
}

/// A complete request: its operation, its body, and its length.
fn request(buffer: &[u8]) -> Option<(String, Vec<u8>, usize)> {
    let head_length = buffer.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(&buffer[..head_length]).ok()?;
    let header = |wanted: &str| {
        let mut headers = head.lines().filter_map(|line| line.split_once(':'));
        headers.find_map(|(name, value)| name.eq_ignore_ascii_case(wanted).then(|| value.trim()))
    };
    let length: usize = header("content-length").map_or(0, |length| length.parse().unwrap());
    let body = buffer.get(head_length..head_length + length)?.to_vec();
    let operation = header("x-amz-target")?.rsplit('.').next()?.to_owned();
    Some((operation, body, head_length + length))
}

impl Shared {
    async fn answer(&self, operation: String, body: Vec<u8>) -> Answer {
        let sealed = self.sealed.load(std::sync::atomic::Ordering::Relaxed);
        if sealed && !matches!(operation.as_str(), "GetItem" | "Query") {
            return nothing("{}");
        }
        let key = (operation, body);
        if let Some(known) = self.known.lock().unwrap().get(&key) {
            return known.clone();
        }
        match (sealed, key.0.as_str()) {
            (true, "Query") => nothing(r#"{"Items":[],"Count":0,"ScannedCount":0}"#),
            (true, _) => nothing("{}"),
            (false, _) => {
                let (operation, body) = &key;
                let client = tandem_tests::Api::new(&self.engine);
                let asked = client.request(reqwest::Method::POST, "/").body(body.clone());
                let asked = asked.header("x-amz-target", format!("DynamoDB_20120810.{operation}"));
                let asked = asked.header("content-type", "application/x-amz-json-1.0");
                let asked = asked.header("x-amz-date", "20260101T000000Z");
                let signature = "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0";
                let answer = asked.header("authorization", signature).send().await.unwrap();
                let answer = (answer.status().as_u16(), answer.text().await.unwrap());
                self.known.lock().unwrap().insert(key, answer.clone());
                answer
            }
        }
    }
}

fn nothing(body: &str) -> Answer {
    (200, body.to_owned())
}
