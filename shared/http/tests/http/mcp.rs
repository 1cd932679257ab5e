//! `POST /mcp` as clients of the new and of the old revisions use it.

use axum::body::{Body, to_bytes};
use axum::http::{Method, Request};
use serde_json::{Value, json};

use crate::api::{Answer, Api, request};
use crate::sample::{api, gate, runs_of};

/// Revisions that begin with `initialize`.
const OLD: [&str; 3] = ["2025-03-26", "2025-06-18", "2025-11-25"];
const NEW: &str = "2026-07-28";

/// A client: the revision that it speaks, and whether it can show a form to its person.
#[derive(Clone, Copy)]
pub(crate) struct Client<'a> {
    version: &'a str,
    asks: bool,
    token: &'a str,
}

pub(crate) const MODERN: Client<'_> = Client { version: NEW, asks: false, token: "dev.local.you" };
const ASKING: Client<'_> = Client { asks: true, ..MODERN };

impl Client<'_> {
    fn message(self, method: &str, params: Value) -> Request<Body> {
        let mut params = params;
        let token = format!("Bearer {}", self.token);
        let mut headers = vec![
            ("host", "tandem.example"),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("authorization", token.as_str()),
            ("mcp-protocol-version", self.version),
        ];
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        if self.version == NEW {
            let can = if self.asks { json!({"elicitation": {"form": {}}}) } else { json!({}) };
            let meta = params.as_object_mut().unwrap().entry("_meta").or_insert_with(|| json!({}));
            meta["io.modelcontextprotocol/protocolVersion"] = NEW.into();
            meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "test", "version": "1"});
            meta["io.modelcontextprotocol/clientCapabilities"] = can;
            headers.push(("mcp-method", method));
            if !name.is_empty() {
                headers.push(("mcp-name", &name));
            }
        }
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).to_string();
        request(Method::POST, "/mcp", &headers, &body)
    }

    /// The result of a request that the protocol has no fault with.
    async fn result(self, api: &Api, method: &str, params: Value) -> Value {
        let answer = api.send(self.message(method, params)).await;
        assert_eq!((answer.status, &answer.body["id"]), (200, &json!(7)), "{answer:?}");
        assert_eq!(answer.header("mcp-session-id"), None);
        answer.body["result"].clone()
    }

    pub(crate) async fn call(self, api: &Api, name: &str, input: Value) -> Value {
        self.result(api, "tools/call", json!({"name": name, "arguments": input})).await
    }

    async fn tools(self, api: &Api) -> Value {
        self.result(api, "tools/list", json!({})).await
    }
}

fn tool<'a>(list: &'a Value, name: &str) -> &'a Value {
    let tools = list["tools"].as_array().unwrap();
    tools.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("{name} is not listed"))
}

/// The code of a call that failed.
fn code(result: &Value) -> &str {
    assert_eq!(result["isError"], true, "{result}");
    result["_meta"]["tandem/problem"]["code"].as_str().unwrap()
}

#[tokio::test]
async fn tools_are_the_actions_of_the_caller_with_hints_by_their_effects() {
    let api = api().await;
    let list = MODERN.tools(&api).await;
    assert_eq!((&list["cacheScope"], &list["resultType"]), (&json!("private"), &json!("complete")));
    let hints = |read: bool, idempotent: bool, open: bool| json!({"readOnlyHint": read, "destructiveHint": !read, "idempotentHint": idempotent, "openWorldHint": open});
    for (name, want) in [
        ("echo", hints(true, true, false)),
        ("add", hints(false, false, false)),
        ("set", hints(false, true, false)),
        ("clear", hints(false, true, false)),
        ("ring", hints(false, false, true)),
        ("call-out", hints(false, false, true)),
    ] {
        assert_eq!(tool(&list, name)["annotations"], want, "{name}");
    }
    let echo = tool(&list, "echo");
    assert_eq!(echo["description"], "Says back what it was given.");
    assert_eq!(echo["inputSchema"]["properties"]["n"], json!({"type": "integer", "description": "A whole number."}));
    assert_eq!(echo["outputSchema"]["properties"]["n"]["type"], json!(["integer", "null"]));
    // An admin's, and one that is not for MCP.
    let names: Vec<&str> = list["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert!(
        names.contains(&"for-agents") && !names.contains(&"for-admins") && !names.contains(&"for-people"),
        "{names:?}"
    );
}

