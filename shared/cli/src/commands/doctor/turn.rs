//! A turn, from the request to its end: does it stream, who drives it, does the model answer, is it stored.

use std::time::{Duration, Instant};

use reqwest::{Method, Response};
use serde_json::{Value, json};
use tandem_store::new_id;

use super::connection::{Health, send};
use super::report::Report;
use crate::client::Client;
use crate::refusal::told;

/// What the scripted model says: a second of words.
const SCRIPT: &str = "@say 20 every 50ms";
const QUESTION: &str = "Answer with one short sentence: what can you do here?";
/// Words that are said over a second, and arrive within less than this, were held back.
const SPREAD: Duration = Duration::from_millis(300);
/// How long a turn may take to its end.
const PATIENCE: Duration = Duration::from_secs(120);

/// What a client sees of a turn.
#[derive(Default)]
struct Seen {
    chunks: u64,
    /// The holders, each with the time since the request.
    attempts: Vec<(Value, Duration)>,
    /// When words arrived.
    words: Vec<Duration>,
    /// The last chunk.
    end: Value,
}

/// Takes a turn in a conversation of its own, and deletes it.
pub(super) async fn take(client: &Client, health: &Health, model: &str, report: &mut Report) {
    let (thread, began) = (new_id(), Instant::now());
    let says = if model == "scripted" { SCRIPT } else { QUESTION };
    let part = json!({"type": "text", "text": says});
    let message = json!({"id": format!("m-{}", new_id()), "role": "user", "parts": [part]});
    let request = client.stream(Method::POST, "/api/agent-chat").json(&json!({"id": thread, "messages": [message]}));
    let advice = "The detail says what to do; the foreground's log has the rest, under the request id.";
    let response = match send(request.timeout(PATIENCE)).await {
        Ok(response) if response.status().is_success() => response,
        Ok(response) => {
            let status = response.status();
            return report.fail("turn", told(status, &response.json().await.unwrap_or_default()), advice);
        }
        Err(found) => return report.fail("turn", found, advice),
    };
    let run = response.headers().get("x-run-id").and_then(|run| run.to_str().ok()).unwrap_or_default().to_owned();
    let mut seen = Seen::default();
    seen.read(response, began).await;
    if !seen.is_over() {
        // A window ended, or somebody in between cut it: the rest comes from the log.
        let after = seen.chunks.checked_sub(1);
        let follow = client.follow(&run, after, false, |_, chunk| seen.add(chunk, began.elapsed()));
        if let Ok(Err(error)) = tokio::time::timeout(PATIENCE, follow).await {
            report.warn("resume", format!("{error:#}"), advice);
        }
    }
    streaming(&seen, model, report);
    dispatch(&seen, health, report);
    answered(&seen, model, report);
    stored(client, &run, seen.chunks, report).await;
    let deleted = send(client.request(Method::DELETE, &format!("/threads/{thread}"))).await;
    let kept =
        deleted.map_or_else(Some, |response| (!response.status().is_success()).then(|| response.status().to_string()));
    if let Some(found) = kept {
        report.warn("tidy up", found, format!("Delete the conversation {thread} yourself."));
    }
}

impl Seen {
    /// Reads the stream as it arrives; one that breaks off has ended.
    async fn read(&mut self, mut response: Response, began: Instant) {
        let mut rest = Vec::new();
        while let Ok(Some(bytes)) = response.chunk().await {
            let at = began.elapsed();
            rest.extend_from_slice(&bytes);
            while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = rest.drain(..=end).collect();
                let data = line.strip_prefix(b"data: ").and_then(|data| serde_json::from_slice(data).ok());
                if let Some(chunk) = data {
                    self.add(&chunk, at);
                }
            }
        }
    }

    fn add(&mut self, chunk: &Value, at: Duration) {
        self.chunks += 1;
        match chunk["type"].as_str() {
            Some("data-attempt") => self.attempts.push((chunk["data"].clone(), at)),
            Some("text-delta" | "reasoning-delta") => self.words.push(at),
            _ => {}
        }
        self.end = chunk.clone();
    }

    fn is_over(&self) -> bool {
        matches!(self.end["type"].as_str(), Some("finish" | "abort" | "error"))
    }
}

