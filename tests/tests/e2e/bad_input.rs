//! What cannot be used is refused with a problem that says what and where, and nothing is stored.

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use tandem_tests::{Api, FakeBackground, Split, Started, new_id};

const CHAT: &str = "/api/agent-chat";
const PROCESS: &str = "/_agent-native/agent-chat/_process-run";

/// One refused request: status, code and the pointers of its faults.
struct Case {
    name: &'static str,
    request: RequestBuilder,
    status: u16,
    code: &'static str,
    pointers: &'static [&'static str],
    /// A header that must be there too.
    header: Option<(&'static str, &'static str)>,
}

fn case(
    name: &'static str,
    request: RequestBuilder,
    status: u16,
    code: &'static str,
    pointers: &'static [&'static str],
) -> Case {
    Case { name, request, status, code, pointers, header: None }
}

impl Case {
    fn with(self, name: &'static str, value: &'static str) -> Self {
        Case { header: Some((name, value)), ..self }
    }

    /// What is wrong with the answer, or nothing.
    async fn fault(self) -> Option<String> {
        let response = match self.request.send().await {
            Ok(response) => response,
            Err(error) => return Some(format!("{}: no answer: {error:?}", self.name)),
        };
        let header = |name: &str| response.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        let (kind, id, status) = (header("content-type"), header("x-request-id"), response.status().as_u16());
        let expected = self.header.map(|(name, value)| (name, Some(value.to_owned())));
        let told = self.header.map(|(name, _)| (name, header(name)));
        let text = response.text().await.unwrap();
        let body: Value = serde_json::from_str(&text).unwrap_or_default();
        let pointers = body["errors"].as_array().into_iter().flatten().map(|fault| fault["pointer"].clone());
        let got = json!([status, kind, body["status"], body["code"], pointers.collect::<Vec<_>>(), body["requestId"]]);
        let want = json!([self.status, "application/problem+json", self.status, self.code, self.pointers, id]);
        let whole =
            ["type", "title", "detail"].iter().all(|name| body[name].as_str().is_some_and(|text| !text.is_empty()));
        let fits = got == want && id.is_some() && whole && told == expected;
        (!fits).then(|| format!("{}: {got} is not {want}; {told:?} {text}", self.name))
    }
}

/// A system with one finished turn in it.
async fn system(env: tandem_tests::Env<'_>) -> (Split, Started) {
    let split = Split::start(1, 1, env).await;
    let started = split.api(0).start(&json!({"message": "@say 3 every 0"})).await;
    split.api(0).run_is(&started.run, "completed").await;
    (split, started)
}

