//! The documents of a scope over HTTP.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::api::{Answer, Api, request};
use crate::sample;

impl Api {
    async fn as_person(&self, method: Method, person: &str, path: &str, body: &Value) -> Answer {
        let token = format!("Bearer dev.{person}");
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.send(request(method, path, &[("authorization", &token), ("accept", "application/json")], &body)).await
    }

    async fn put(&self, path: &str, body: &Value) -> Answer {
        self.as_person(Method::PUT, "acme.ann", path, body).await
    }

    async fn read(&self, path: &str) -> Value {
        let answer = self.as_person(Method::GET, "acme.ann", path, &Value::Null).await;
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        answer.body
    }
}

fn by(user: &str) -> Value {
    json!({"user": user, "caller": "http"})
}

#[tokio::test]
async fn a_document_is_written_read_changed_and_deleted() {
    let api = sample::api().await;
    let doc = "/state/app:notes/docs/drafts/e-1%2Fa%20b";
    let unknown = api.as_person(Method::GET, "acme.ann", doc, &Value::Null).await;
    assert_eq!(unknown.problem(), (404, "not_found"));

    let put = api.put(doc, &json!({"value": {"text": "one"}})).await;
    let first = json!({"key": "drafts/e-1/a b", "value": {"text": "one"}, "rev": 1, "by": by("ann")});
    assert_eq!((put.status, &put.body), (200, &first));
    assert_eq!(api.read(doc).await, first);

    let put = api.put(doc, &json!({"value": null, "ifRev": 1})).await;
    let second = json!({"key": "drafts/e-1/a b", "value": null, "rev": 2, "by": by("ann")});
    assert_eq!((put.status, &put.body), (200, &second));

    let gone = api.as_person(Method::DELETE, "acme.bob", doc, &Value::Null).await;
    let deleted = json!({"key": "drafts/e-1/a b", "value": null, "deleted": true, "rev": 3, "by": by("bob")});
    assert_eq!((gone.status, &gone.body), (200, &deleted));
    assert_eq!(api.as_person(Method::DELETE, "acme.ann", doc, &Value::Null).await.status, 404);

    let events = api.read("/state/app:notes/events").await;
    let kept = json!({"events": [
        first_with(&first, 1), first_with(&second, 2),
        {"rev": 3, "key": "drafts/e-1/a b", "deleted": true, "by": by("bob")},
    ], "next": 3});
    assert_eq!(events, kept);
    assert_eq!(api.read("/state/app:notes").await, json!({"rev": 3, "items": []}));
}

/// A document as its change tells it.
fn first_with(document: &Value, rev: u64) -> Value {
    json!({"rev": rev, "key": document["key"], "value": document["value"], "by": document["by"]})
}

#[tokio::test]
async fn a_lost_revision_shows_what_is_there() {
    let api = sample::api().await;
    let doc = "/state/tenant/docs/draft";
    let current = api.put(doc, &json!({"value": "ann's", "ifRev": 0})).await.body;
    for (method, path, body) in [
        (Method::PUT, doc.to_owned(), json!({"value": "bob's", "ifRev": 0})),
        (Method::PUT, doc.to_owned(), json!({"value": "bob's", "ifRev": 7})),
        (Method::DELETE, format!("{doc}?ifRev=3"), Value::Null),
    ] {
        let lost = api.as_person(method, "acme.bob", &path, &body).await;
        assert_eq!((lost.problem(), &lost.body["current"]), ((409, "conflict"), &current), "{path} {body}");
    }
    let lost = api.put("/state/tenant/docs/none", &json!({"value": 1, "ifRev": 4})).await;
    assert_eq!((lost.status, lost.body.get("current")), (409, Some(&Value::Null)));
    assert_eq!(api.read(doc).await, current);
}

#[tokio::test]
async fn of_many_who_count_from_what_they_read_none_is_lost() {
    let api = sample::api().await;
    let doc = "/state/app:notes/docs/counter";
    api.put(doc, &json!({"value": 0})).await;
    let writers = (0..8).map(|n| {
        // Half of them in another process.
        let api = if n % 2 == 0 { api.clone() } else { api.another() };
        async move {
            let (mut done, mut current) = (0, api.read(doc).await);
            while done < 5 {
                let body = json!({"value": current["value"].as_u64().unwrap() + 1, "ifRev": current["rev"]});
                let answer = api.put(doc, &body).await;
                match answer.status {
                    200 => (done, current) = (done + 1, answer.body),
                    409 => current = answer.body["current"].clone(),
                    503 => {}
                    _ => panic!("{answer:?}"),
                }
            }
        }
    });
    futures::future::join_all(writers).await;
    assert_eq!(api.read(doc).await["value"], 40);
    assert_eq!(api.read("/state/app:notes").await["rev"], 41);
}

