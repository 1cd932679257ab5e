//! Every route with every kind of caller: without a token, with a broken one, of another tenant, of the same tenant, and
//! the right one. The rows are in [`rows`]; a route without a row fails, and so does a row without a route.

mod people;
mod rows;
mod sign_in;
mod things;
mod tickets;

use std::collections::BTreeSet;

use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, StatusCode};
use serde_json::{Value, json};
use tandem_actions::Registry;
use tandem_catalog::Settings;

use crate::api::Api;
use crate::sample;
use people::People;
use rows::{Ask, Holds, Row};
use things::Things;

/// Something that only ann may read.
const PRIVATE: &str = "canary-of-ann";
/// Something that everybody in ann's tenant may read.
const SHARED: &str = "canary-of-acme";

fn catalog(outbox: &tempfile::TempDir) -> Registry {
    tandem_catalog::registry_with(&Settings { outbox_dir: outbox.path().into(), ..Settings::default() }).unwrap()
}

/// What came back: the status, the problem's headers aside, and the text.
async fn send(api: &Api, token: Option<&str>, ask: &Ask) -> (u16, String) {
    let request = Request::builder().method(ask.method.clone()).uri(&ask.path);
    let request = ask.headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    let request = match token {
        Some(token) => request.header("authorization", token),
        None => request,
    };
    let response = api.raw(request.body(Body::from(ask.body.clone())).unwrap()).await;
    let status = response.status();
    if status == StatusCode::UNAUTHORIZED {
        let said = response.headers()["www-authenticate"].to_str().unwrap();
        assert!(said == "Bearer" || said.starts_with("Bearer resource_metadata=\"https://"), "{ask:?} {said}");
    }
    let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status.as_u16(), String::from_utf8(bytes.to_vec()).unwrap())
}

/// An answer without what names the request and the things that were asked for.
fn plain((status, text): (u16, String), things: &Things) -> (u16, String) {
    let mut text = text;
    if let Ok(mut body) = serde_json::from_str::<Value>(&text)
        && let Some(fields) = body.as_object_mut()
    {
        fields.remove("requestId");
        text = body.to_string();
    }
    (status, things.names().fold(text, |text, (kind, name)| text.replace(name, kind)))
}

fn routes_of(registry: &Registry) -> BTreeSet<String> {
    let document = tandem_http::openapi(registry);
    let paths = document["paths"].as_object().unwrap().iter();
    let routes = paths.flat_map(|(path, methods)| {
        methods.as_object().unwrap().keys().map(move |method| format!("{} {path}", method.to_uppercase()))
    });
    routes.collect()
}