/// Words must arrive as they are said.
fn streaming(seen: &Seen, model: &str, report: &mut Report) {
    let (Some(first), Some(last)) = (seen.words.first(), seen.words.last()) else {
        return report.warn("streaming", "no words came", "See the check of the model.");
    };
    let (spread, first) = ((*last - *first).as_millis(), first.as_millis());
    let found = format!("the first words after {first} ms, the last {spread} ms later");
    let advice = "Something holds the stream back: the Function URL needs InvokeMode RESPONSE_STREAM, a REST API \
                  ResponseTransferMode STREAM; a proxy must not buffer or compress text/event-stream.";
    if *last - seen.words[0] >= SPREAD {
        report.ok("streaming", found);
    } else if model == "scripted" {
        report.fail("streaming", format!("{found}, and they were said over a second"), advice);
    } else {
        report.warn("streaming", format!("{found}: too short to tell"), advice);
    }
}

/// Who drove the run, and how soon.
fn dispatch(seen: &Seen, health: &Health, report: &mut Report) {
    let Some((first, at)) = seen.attempts.first() else {
        let advice = "Nobody drove the run: look at the background's log, and at the sweeper's.";
        return report.fail("dispatch", "nobody claimed the run", advice);
    };
    let (holder, reason) = (first["holder"].as_str().unwrap_or_default(), first["reason"].as_str().unwrap_or_default());
    let found = format!("{holder} ({reason}) after {} ms", at.as_millis());
    match (holder, reason) {
        ("foreground", "claimed") if !health.durable_background => report.warn(
            "dispatch",
            format!("{found}: there is no background, each turn runs in its request"),
            "Set AGENT_CHAT_DURABLE_BACKGROUND=true (DurableBackground of the stack), unless it is meant so.",
        ),
        ("foreground", _) => report.fail(
            "dispatch",
            format!("{found}: nobody claimed the dispatch"),
            "Does the background start (its log, BackgroundErrorsAlarm)? Has it the same DISPATCH_KEYS? Is it throttled?",
        ),
        _ if seen.attempts.len() > 1 => report.warn(
            "dispatch",
            format!("{found}, and {} more holders after it", seen.attempts.len() - 1),
            "A holder died or its time was up: look at the background's log.",
        ),
        _ => report.ok("dispatch", found),
    }
}

fn answered(seen: &Seen, model: &str, report: &mut Report) {
    match seen.end["type"].as_str() {
        Some("finish") => {
            let tokens = &seen.end["messageMetadata"]["usage"]["outputTokens"];
            report.ok("model", format!("{model} answered with {} tokens", tokens.as_u64().unwrap_or(0)));
        }
        Some("error") => {
            let text = seen.end["errorText"].as_str().unwrap_or_default();
            report.fail(
                "model",
                format!("{model}: {text}"),
                "docs/operate.md, \"Why runs fail\", has the code in brackets.",
            );
        }
        _ => report.fail("model", format!("{model} gave no end"), "Look at the run's lines in the background's log."),
    }
}

/// What was streamed must be what the table has.
async fn stored(client: &Client, run: &str, streamed: u64, report: &mut Report) {
    let mut count = 0;
    match client.follow(run, None, false, |_, _| count += 1).await {
        Ok(_) if count == streamed => report.ok("log", format!("all {count} chunks are stored")),
        Ok(_) => report.fail(
            "log",
            format!("{streamed} chunks were streamed, and {count} are stored"),
            "Something in between changes the stream: ask the system without it.",
        ),
        Err(error) => report.fail("log", format!("{error:#}"), "The foreground's log says more."),
    }
}