#[tokio::test]
async fn old_clients_shake_hands_and_get_what_they_know() {
    let api = api().await;
    for version in OLD {
        let old = Client { version, ..MODERN };
        let hello =
            json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}});
        let welcome = old.result(&api, "initialize", hello).await;
        assert_eq!(welcome["protocolVersion"], version);
        assert_eq!(welcome["capabilities"], json!({"tools": {}}));
        let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
        let headers = [
            ("host", "localhost"),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", version),
        ];
        let noted = api.send(request(Method::POST, "/mcp", &headers, &note)).await;
        assert_eq!((noted.status, noted.body), (202, Value::Null));
        let list = old.tools(&api).await;
        assert_eq!((list.get("cacheScope"), list.get("resultType")), (Some(&json!("private")), None), "{version}");
        // They know of objects only.
        assert_eq!(tool(&list, "add").get("outputSchema"), None);
        assert_eq!(tool(&list, "echo")["outputSchema"]["type"], "object");
        let sum = old.call(&api, "add", json!({"name": version, "by": 5})).await;
        assert_eq!(sum, json!({"content": [{"type": "text", "text": "5"}], "isError": false}), "{version}");
        let said = old.call(&api, "echo", json!({"n": 3.0, "text": "grüße"})).await;
        assert_eq!(said["structuredContent"], json!({"n": 3, "text": "grüße"}));
        assert_eq!(said["content"][0]["text"], "{\"n\":3,\"text\":\"grüße\"}");
    }
    // Before there was a header, and nothing but the call itself.
    let bare = [
        ("host", "localhost"),
        ("content-type", "application/json; charset=utf-8"),
        ("accept", "text/event-stream, application/json"),
    ];
    let ping = json!({"jsonrpc": "2.0", "id": "a", "method": "ping"}).to_string();
    let pong = api.send(request(Method::POST, "/mcp", &bare, &ping)).await;
    assert_eq!(pong.body, json!({"jsonrpc": "2.0", "id": "a", "result": {}}));
}

#[tokio::test]
async fn new_clients_discover_and_are_told_of_versions_that_are_not_there() {
    let api = api().await;
    let told = MODERN.result(&api, "server/discover", json!({})).await;
    let versions = told["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!(NEW)) && versions.contains(&json!(OLD[0])), "{told}");
    let sum = MODERN.call(&api, "add", json!({"name": "n", "by": 5})).await;
    assert_eq!((&sum["structuredContent"], &sum["resultType"]), (&json!(5), &json!("complete")));
    let null = MODERN.call(&api, "peek", json!({"name": "nothing"})).await;
    assert_eq!((null.get("structuredContent"), &null["content"][0]["text"]), (Some(&Value::Null), &json!("null")));
    let future = Client { version: "2999-01-01", ..MODERN };
    assert_eq!(api.send(future.message("tools/list", json!({}))).await.status, 400);
}

#[tokio::test]
async fn failures_are_results_that_say_the_same_as_http() {
    let api = api().await;
    for (name, input) in [
        ("echo-body", json!({"n": "3", "on": 1, "x": 1})),
        ("echo-body", json!({"n": 0.5})),
        ("fail", json!({"name": "refuse"})),
        ("fail", json!({"name": "panic"})),
        ("fail", json!({"name": "conflict"})),
        ("fail", json!({"name": "long-value"})),
        ("fail", json!({"name": "sleep"})),
    ] {
        let Answer { mut body, .. } = api.post(&format!("/api/{name}"), &input).await;
        let result = MODERN.call(&api, name, input.clone()).await;
        let mut problem = result["_meta"]["tandem/problem"].clone();
        for problem in [&mut body, &mut problem] {
            assert!(problem.as_object_mut().unwrap().remove("requestId").is_some_and(|id| id.is_string()), "{problem}");
        }
        assert_eq!(problem, body, "{name} {input}");
        assert_eq!((&result["isError"], result.get("structuredContent")), (&json!(true), None));
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(body["detail"].as_str().unwrap()), "{text}");
        for fault in body["errors"].as_array().into_iter().flatten() {
            assert!(text.contains(&format!(
                "\n{} {}",
                fault["pointer"].as_str().unwrap(),
                fault["detail"].as_str().unwrap()
            )));
        }
    }
    assert_eq!(code(&MODERN.call(&api, "for-admins", json!({"name": "n"})).await), "forbidden");
    for name in ["ecko", "for-people", "constructor"] {
        let answer = api.send(MODERN.message("tools/call", json!({"name": name, "arguments": {}}))).await;
        assert_eq!(answer.body["error"]["code"], -32602, "{name}: {answer:?}");
        assert!(answer.body["error"]["message"].as_str().unwrap().starts_with("Unknown tool"), "{answer:?}");
    }
}