#[test]
fn every_route_has_a_row_and_every_row_a_route() {
    let outbox = tempfile::tempdir().unwrap();
    let routes = routes_of(&catalog(&outbox));
    let rows: BTreeSet<String> = rows::table().iter().map(|row| row.route.to_owned()).collect();
    assert_eq!(rows, routes);
    // What is in the repository for others is the same.
    let written: Value = serde_json::from_str(include_str!("../../../../../docs/openapi.json")).unwrap();
    let paths: BTreeSet<&str> = written["paths"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(paths, routes.iter().filter_map(|route| route.split_once(' ')).map(|(_, path)| path).collect());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_gets_in_where_they_do_not_belong() {
    let outbox = tempfile::tempdir().unwrap();
    let people = People::new().await;
    let api = Api::new(catalog(&outbox)).await.behind(people.door());
    let anns = Things::of(&api, &people.ann, PRIVATE).await;
    let bobs = Things::of(&api, &people.bob, "bob's").await;
    let nothing = Things::unknown();
    let mut faults = Vec::new();
    for Row { route, holds, right, ask: about, .. } in rows::table() {
        let ask = about(&anns);
        let mut expect = |who: &str, got: &(u16, String), holds: bool| {
            if !holds {
                faults.push(format!("{route} {who}: {} {}", got.0, got.1.chars().take(300).collect::<String>()));
            }
        };
        let quiet = |got: &(u16, String)| !got.1.contains(PRIVATE) && !got.1.contains(SHARED);
        for (what, token) in people.strangers() {
            let got = send(&api, token.as_deref(), &ask).await;
            match holds {
                Holds::Nothing => expect(what, &got, got.0 == right),
                _ => expect(what, &got, got.0 == 401 && quiet(&got)),
            }
            if ask.method == Method::GET && holds != Holds::Nothing {
                let head = Ask { method: Method::HEAD, ..ask.clone() };
                let got = send(&api, token.as_deref(), &head).await;
                expect("HEAD", &got, got.0 == 401);
            }
        }
        for (who, token) in [("of another tenant", &people.eve), ("of the same tenant", &people.bob)] {
            let got = send(&api, Some(token), &ask).await;
            match holds {
                Holds::Nothing => expect(who, &got, got.0 == right),
                Holds::Dispatches => expect(who, &got, got.0 == 401),
                Holds::Own => expect(who, &got, got.0 == right && quiet(&got)),
                Holds::Team => {
                    let hidden = got.1.contains(PRIVATE) || (who == "of another tenant" && got.1.contains(SHARED));
                    expect(who, &got, got.0 == right && !hidden);
                }
                Holds::One { refused } => {
                    expect(who, &got, got.0 == refused && quiet(&got));
                    let unknown = send(&api, Some(token), &about(&nothing)).await;
                    let (got, unknown) = (plain(got, &anns), plain(unknown, &nothing));
                    let text = format!("{} is not, as of what does not exist, {} {}", got.1, unknown.0, unknown.1);
                    expect(who, &(got.0, text), got == unknown);
                }
            }
        }
    }
    // Somebody's own thread, with somebody else's run in it.
    for Row { route, mixed, .. } in rows::table() {
        let Some(mixed) = mixed else { continue };
        let got = send(&api, Some(&people.bob), &mixed(&bobs, &anns)).await;
        let unknown = send(&api, Some(&people.bob), &mixed(&bobs, &nothing)).await;
        if got.1.contains(PRIVATE) || got.0 != unknown.0 {
            faults
                .push(format!("{route} with a foreign run: {} {}; unknown: {} {}", got.0, got.1, unknown.0, unknown.1));
        }
        if got.0 >= 400 && plain(got.clone(), &anns) != plain(unknown.clone(), &nothing) {
            faults.push(format!("{route} tells a foreign run from none: {got:?} {unknown:?}"));
        }
    }
    // Who is here has to say so again: this takes longer than a presence where the machine is busy.
    anns.come_back(&api, &people.ann, PRIVATE).await;
    // At the end the right person: what the others did has changed nothing.
    for Row { route, holds, right, ask, shows, .. } in rows::table() {
        let ask = ask(&anns);
        let token = if holds == Holds::Dispatches { None } else { Some(&*people.ann) };
        let ask = if holds == Holds::Dispatches { Ask { body: anns.dispatch.clone(), ..ask } } else { ask };
        let got = send(&api, token, &ask).await;
        if got.0 != right || !shows.is_none_or(|text| got.1.contains(text)) {
            faults.push(format!("{route} by the right person: {} {}", got.0, got.1));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Whether a caller is let in is decided before anything is read.
#[tokio::test]
async fn strangers_never_reach_the_store() {
    let outbox = tempfile::tempdir().unwrap();
    let people = People::new().await;
    let api = Api::new(catalog(&outbox)).await.without_store(people.door());
    let things = Things::unknown();
    for Row { route, holds, ask, .. } in rows::table() {
        let mut ask = ask(&things);
        for body in [ask.body.clone(), "{".to_owned()] {
            ask.body = body;
            for (what, token) in people.strangers() {
                let got = send(&api, token.as_deref(), &ask).await;
                let want = if holds == Holds::Nothing { 200 } else { 401 };
                assert_eq!(got.0, want, "{route} {what}: {}", got.1);
            }
        }
    }
    // It is true that there is none.
    assert_eq!(send(&api, Some(&people.ann), &Ask::get("/threads")).await.0, 500);
}

#[tokio::test]
async fn an_action_with_roles_is_for_those_who_have_one_through_every_door() {
    let people = People::new().await;
    let api = sample::api().await.behind(people.door());
    let direct = Ask::get("/api/for-admins?name=n");
    let by_mcp = rows::tool("for-admins", "{\"name\":\"n\"}");
    let turn = json!({"message": "/for-admins {\"name\":\"n\"}"});
    for (token, right) in [(&people.ann, false), (&people.bob, false), (&people.chief, true)] {
        let got = send(&api, Some(token), &direct).await;
        assert_eq!(got.0, if right { 200 } else { 403 }, "{got:?}");
        let (_, listed) = send(&api, Some(token), &Ask::get("/api")).await;
        assert_eq!(listed.contains("for-admins"), right);
        let (_, called) = send(&api, Some(token), &by_mcp).await;
        assert_eq!(called.contains("\"isError\":true"), !right, "{called}");
        // The agent has the roles of who speaks to it.
        let (run, _) = things::start(&api, token, &turn).await;
        let said = things::ended(&api, token, &run).await;
        assert_eq!(said.iter().any(|chunk| chunk["type"] == "tool-output-available"), right, "{said:?}");
    }
}

/// Whoever gets at a shared thread reads the records of its runs, and those do not tell what their owner may do.
#[tokio::test]
async fn a_run_does_not_tell_the_roles_of_its_owner() {
    let people = People::new().await;
    let api = sample::api().await.behind(people.door());
    let turn = json!({"message": "/for-admins {\"name\":\"n\"}"});
    let (run, thread) = things::start(&api, &people.chief, &turn).await;
    // They hold for the run all the same.
    let said = things::ended(&api, &people.chief, &run).await;
    assert!(said.iter().any(|chunk| chunk["type"] == "tool-output-available"), "{said:?}");
    let path = format!("/threads/{thread}");
    let share = Ask { method: Method::PATCH, ..Ask::post(&path, "{\"shared\":true}") };
    assert_eq!(send(&api, Some(&people.chief), &share).await.0, 200);
    for ask in [
        Ask::get(&format!("/runs/{run}")),
        Ask::get(&format!("/runs?threadId={thread}")),
        Ask::post(&format!("/runs/{run}/abort"), ""),
        Ask::get(&format!("/events?thread={thread}@0.0.0")),
    ] {
        let (status, text) = send(&api, Some(&people.bob), &ask).await;
        assert_eq!(status, 200, "{text}");
        assert!(text.contains("\"owner\":{\"tenant\":\"acme\",\"user\":\"chief\"}"), "{ask:?} {text}");
        assert!(!text.contains("admin\"") && !text.contains("roles"), "{ask:?} {text}");
    }
}
