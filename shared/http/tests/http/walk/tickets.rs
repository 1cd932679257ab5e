//! Tickets let in who they were given to, at one path, and nowhere else.

use serde_json::{Value, json};

use super::people::People;
use super::rows::Ask;
use super::things::Things;
use super::{PRIVATE, catalog, send};
use crate::api::Api;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ticket_reads_one_stream_as_its_person_would() {
    let outbox = tempfile::tempdir().unwrap();
    let people = People::new().await;
    let api = Api::new(catalog(&outbox)).await.behind(people.door());
    let it = Things::of(&api, &people.ann, PRIVATE).await;
    let ticket = async |token: &str, path: &str| -> String {
        let ask = Ask::post("/tickets", &json!({"path": path}).to_string());
        let (status, text) = send(&api, Some(token), &ask).await;
        assert_eq!(status, 200, "{text}");
        serde_json::from_str::<Value>(&text).unwrap()["ticket"].as_str().unwrap().to_owned()
    };
    let run = format!("/runs/{}/events", it.run);
    for (path, query) in [
        (run.clone(), "?after=0"),
        (format!("/api/agent-chat/{}/stream", it.run), "?startIndex=0"),
        ("/events".into(), &format!("?thread={}@0.0.0", it.thread)),
        (format!("/state/thread:{}/events", it.thread), "?after=0"),
    ] {
        let (anns, bobs) = (ticket(&people.ann, &path).await, ticket(&people.bob, &path).await);
        let ask = |ticket: &str| Ask::get(&format!("{path}{query}&ticket={ticket}"));
        let (status, text) = send(&api, None, &ask(&anns)).await;
        assert!(status == 200 && text.contains(PRIVATE), "{path}: {status} {text}");
        let (status, text) = send(&api, None, &ask(&bobs)).await;
        assert!(status != 401 && !text.contains(PRIVATE), "{path}: {status} {text}");
        // A token that is sent counts, whatever ticket is beside it.
        let (_, text) = send(&api, Some(&people.bob), &ask(&anns)).await;
        assert!(!text.contains(PRIVATE), "{path}: {text}");
        for none in ["", "made.up", &anns[1..], &ticket(&people.ann, "/runs/run_1/events").await] {
            let (status, text) = send(&api, None, &ask(none)).await;
            assert!(status == 401 && text.contains("POST /tickets"), "{path}: {status} {text}");
        }
        for (path, method) in [("/threads", "GET"), ("/tickets", "POST"), (&format!("/runs/{}/abort", it.run), "POST")]
        {
            let ask = Ask { method: method.parse().unwrap(), ..Ask::get(&format!("{path}?ticket={anns}")) };
            assert_eq!(send(&api, None, &ask).await.0, 401, "{path}");
        }
    }
    for none in
        ["/threads", "/events?thread=t", "events", "/runs/a/b/events", "/runs//events", "/state/user/docs/x/events"]
    {
        let (status, text) =
            send(&api, Some(&people.ann), &Ask::post("/tickets", &json!({"path": none}).to_string())).await;
        assert!(status == 400 && text.contains("\"/path\""), "{none}: {status} {text}");
    }
}