#[tokio::test]
async fn the_door_itself_is_http() {
    let api = api().await;
    for method in [Method::GET, Method::DELETE, Method::PUT] {
        let answer = api.send(request(method.clone(), "/mcp", &[("host", "x")], "")).await;
        assert_eq!((answer.problem(), answer.header("allow")), ((405, "method_not_allowed"), Some("POST")), "{method}");
    }
    let nobody = Client { token: "dev.nobody", ..MODERN };
    let endless = futures::stream::repeat_with(|| Ok::<_, std::io::Error>(vec![b' '; 64 * 1024]));
    let (parts, _) = nobody.message("tools/list", json!({})).into_parts();
    let answer = api.send(Request::from_parts(parts, Body::from_stream(endless))).await;
    assert_eq!((answer.problem(), answer.header("www-authenticate")), ((401, "unauthenticated"), Some("Bearer")));
    let endless = futures::stream::repeat_with(|| Ok::<_, std::io::Error>(vec![b' '; 64 * 1024]));
    let (parts, _) = MODERN.message("tools/list", json!({})).into_parts();
    let answer = api.send(Request::from_parts(parts, Body::from_stream(endless))).await;
    assert_eq!(answer.problem(), (413, "too_large"));
    for (origin, status) in [
        ("http://localhost:6274", 200),
        ("http://127.0.0.1", 200),
        ("http://[::1]:3000", 200),
        ("https://app.example.com", 200),
        ("https://app.example.com:444", 403),
        ("https://tandem.example", 403),
        ("http://localhost.evil.example", 403),
        ("null", 403),
    ] {
        let mut message = MODERN.message("tools/list", json!({}));
        message.headers_mut().insert("origin", origin.parse().unwrap());
        let answer = api.send(message).await;
        assert_eq!(answer.status, status, "{origin}: {answer:?}");
        assert!(status == 200 || answer.body["code"] == "forbidden", "{answer:?}");
    }
    for (body, code) in [
        ("{", -32700),
        ("", -32700),
        ("[]", -32600),
        ("3", -32600),
        ("{\"method\": \"tools/list\"}", -32600),
        ("[{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\"}]", -32600),
    ] {
        let (parts, _) = Client { version: OLD[1], ..MODERN }.message("tools/list", json!({})).into_parts();
        let answer = api.send(Request::from_parts(parts, Body::from(body))).await;
        assert_eq!((answer.status, &answer.body["error"]["code"]), (400, &json!(code)), "{body}: {answer:?}");
    }
    for (header, value, status) in [("accept", "application/json", 406), ("content-type", "text/plain", 415)] {
        let mut message = MODERN.message("tools/list", json!({}));
        message.headers_mut().insert(header, value.parse().unwrap());
        assert_eq!(api.send(message).await.problem(), (status, "invalid_request"));
    }
    let answer = api.send(MODERN.message("prompts/get", json!({"name": "x"}))).await;
    assert_eq!(answer.body["error"]["code"], -32601, "{answer:?}");
}

