//! Following a run for the person at the terminal, and what is typed next where that ends before the run is done.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Error, Result, anyhow};
use reqwest::Method;
use serde_json::Value;
use tandem_protocol::{Chunk, Transcript};
use tokio::signal::unix::{SignalKind, signal};

use crate::client::Client;
use crate::output::say;
use crate::refusal::Refusal;

/// What shells say of a program that Ctrl-C ended.
const INTERRUPTED: i32 = 130;

/// How far a run has been followed.
#[derive(Clone)]
struct Place {
    run: String,
    elsewhere: String,
    /// The number of the first chunk that was not seen.
    next: Arc<AtomicU64>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "The run goes on: tandem tail {}", self.run)?;
        if let Some(after) = self.next.load(Ordering::Relaxed).checked_sub(1) {
            write!(f, " --after {after}")?;
        }
        f.write_str(&self.elsewhere)
    }
}

/// Follows a run as [`Client::follow`] does. Who is cut off, or stops with Ctrl-C, is told how to come back: the run
/// goes on without this program. `is_there`: the system has said that there is such a run.
pub(crate) async fn watch(
    client: &Client,
    run: &str,
    after: Option<u64>,
    is_there: bool,
    mut each: impl FnMut(u64, &Value),
) -> Result<String> {
    let begin = after.map_or(0, |after| after.saturating_add(1));
    let place = Place { run: run.to_owned(), elsewhere: client.elsewhere(), next: Arc::new(begin.into()) };
    listen()?;
    now_at(Some(place.clone()));
    let followed = client
        .follow(run, after, is_there, |seq, chunk| {
            each(seq, chunk);
            place.next.store(seq.saturating_add(1), Ordering::Relaxed);
        })
        .await;
    now_at(None);
    if let Err(error) = &followed {
        let is_gone = error.downcast_ref::<Refusal>().is_some_and(Refusal::is_gone);
        let is_there = is_there || place.next.load(Ordering::Relaxed) > begin;
        if is_there && !is_gone {
            say(format_args!("\n{place}"));
        }
    }
    followed
}

/// What is followed now.
static PLACE: Mutex<Option<Place>> = Mutex::new(None);

fn now_at(place: Option<Place>) {
    *PLACE.lock().unwrap_or_else(PoisonError::into_inner) = place;
}

/// Ctrl-C ends the program here from now on: the system does not do so any more where somebody listens.
fn listen() -> Result<()> {
    static LISTENING: AtomicBool = AtomicBool::new(false);
    if LISTENING.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    let mut ctrl_c = signal(SignalKind::interrupt())?;
    // In a task of its own: writing to a reader that is in no hurry may hold others up.
    tokio::spawn(async move {
        if ctrl_c.recv().await.is_some() {
            if let Some(place) = &*PLACE.lock().unwrap_or_else(PoisonError::into_inner) {
                say(format_args!("\n{place}"));
            }
            std::process::exit(INTERRUPTED);
        }
    });
    Ok(())
}

/// The lines that answer what a run asks, as an error: it does not go on by itself. Without the calls that were
/// answered already.
pub(crate) fn asks(client: &Client, run: &str, transcript: &Transcript, answered: &[&str]) -> Error {
    let elsewhere = client.elsewhere();
    let calls = transcript.awaiting().filter(|call| !answered.contains(&call.id.as_str()));
    let lines = calls.map(|call| format!("\n  tandem approve {run} {}{elsewhere}  # {}", call.id, call.name));
    anyhow!("a person must agree first; --refuse refuses:{}", lines.collect::<String>())
}

/// The run that goes on from one that asked a person, once that was answered; until then an error that says how to.
pub(crate) async fn goes_on_as(client: &Client, run: &str) -> Result<String> {
    let record = client.first(Method::GET, &format!("/runs/{run}"), None).await?;
    let thread = record["threadId"].as_str().context("the run names no thread")?;
    if let Some(next) = continued(client, run, thread, &record["turnId"]).await? {
        return Ok(next);
    }
    let state = client.first(Method::GET, &format!("/threads/{thread}"), None).await?;
    if state["awaitingRunId"] != run {
        // Answered between the two looks.
        if let Some(next) = continued(client, run, thread, &record["turnId"]).await? {
            return Ok(next);
        }
        return Err(anyhow!(
            "the run asked a person, and waits for no answer any more: it was stopped, or the conversation went on"
        ));
    }
    let answered = state["answered"].as_array().into_iter().flatten();
    let answered: Vec<&str> = answered.filter_map(|call| call["toolCallId"].as_str()).collect();
    let mut transcript = Transcript::default();
    client
        .follow(run, None, true, |_, chunk| {
            if let Ok(chunk) = serde_json::from_value::<Chunk>(chunk.clone()) {
                transcript.apply(&chunk);
            }
        })
        .await?;
    Err(asks(client, run, &transcript, &answered))
}

/// The run that continues `run`. A thread names the last run of each turn, and each names the one before it.
pub(crate) async fn continued(client: &Client, run: &str, thread: &str, turn: &Value) -> Result<Option<String>> {
    let mut from = String::new();
    loop {
        let page = client.first(Method::GET, &format!("/runs?threadId={thread}{from}"), None).await?;
        for last in page["items"].as_array().into_iter().flatten().filter(|last| last["turnId"] == *turn) {
            let mut later = last.clone();
            while let Some(before) = later["continues"].as_str() {
                if before == run {
                    return Ok(later["runId"].as_str().map(str::to_owned));
                }
                later = client.first(Method::GET, &format!("/runs/{before}"), None).await?;
            }
        }
        match page["cursor"].as_str() {
            Some(cursor) => from = format!("&cursor={cursor}"),
            None => return Ok(None),
        }
    }
}