#[tokio::test]
async fn scopes_are_for_those_whom_they_belong_to() {
    let api = sample::api().await;
    for (scope, sees) in [
        ("user", ["acme.ann"].as_slice()),
        ("tenant", &["acme.ann", "acme.bob"]),
        ("app:notes", &["acme.ann", "acme.bob"]),
    ] {
        api.put(&format!("/state/{scope}/docs/k"), &json!({"value": 1})).await;
        for person in ["acme.ann", "acme.bob", "other.ann"] {
            let page = api.as_person(Method::GET, person, &format!("/state/{scope}"), &Value::Null).await;
            let count = page.body["items"].as_array().unwrap().len();
            assert_eq!(count, usize::from(sees.contains(&person)), "{scope} as {person}");
        }
    }
    let thread = api.as_person(Method::POST, "acme.ann", "/threads", &json!({"threadId": "t1"})).await;
    assert_eq!(thread.status, 201);
    assert_eq!(api.put("/state/thread:t1/docs/k", &json!({"value": 1})).await.status, 200);
    for scope in ["thread:t1", "thread:none", "thread:", "nothing", "app:No", "app:", "user:ann", "thread:a%23b"] {
        for (method, path) in [
            (Method::GET, format!("/state/{scope}")),
            (Method::GET, format!("/state/{scope}/events")),
            (Method::GET, format!("/state/{scope}/docs/k")),
            (Method::PUT, format!("/state/{scope}/docs/k")),
            (Method::DELETE, format!("/state/{scope}/docs/k")),
            (Method::GET, format!("/presence/{scope}")),
            (Method::PUT, format!("/presence/{scope}")),
        ] {
            let body =
                if method == Method::PUT { json!({"value": 1, "client": "w", "activity": 1}) } else { Value::Null };
            let body = if path.starts_with("/presence") {
                json!({"client": "w", "activity": 1})
            } else if body.is_null() {
                body
            } else {
                json!({"value": 1})
            };
            let mut got = api.as_person(method.clone(), "acme.bob", &path, &body).await;
            let unknown = path.replace(scope, "thread:unknown");
            let mut want = api.as_person(method.clone(), "acme.bob", &unknown, &body).await;
            for answer in [&mut got, &mut want] {
                answer.body.as_object_mut().unwrap().remove("requestId");
            }
            assert_eq!((got.status, &got.body), (404, &want.body), "{method} {path}");
        }
    }
}

#[tokio::test]
async fn faults_of_a_write_are_told_all_at_once() {
    let api = sample::api().await;
    let deep = (0..65).fold(json!(1), |below, _| json!([below]));
    for (path, body, want, pointers) in [
        ("/state/user/docs/k", json!({"ifRev": -1, "val": 1}), "invalid_input", vec!["/value", "/ifRev", "/val"]),
        ("/state/user/docs/k", json!([1]), "invalid_request", vec![""]),
        ("/state/user/docs/k", json!({"value": deep}), "invalid_input", vec!["/value"]),
        ("/state/user/docs/k%0A", json!({"value": 1}), "invalid_input", vec!["path {key}"]),
        ("/state/user/docs/k", json!({"value": "x".repeat(201 * 1024)}), "too_large", vec![]),
        ("/state/user/docs/k", json!({"value": "x".repeat(500 * 1024)}), "too_large", vec![]),
        ("/presence/user", json!({"client": "a#b"}), "invalid_input", vec!["/client", "/activity"]),
        ("/presence/user", json!({"client": "a", "activity": "x".repeat(3000)}), "invalid_input", vec!["/activity"]),
    ] {
        let answer = api.put(path, &body).await;
        assert_eq!((answer.problem().1, answer.pointers()), (want, pointers), "{path}");
    }
    for query in ["?limit=0", "?limit=x", "?cursor=x", "?prefix=a&cursor=MS9i"] {
        let path = format!("/state/user{query}");
        assert_eq!(api.as_person(Method::GET, "acme.ann", &path, &Value::Null).await.problem().0, 400, "{query}");
    }
    for (query, status) in [("?after=-1", 400), ("?after=x", 400), ("?wait=60", 400), ("?after=1", 410)] {
        let path = format!("/state/user/events{query}");
        assert_eq!(api.as_person(Method::GET, "acme.ann", &path, &Value::Null).await.status, status, "{query}");
    }
}

#[tokio::test]
async fn what_actions_keep_in_order_people_change_through_them() {
    let api = Api::new(tandem_catalog::registry().unwrap()).await;
    for key in ["inbox", "emails/00000001", "sent/00000001/r-1"] {
        let refused = api.put(&format!("/state/app:inbox/docs/{key}"), &json!({"value": 1})).await;
        assert_eq!(refused.problem(), (403, "forbidden"), "{key}");
    }
    let archived = api.as_person(Method::POST, "acme.ann", "/api/archive-email", &json!({"emailId": "e-1"})).await;
    assert_eq!(archived.status, 200, "{archived:?}");
    let gone = api.as_person(Method::DELETE, "acme.ann", "/state/app:inbox/docs/inbox", &Value::Null).await;
    assert_eq!(gone.problem(), (403, "forbidden"));
    for doc in ["app:inbox/docs/drafts/e-1", "user/docs/memory/tone", "tenant/docs/memory/tone", "user/docs/view"] {
        assert_eq!(api.put(&format!("/state/{doc}"), &json!({"value": "mine"})).await.status, 200, "{doc}");
    }
}