#[tokio::test]
async fn a_call_with_a_key_happens_once() {
    let api = api().await;
    let call = |name: &str, by: i64, key: Value| {
        let params =
            json!({"name": "add", "arguments": {"name": name, "by": by}, "_meta": {"tandem/idempotencyKey": key}});
        let api = &api;
        async move { MODERN.result(api, "tools/call", params).await }
    };
    for _ in 0..3 {
        assert_eq!(call("keyed", 5, json!("k")).await["structuredContent"], 5);
    }
    assert_eq!(code(&call("keyed", 6, json!("k")).await), "key_reused");
    assert_eq!(code(&call("keyed", 6, json!("")).await), "invalid_input");
    assert_eq!(code(&call("keyed", 6, json!(7)).await), "invalid_input");
    // The same key is the same call through another door.
    let http = api.post_once("/api/add", "k", &json!({"name": "keyed", "by": 5})).await;
    assert_eq!(http.body, 5);
    assert_eq!(api.get("/api/peek?name=keyed").await.body, 5);
}

#[tokio::test]
async fn a_person_agrees_to_exactly_one_call() {
    let api = api().await;
    let input = json!({"name": "agreed", "by": 7});
    let asked = ASKING.call(&api, "call-out", input.clone()).await;
    assert_eq!(asked["resultType"], "input_required");
    let question = &asked["inputRequests"]["approval"];
    assert_eq!(question["method"], "elicitation/create");
    let message = question["params"]["message"].as_str().unwrap();
    assert!(message.contains("call-out") && message.contains("\"agreed\"") && message.contains('7'), "{message}");
    assert_eq!(question["params"]["requestedSchema"]["properties"]["approve"]["type"], "boolean");
    assert_eq!(runs_of("agreed"), 0);

    let state = asked["requestState"].clone();
    let answer = |client: Client<'static>, input: &Value, state: Value, answer: Value| {
        let params = json!({
            "name": "call-out", "arguments": input, "requestState": state, "inputResponses": {"approval": answer},
        });
        let api = &api;
        async move { client.result(api, "tools/call", params).await }
    };
    let yes = || json!({"action": "accept", "content": {"approve": true}});
    // Other input, another person, a state that is not ours, no state.
    let other = json!({"name": "agreed", "by": 8});
    assert_eq!(code(&answer(ASKING, &other, state.clone(), yes()).await), "approval_required");
    let bob = Client { token: "dev.local.bob", ..ASKING };
    assert_eq!(code(&answer(bob, &input, state.clone(), yes()).await), "approval_required");
    assert_eq!(code(&answer(ASKING, &input, json!("rs2.x.y.z"), yes()).await), "approval_required");
    assert_eq!(answer(ASKING, &input, Value::Null, yes()).await["resultType"], "input_required");
    assert_eq!(runs_of("agreed"), 0);

    for _ in 0..3 {
        let done = answer(ASKING, &input, state.clone(), yes()).await;
        assert_eq!((&done["structuredContent"], &done["isError"]), (&json!(7), &json!(false)), "{done}");
    }
    assert_eq!(runs_of("agreed"), 1);

    let input = json!({"name": "refused", "by": 7});
    let state = ASKING.call(&api, "call-out", input.clone()).await["requestState"].clone();
    for no in [
        json!({"action": "decline"}),
        json!({"action": "cancel"}),
        json!({"action": "accept"}),
        json!({"action": "accept", "content": {"approve": false}}),
        json!({"action": "accept", "content": {"approve": "true"}}),
        json!("yes"),
    ] {
        assert_eq!(code(&answer(ASKING, &input, state.clone(), no.clone()).await), "denied", "{no}");
    }
    assert_eq!(runs_of("refused"), 0);
    // What is wrong with the input is said before anybody is asked.
    assert_eq!(code(&ASKING.call(&api, "call-out", json!({"name": "x"})).await), "invalid_input");
}

