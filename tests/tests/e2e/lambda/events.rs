//! `events/*.json`, which people give to `sam local invoke`: each is answered as `events/README.md` says.

use super::{BACKGROUND, DISPATCH_KEYS, Deployment, FOREGROUND, SWEEPER};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};
use tandem_auth::{DispatchKeys, SignedDispatch};
use tandem_protocol::RunId;
use tandem_tests::{Event, Log};

/// `events` and the template, which are at the top.
fn top(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

pub(super) fn event(name: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(top("events").join(name)).unwrap()).unwrap()
}

/// The head and the body of a streamed answer.
pub(super) fn split(answer: &[u8]) -> (Value, String) {
    let end = answer.windows(8).position(|eight| eight == [0; 8]).expect("a prelude and eight NULs");
    let head = serde_json::from_slice(&answer[..end]).unwrap();
    (head, String::from_utf8(answer[end + 8..].to_vec()).unwrap())
}

#[tokio::test]
async fn every_sample_event_is_answered_as_told() {
    let deployment = Deployment::start(&[]).await;
    let mut names: Vec<_> = std::fs::read_dir(top("events")).unwrap().map(|file| file.unwrap().file_name()).collect();
    names.sort();
    for name in names.iter().filter_map(|name| name.to_str()) {
        let before = deployment.table().content().await;
        match name {
            // tests/lambda answers the folder's.
            "README.md" | "foreground" => continue,
            "sweeper" => {
                for name in ["sweeper/failed-dispatches.json", "sweeper/foreign.json"] {
                    let told = deployment.invoke(SWEEPER, &event(name)).await;
                    assert_eq!(told, json!({"batchItemFailures": []}), "{name}");
                }
                deployment.table().is_still(&before).await;
            }
            "background.json" => {
                let told = deployment.invoke(BACKGROUND, &event(name)).await;
                assert_eq!(told, json!({"processed": false, "reason": "the dispatch is too old"}));
                deployment.table().is_still(&before).await;
            }
            "sweeper.json" => {
                let told = deployment.invoke(SWEEPER, &event(name)).await;
                assert_eq!(told, json!({"due": 0, "recovered": 0, "failed": 0}));
                deployment.table().is_still(&before).await;
            }
            "foreground-healthz.json" => {
                let (head, body) = split(&deployment.invoke_raw(FOREGROUND, event(name).to_string()).await);
                let body: Value = serde_json::from_str(&body).unwrap();
                let told = json!([head["statusCode"], body["status"], body["durableBackground"]]);
                assert_eq!(told, json!([200, "ok", true]));
                deployment.table().is_still(&before).await;
            }
            "foreground-agent-chat.json" => {
                let (head, body) = split(&deployment.invoke_raw(FOREGROUND, event(name).to_string()).await);
                let told = json!([head["statusCode"], head["headers"]["content-type"]]);
                assert_eq!(told, json!([200, "text/event-stream"]));
                let log = log(&body);
                log.says_each_word_once(5);
                log.finished(1);
                assert!(body.ends_with("data: [DONE]\n\n"), "{body}");
            }
            other => panic!("events/{other}: say here and in events/README.md what it is answered with"),
        }
    }
}

/// The chunks of a body that is there as a whole.
fn log(body: &str) -> Log {
    let mut log = Log::default();
    for block in body.split("\n\n").filter_map(|block| block.strip_prefix("id: ")) {
        let (id, data) = block.split_once("\ndata: ").unwrap();
        log.add(Event { id: Some(id.to_owned()), data: data.to_owned() });
    }
    log
}

#[tokio::test]
async fn a_dispatch_is_followed_if_its_signature_and_age_are_good_and_else_refused_without_an_error() {
    let deployment = Deployment::start(&[]).await;
    let keys = DispatchKeys::parse(DISPATCH_KEYS).unwrap();
    let now = i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap();
    let run = RunId::new("run_of_nobody").unwrap();
    let signed = |at: i64| serde_json::to_value(keys.sign(&run, 1, at)).unwrap();
    let changed = |name: &str, value: Value| {
        let mut dispatch = signed(now);
        dispatch[name] = value;
        dispatch
    };
    let refused = |reason: &str| json!({"processed": false, "reason": reason});
    let no_fit = refused("the signature does not fit the dispatch");
    let unreadable = refused("the dispatch cannot be read");
    let unknown = "the dispatch names a key that is not in DISPATCH_KEYS here; both sides need a common key";
    let before = deployment.table().content().await;
    for (dispatch, told) in [
        (signed(now), json!({"processed": true, "result": "not mine"})),
        (signed(now - 301_000), refused("the dispatch is too old")),
        (signed(now + 400_000), refused("the dispatch was signed in the future; check the clocks")),
        (changed("version", json!(2)), no_fit.clone()),
        (changed("runId", json!("run_of_somebody")), no_fit),
        (changed("kid", json!("other")), refused(unknown)),
        (changed("version", json!("1")), unreadable.clone()),
        (json!({}), unreadable.clone()),
        (json!([]), unreadable.clone()),
        (json!(null), unreadable.clone()),
        (json!("text"), unreadable),
    ] {
        assert_eq!(deployment.invoke(BACKGROUND, &dispatch).await, told, "{dispatch}");
    }
    deployment.table().is_still(&before).await;
    assert_eq!(deployment.host.failed_events(BACKGROUND), []);
}

/// The sample's signature is real, so that what refuses it is its age alone.
#[test]
fn the_sample_dispatch_is_signed_with_the_templates_local_key() {
    assert!(std::fs::read_to_string(top("template.yaml")).unwrap().contains(DISPATCH_KEYS));
    let sample: SignedDispatch = serde_json::from_value(event("background.json")).unwrap();
    let keys = DispatchKeys::parse(DISPATCH_KEYS).unwrap();
    let signed = keys.sign(&sample.run_id, sample.version, sample.issued_at);
    assert_eq!(serde_json::to_value(sample).unwrap(), serde_json::to_value(signed).unwrap());
}
