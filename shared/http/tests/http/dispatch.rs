//! The endpoint for dispatches reads little, and tells nobody why it refuses.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use futures::StreamExt;
use tandem_auth::{DevPrincipals, DispatchKeys, SignedDispatch};
use tandem_protocol::RunId;
use tandem_store::now_ms;

use crate::api::{Answer, Api};
use crate::sample;

async fn background() -> Api {
    sample::api().await.behind(Arc::new(DevPrincipals::new(Some("http://127.0.0.1:1"), false).unwrap()))
}

async fn send(api: &Api, body: Body) -> Answer {
    api.send(Request::post("/_agent-native/agent-chat/_process-run").body(body).unwrap()).await
}

fn signed() -> SignedDispatch {
    DispatchKeys::development().sign(&RunId::new("run_1").unwrap(), 1, now_ms())
}

/// A body in pieces of a kilobyte that has no end, and how many of them were asked for.
fn endless() -> (Body, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let pieces = futures::stream::repeat_with(move || {
        counted.fetch_add(1, Ordering::SeqCst);
        Ok::<_, std::io::Error>(vec![b' '; 1024])
    });
    (Body::from_stream(pieces), asked)
}

#[tokio::test]
async fn no_more_than_four_kilobytes_are_read_of_anybody() {
    let api = background().await;
    let (body, asked) = endless();
    assert_eq!(send(&api, body).await.problem(), (401, "unauthenticated"));
    assert!(asked.load(Ordering::SeqCst) <= 5, "{asked:?} KB were read");
    // Whoever says that it is longer is not read at all; the signature is good, and followed by white space.
    let long = serde_json::to_string(&signed()).unwrap() + &" ".repeat(4096);
    assert_eq!(send(&api, Body::from(long)).await.problem(), (401, "unauthenticated"));
    let short = serde_json::to_string(&signed()).unwrap() + &" ".repeat(1024);
    assert_eq!(send(&api, Body::from(short)).await.status, 202);
}

#[tokio::test(start_paused = true)]
async fn a_dispatch_that_does_not_arrive_is_given_up() {
    let api = background().await;
    let begun = futures::stream::iter([Ok::<_, std::io::Error>(b"{".to_vec())]);
    let body = Body::from_stream(begun.chain(futures::stream::pending()));
    let answer = tokio::time::timeout(Duration::from_secs(60), send(&api, body)).await.unwrap();
    assert_eq!(answer.problem(), (401, "unauthenticated"));
}

#[tokio::test]
async fn every_refusal_reads_the_same() {
    let api = background().await;
    let good = signed();
    let mut bodies = vec![String::new(), "{}".into(), "[]".into(), "NaN".into(), "[".repeat(4000)];
    let keys = DispatchKeys::parse("{\"other\": \"0123456789abcdef\"}").unwrap();
    let old = DispatchKeys::development().sign(&good.run_id, 1, now_ms() - 400_000);
    let early = DispatchKeys::development().sign(&good.run_id, 1, now_ms() + 400_000);
    let foreign = keys.sign(&good.run_id, 1, now_ms());
    let forged = SignedDispatch { version: 2, ..good.clone() };
    let upper = SignedDispatch { signature: good.signature.to_uppercase(), ..good.clone() };
    bodies.extend([old, early, foreign, forged, upper].map(|dispatch| serde_json::to_string(&dispatch).unwrap()));
    let mut told = Vec::new();
    for body in bodies {
        let mut answer = send(&api, Body::from(body)).await;
        answer.body.as_object_mut().unwrap().remove("requestId");
        told.push((answer.status, answer.body));
    }
    assert_eq!(told[0].0, 401);
    assert!(told.iter().all(|answer| *answer == told[0]), "{told:#?}");
}