#[tokio::test]
async fn where_nobody_can_be_asked_the_call_is_refused_with_a_way_out() {
    let api = api().await;
    let old = OLD.map(|version| Client { version, ..ASKING });
    for client in old.into_iter().chain([MODERN]) {
        let result = client.call(&api, "call-out", json!({"name": "unasked", "by": 7})).await;
        assert_eq!(code(&result), "approval_required", "{}", client.version);
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("tandem action call-out") && text.contains("elicitation"), "{text}");
    }
    assert_eq!(runs_of("unasked"), 0);
}

#[tokio::test]
async fn progress_is_told_to_clients_that_want_it() {
    let api = api().await;
    let params = json!({"name": "count-aloud", "arguments": {"name": "p", "by": 3}, "_meta": {"progressToken": "t"}});
    for client in [MODERN, Client { version: OLD[1], ..MODERN }] {
        let response = api.raw(client.message("tools/call", params.clone())).await;
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        let text = String::from_utf8(body.to_vec()).unwrap();
        let messages: Vec<Value> =
            text.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data:")?.trim()).ok()).collect();
        let (last, before) = messages.split_last().unwrap();
        assert_eq!((&last["id"], &last["result"]["content"][0]["text"]), (&json!(7), &json!("3")), "{text}");
        let told: Vec<&Value> = before.iter().map(|message| &message["params"]["progress"]).collect();
        assert_eq!(told, [&json!(1.0), &json!(2.0), &json!(3.0)], "{text}");
        assert_eq!(before[0]["params"]["progressToken"], "t");
    }
    // Without a token it is one answer in JSON.
    assert_eq!(MODERN.call(&api, "count-aloud", json!({"name": "p", "by": 2})).await["content"][0]["text"], "2");
}

#[tokio::test]
async fn a_long_action_is_a_run_of_its_own_and_a_key_repeats_it() {
    let api = api().await;
    let gate = gate("mcp-long");
    let input = json!({"name": "mcp-long", "by": 3});
    let call = |client: Client<'static>, input: &Value, key: &str| {
        let params = json!({"name": "tally", "arguments": input, "_meta": {"tandem/idempotencyKey": key}});
        let api = &api;
        async move { client.result(api, "tools/call", params).await }
    };
    // Answered while the action has not ended.
    let wait = std::time::Duration::from_secs(20);
    let result = tokio::time::timeout(wait, call(MODERN, &input, "k")).await.unwrap();
    let under_way = &result["structuredContent"];
    let run = under_way["runId"].as_str().unwrap_or_else(|| panic!("{result}"));
    assert_eq!((&result["isError"], &under_way["action"]), (&json!(false), &json!("tally")));
    assert_eq!(result["content"][0]["text"], under_way.to_string());
    let text = result["content"][1]["text"].as_str().unwrap();
    assert!(text.contains(&format!("GET /runs/{run}/events")), "{text}");
    gate.add_permits(1);
    let ended = || async {
        let path = format!("/runs/{run}/events?wait=20");
        let page = api.send(request(Method::GET, &path, &[("accept", "application/json")], "")).await;
        page.body["done"] == true
    };
    while !ended().await {
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    // The same call through either door, by old clients too, is the same run.
    for client in [MODERN, Client { version: OLD[1], ..MODERN }] {
        let again = &call(client, &input, "k").await["structuredContent"];
        assert_eq!((&again["runId"], &again["status"]), (&json!(run), &json!("completed")));
    }
    let http = api.post_once("/api/tally", "k", &input).await;
    assert_eq!((http.status, &http.body["runId"]), (202, &json!(run)));
    assert_eq!(runs_of("mcp-long"), 1);
    assert_eq!(code(&call(MODERN, &json!({"name": "mcp-long", "by": 4}), "k").await), "key_reused");
    assert_eq!(code(&call(MODERN, &json!({"name": "mcp-long"}), "k").await), "invalid_input");
}