/// Sends all cases; afterwards the table holds what it held before.
async fn check(split: &Split, cases: Vec<Case>) {
    let before = split.table().content().await;
    let mut faults = Vec::new();
    for case in cases {
        faults.extend(case.fault().await);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    split.table().is_still(&before).await;
}

#[tokio::test]
async fn a_body_that_cannot_be_used() {
    let (split, _) = system(&[]).await;
    let api = split.api(0);
    let chat = |body: &str| api.request(Method::POST, CHAT).body(body.to_owned());
    let invalid = |name, body: &str, pointers| case(name, chat(body), 400, "invalid_input", pointers);
    let unread = |name, body: &str| case(name, chat(body), 400, "invalid_request", &[""]);
    let user = json!({"id": "m", "role": "user", "parts": [{"type": "text", "text": "x"}]});
    let long = json!({"message": "x".repeat(100_001)}).to_string();
    check(
        &split,
        vec![
            unread("nothing", ""),
            unread("cut off", "{\"message\": \"x"),
            unread("not an object", "[]"),
            unread("not UTF-8 in JSON", "{\"message\": \"\\ud800\"}"),
            unread("two bodies", "{\"message\":\"x\"}{\"message\":\"x\"}"),
            case("bytes", api.request(Method::POST, CHAT).body(vec![0x7b, 0xff, 0x7d]), 400, "invalid_request", &[""]),
            invalid("no message", "{}", &["/message"]),
            invalid("null", "{\"message\": null}", &["/message"]),
            invalid("a number", "{\"message\": 7}", &["/message"]),
            invalid("white space", "{\"message\": \" \\n\\t\\u00a0\"}", &["/message"]),
            invalid("NUL", "{\"message\": \"a\\u0000b\"}", &["/message"]),
            invalid("message and messages", "{\"message\": \"x\", \"messages\": []}", &["/messages"]),
            invalid("no messages", "{\"id\": \"t\", \"messages\": []}", &["/messages"]),
            invalid("messages of nobody", "{\"id\": \"t\", \"messages\": [7]}", &["/messages"]),
            invalid("no id", &json!({"messages": [user]}).to_string(), &["/id"]),
            invalid("trigger", &json!({"id": "t", "messages": [user], "trigger": "x"}).to_string(), &["/trigger"]),
            invalid("an id with a key in it", "{\"message\": \"x\", \"threadId\": \"a#b\"}", &["/threadId"]),
            invalid("unknown model", "{\"message\": \"x\", \"model\": \"nothing\"}", &["/model"]),
            invalid("when busy", "{\"message\": \"x\", \"whenBusy\": \"later\"}", &["/whenBusy"]),
            invalid(
                "everything at once",
                "{\"message\": \" \", \"threadId\": 1, \"turnId\": \"a/b\", \"model\": 2}",
                &["/threadId", "/turnId", "/message"],
            ),
            case("a long message", chat(&long), 413, "too_large", &["/message"]),
            case("unknown thread", chat("{\"message\":\"x\",\"threadId\":\"t\"}"), 404, "not_found", &["/threadId"]),
        ],
    )
    .await;
}

#[tokio::test]
async fn ten_megabytes_are_too_much_whatever_the_header_says() {
    let (split, _) = system(&[]).await;
    let api = split.api(0);
    let body = || "x".repeat(10 * 1024 * 1024);
    let post = |path: &str| api.request(Method::POST, path);
    // In pieces, so that no header tells how long it is.
    let pieces = futures::stream::iter((0..160).map(|_| Ok::<_, std::io::Error>("x".repeat(64 * 1024))));
    let pieces = reqwest::Body::wrap_stream(pieces);
    check(
        &split,
        vec![
            case("a long body", post(CHAT).body(body()), 413, "too_large", &[]),
            case("a long body in pieces", post(CHAT).body(pieces), 413, "too_large", &[]),
            case("a long thread", post("/threads").body(body()), 413, "too_large", &[]),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_path_or_a_parameter_that_cannot_be_used() {
    let (split, Started { run, thread, .. }) = system(&[]).await;
    let api = split.api(0);
    let events = format!("/runs/{run}/events");
    let get = |path: &str| api.get(path);
    let invalid = |name, path: &str, pointers| case(name, get(path), 400, "invalid_input", pointers);
    let missing = |name, path: &str| case(name, get(path), 404, "not_found", &[]);
    let header = get(&events).header("last-event-id", "x");
    check(
        &split,
        vec![
            invalid("after", &format!("{events}?after=x"), &["?after"]),
            invalid("after below 0", &format!("{events}?after=-1"), &["?after"]),
            case("last event", header, 400, "invalid_input", &["header Last-Event-ID"]),
            case(
                "wait",
                get(&format!("{events}?wait=x")).header("accept", "application/json"),
                400,
                "invalid_input",
                &["?wait"],
            ),
            invalid("start", &format!("/api/agent-chat/{thread}/stream?startIndex=x"), &["?startIndex"]),
            invalid("limit", "/threads?limit=0", &["?limit"]),
            invalid("limit above", "/threads?limit=101", &["?limit"]),
            invalid("cursor of messages", &format!("/threads/{thread}/messages?cursor=x"), &["?cursor"]),
            invalid("cursor of runs", &format!("/runs?threadId={thread}&cursor=x"), &["?cursor"]),
            invalid("no thread", "/runs", &["?threadId"]),
            invalid("no thread for active", "/runs/active", &["?threadId"]),
            missing("unknown path", "/nothing/here"),
            missing("no path", "/"),
            missing("unknown run", &format!("/runs/run_{}", new_id())),
            missing("not a run", "/runs/a%20b"),
            missing("not a thread", "/threads/a%23b"),
            case("delete", api.request(Method::DELETE, CHAT), 405, "method_not_allowed", &[]).with("allow", "POST"),
            case("post", api.request(Method::POST, &events), 405, "method_not_allowed", &[]).with("allow", "GET,HEAD"),
            case("patch", api.request(Method::PATCH, "/threads"), 405, "method_not_allowed", &[])
                .with("allow", "GET,HEAD,POST"),
        ],
    )
    .await;
}

/// What the router itself refuses, before a route sees it.
#[tokio::test]
async fn what_the_router_cannot_read_is_a_problem_too() {
    let (split, Started { run, thread, .. }) = system(&[]).await;
    let api = split.api(0);
    let mut cases = Vec::new();
    for (name, path, code, pointers) in [
        ("a limit that is no number", "/threads?limit=x".to_owned(), "invalid_input", &["?limit"][..]),
        ("a cursor of another list", "/threads?cursor=zz".into(), "invalid_input", &["?cursor"]),
        ("a parameter that is unknown", "/threads?archive=true".into(), "invalid_input", &["?archive"]),
        ("a thread that is no id", "/runs?threadId=a%20b".into(), "invalid_input", &["?threadId"]),
        ("a cursor twice", format!("/runs/{run}/events?after=1&after=2"), "invalid_input", &["?after"]),
        ("not UTF-8 in a path", "/runs/%FF".into(), "invalid_request", &[]),
        ("not UTF-8 in a thread", format!("/threads/{thread}%FF/messages"), "invalid_request", &[]),
    ] {
        cases.push(case(name, api.get(&path), 400, code, pointers));
    }
    let new = api.request(Method::POST, "/threads").body("{\"threadID\": \"t\"}");
    cases.push(case("a field that is unknown", new, 400, "invalid_input", &["/threadID"]));
    check(&split, cases).await;
}

#[tokio::test]
async fn a_token_that_is_nobody_s() {
    let (split, Started { run, thread, .. }) = system(&[]).await;
    let api = split.api(0);
    let mut cases = Vec::new();
    for token in ["Bearer nobody", "Bearer dev.a.b.c", "Basic eA==", "Bearer", "Bearer dev..", "dev.local.you"] {
        for (method, path) in [
            (Method::POST, CHAT.to_owned()),
            (Method::GET, "/threads".into()),
            (Method::GET, format!("/threads/{thread}/messages")),
            (Method::GET, format!("/runs/{run}/events?after=x")),
            (Method::POST, format!("/runs/{run}/abort")),
            (Method::GET, format!("/api/agent-chat/{thread}/stream")),
        ] {
            let request = api.request(method, &path).header("authorization", token).body("{");
            cases.push(case("bad token", request, 401, "unauthenticated", &[]).with("www-authenticate", "Bearer"));
        }
    }
    let twice = api.get("/threads").header("authorization", "Bearer dev.a.b").header("authorization", "Bearer dev.a.b");
    cases.push(case("two tokens", twice, 401, "unauthenticated", &[]).with("www-authenticate", "Bearer"));
    check(&split, cases).await;
}

#[tokio::test]
async fn a_dispatch_that_is_not_ours() {
    // A run that waits for a background, and the dispatch that was meant for it.
    let liar = FakeBackground::answering(202).await;
    let mut split = Split::start(1, 1, &[("BACKGROUND_URL", liar.url()), ("CLAIM_GRACE_MS", "30000")]).await;
    let waiting = split.api(0).start(&json!({"message": "@say 1 every 0"})).await;
    let sent = tandem_tests::until("the dispatch", async || liar.seen().first().cloned()).await;
    let background = Api::new(split.backgrounds[0].url());
    let refused = |name, body: String| {
        let request = background.request(Method::POST, PROCESS).body(body);
        case(name, request, 401, "unauthenticated", &[]).with("www-authenticate", "Bearer")
    };
    let altered = |name, field: &str, value: Value| {
        let mut dispatch = sent.clone();
        dispatch[field] = value;
        refused(name, dispatch.to_string())
    };
    let unsigned = json!({"runId": waiting.run, "version": 1, "issuedAt": sent["issuedAt"]});
    let own = background.as_person("local.you").request(Method::POST, PROCESS).body(unsigned.to_string());
    check(
        &split,
        vec![
            refused("nothing", String::new()),
            refused("garbage", "]".into()),
            refused("an empty object", "{}".into()),
            refused("unsigned", unsigned.to_string()),
            case("a person's token", own, 401, "unauthenticated", &[]),
            refused("a huge one", "x".repeat(1024 * 1024)),
            altered("another run", "runId", json!("run_1")),
            altered("another version", "version", json!(2)),
            altered("a later time", "issuedAt", json!(sent["issuedAt"].as_i64().unwrap() + 1)),
            altered("no number", "issuedAt", json!("NaN")),
            altered("another key", "kid", json!("other")),
            altered("an empty signature", "signature", json!("")),
            altered("another signature", "signature", json!("0".repeat(64))),
            case("get", background.get(PROCESS), 405, "method_not_allowed", &[]).with("allow", "POST"),
            case("a foreground", split.api(0).request(Method::POST, PROCESS).json(&sent), 404, "not_found", &[]),
            case("a background's chat", background.chat(&json!({"message": "x"})), 404, "not_found", &[]),
        ],
    )
    .await;
    // The true one works.
    split.road.lead_only_to(split.backgrounds[0].url());
    let answer = background.answer(background.request(Method::POST, PROCESS).json(&sent)).await;
    assert_eq!(answer.status, 202);
    split.api(0).run_is(&waiting.run, "completed").await;
    split.backgrounds[0].kill();
}