/// What a client has of a scope: it takes pages and changes in as the documentation says.
#[derive(Default)]
struct Copy {
    documents: BTreeMap<String, Value>,
    rev: u64,
}

impl Copy {
    fn page(&mut self, page: &Value) {
        for item in page["items"].as_array().unwrap() {
            assert!(item["rev"].as_u64() <= page["rev"].as_u64(), "from the future: {item}");
            self.documents.insert(item["key"].as_str().unwrap().to_owned(), item["value"].clone());
        }
        for key in page["deleted"].as_array().into_iter().flatten() {
            self.documents.remove(key.as_str().unwrap()).expect("only what was there is deleted");
        }
        self.rev = page["rev"].as_u64().unwrap();
    }

    fn change(&mut self, change: &Value) {
        let rev = change["rev"].as_u64().unwrap();
        assert!(rev == self.rev || rev == self.rev + 1, "{rev} after {}", self.rev);
        self.rev = rev;
        let key = change["key"].as_str().unwrap().to_owned();
        match change["deleted"] == true {
            true => self.documents.remove(&key),
            false => self.documents.insert(key, change["value"].clone()),
        };
    }
}

#[tokio::test]
async fn pages_and_the_feed_after_them_have_no_gap_and_no_overlap_while_others_write() {
    let api = sample::api().await;
    for n in 0..30 {
        api.put(&format!("/state/app:notes/docs/n/{n:02}"), &json!({"value": n})).await;
    }
    let writer = |api: Api, seed: u64| async move {
        for n in 0..60 {
            let key = (seed + n * 7) % 40;
            let path = format!("/state/app:notes/docs/n/{key:02}");
            let answer = match (n + seed) % 4 {
                0 => api.as_person(Method::DELETE, "acme.ann", &path, &Value::Null).await,
                _ => api.put(&path, &json!({"value": [seed, n]})).await,
            };
            assert!(matches!(answer.status, 200 | 404 | 503), "{answer:?}");
            tokio::task::yield_now().await;
        }
    };
    let reader = |api: Api, limit: usize| async move {
        let mut copy = Copy::default();
        let mut query = format!("limit={limit}");
        loop {
            let page = api.read(&format!("/state/app:notes?prefix=n/&{query}")).await;
            copy.page(&page);
            match page["cursor"].as_str() {
                Some(cursor) => query = format!("limit={limit}&cursor={cursor}"),
                None => break,
            }
        }
        copy
    };
    let writing = async {
        tokio::join!(writer(api.clone(), 1), writer(api.another(), 2), writer(api.clone(), 3));
    };
    let reading = async {
        let mut copies = Vec::new();
        for limit in [3, 7, 50, 2, 11] {
            copies.push(reader(api.another(), limit).await);
        }
        copies
    };
    let ((), copies) = tokio::join!(writing, reading);
    let end = reader(api.clone(), 1000).await;
    for mut copy in copies {
        let path = format!("/state/app:notes/events?after={}", copy.rev);
        for change in api.read(&path).await["events"].as_array().unwrap() {
            copy.change(change);
        }
        assert_eq!((copy.rev, &copy.documents), (end.rev, &end.documents));
    }
}

#[tokio::test]
async fn a_poll_waits_for_a_change_by_another_process() {
    let api = sample::api().await;
    let other = api.another();
    api.put("/state/app:notes/docs/a", &json!({"value": 1})).await;
    assert_eq!(api.read("/state/app:notes/events?after=1").await, json!({"events": [], "next": 1}));
    let waiting = api.read("/state/app:notes/events?after=1&wait=20");
    let change = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        other.put("/state/app:notes/docs/b", &json!({"value": 2})).await;
    };
    let (got, ()) = timeout(Duration::from_secs(5), async { tokio::join!(waiting, change) }).await.unwrap();
    assert_eq!(got["events"], json!([{"rev": 2, "key": "b", "value": 2, "by": by("ann")}]));
}

#[tokio::test]
async fn people_see_who_is_here_and_who_has_left() {
    let api = sample::api().await;
    let come = async |person: &str, client: &str, activity: Value| {
        let body = json!({"client": client, "activity": activity});
        let answer = api.as_person(Method::PUT, person, "/presence/tenant", &body).await;
        assert_eq!(answer.status, 204);
    };
    let here = async || {
        let seen = api.another().read("/presence/tenant").await;
        let names = seen["present"].as_array().unwrap().iter();
        names.map(|one| format!("{} {} {}", one["user"], one["client"], one["activity"])).collect::<Vec<_>>()
    };
    come("acme.ann", "w1", json!({"views": "e-1"})).await;
    come("acme.ann", "w2", json!("idle")).await;
    come("acme.bob", "w1", json!("types")).await;
    come("other.eve", "w1", json!("spies")).await;
    let ann = r#""ann" "w1" {"views":"e-1"}"#;
    assert_eq!(here().await, [ann, r#""ann" "w2" "idle""#, r#""bob" "w1" "types""#]);
    come("acme.ann", "w2", Value::Null).await;
    come("acme.bob", "w1", json!("reads")).await;
    assert_eq!(here().await, [ann, r#""bob" "w1" "reads""#]);
}
