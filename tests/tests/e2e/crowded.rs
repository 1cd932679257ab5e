//! How much one person, and one tenant, may do at a time: two processes let in no more than one would.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures::future::join_all;
use serde_json::{Value, json};
use tandem_tests::{Answer, Api, PATIENCE, Split, new_id, until, within};

/// A death is noticed soon.
const SOON: [(&str, &str); 3] = [("LEASE_MS", "1500"), ("HEARTBEAT_MS", "300"), ("DUE_AHEAD_MS", "300")];

/// Starts `count` turns at once, at one process and the other in turn.
async fn crowd(apis: &[Api], count: usize, message: &str) -> Vec<(Value, Answer)> {
    join_all((0..count).map(|n| async move {
        let body = json!({"message": message, "turnId": format!("m-{}", new_id())});
        let api = &apis[n % apis.len()];
        let response = api.chat(&body).header("accept", "application/json").send().await.unwrap();
        let retry_after = response.headers().get("retry-after").map(|value| value.to_str().unwrap().to_owned());
        let answer = Answer { status: response.status().as_u16(), body: response.json().await.unwrap() };
        match answer.status {
            202 => assert_eq!(retry_after, None),
            429 => {
                assert_eq!(answer.body["code"], "throttled", "{answer:?}");
                let seconds: u64 = retry_after.expect("Retry-After").parse().unwrap();
                assert!(seconds > 0 && answer.body["retryAfter"] == seconds, "{answer:?}");
            }
            _ => panic!("{answer:?}"),
        }
        (body, answer)
    }))
    .await
}

/// The runs that were let in.
fn let_in(answers: &[(Value, Answer)]) -> Vec<String> {
    let runs = answers.iter().filter(|(_, answer)| answer.status == 202);
    runs.map(|(_, answer)| answer.body["runId"].as_str().unwrap().to_owned()).collect()
}

fn as_person(split: &Split, person: &str) -> Vec<Api> {
    (0..split.foregrounds.len()).map(|n| split.api(n).as_person(person)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_starts_at_once_through_two_processes_are_never_more_than_the_limit() {
    let env = [&SOON[..], &[("MAX_RUNS_PER_USER", "5")]].concat();
    let mut split = Split::start(2, 1, &env).await;
    let ann = as_person(&split, "acme.ann");
    let answers = crowd(&ann, 50, "@wait 60s").await;
    let runs = let_in(&answers);
    assert_eq!(runs.len(), 5);

    // The same start again is the same run, and no further one; somebody else has numbers of their own.
    let (body, first) = answers.iter().find(|(_, answer)| answer.status == 202).unwrap();
    let again = ann[1].answer(ann[1].chat(body)).await;
    assert_eq!((again.status, &again.body["runId"]), (202, &first.body["runId"]));
    assert_eq!(let_in(&crowd(&as_person(&split, "acme.bob"), 2, "@say 1 every 0").await).len(), 2);
    assert_eq!(let_in(&crowd(&ann, 4, "hello").await), [""; 0]);

    // One that goes on in place of another needs no room.
    let thread = first.body["threadId"].as_str().unwrap();
    let instead = json!({"message": "@wait 60s", "threadId": thread, "whenBusy": "interrupt"});
    let instead = ann[0].start(&instead).await.run;
    assert_eq!(let_in(&crowd(&ann, 4, "hello").await), [""; 0]);

    // One that ends makes room for one.
    ann[0].abort(&instead).await;
    let more = let_in(&crowd(&ann, 10, "@wait 60s").await);
    assert_eq!(more.len(), 1);

    // Holders that die leave nothing behind: others end their runs.
    let held: Vec<String> = runs.into_iter().filter(|run| first.body["runId"] != *run).chain(more).collect();
    split.backgrounds[0].kill();
    split.add_background().await;
    for run in &held {
        ann[1].abort(run).await;
        until("the run to end", async || ann[1].run(run).await["endedAt"].is_number().then_some(())).await;
    }
    // Longer than the crowd takes to be answered, and short enough to be said anew by another holder.
    let after = let_in(&crowd(&ann, 10, "@wait 8s").await);
    assert_eq!(after.len(), 5);
    split.backgrounds.iter_mut().for_each(|background| background.kill());
    split.add_background().await;
    // What is waited for takes ten seconds and more on a machine that is idle.
    within(3 * PATIENCE, "the dead holder's runs to be ended by others", async {
        loop {
            split.sweep().await;
            let ended = join_all(after.iter().map(|run| ann[0].run(run))).await;
            if ended.iter().all(|run| run["status"] == "completed") {
                return;
            }
        }
    })
    .await;
    assert_eq!(let_in(&crowd(&ann, 12, "@wait 60s").await).len(), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_has_a_limit_for_all_its_people_and_for_long_actions() {
    let split = Split::start(2, 1, &[("MAX_RUNS_PER_TENANT", "6"), ("MAX_RUNS_PER_USER", "4")]).await;
    let (ann, bob) = (as_person(&split, "acme.ann"), as_person(&split, "acme.bob"));
    let (of_ann, of_bob) = tokio::join!(crowd(&ann, 10, "@wait 60s"), crowd(&bob, 10, "@wait 60s"));
    let (of_ann, of_bob) = (let_in(&of_ann), let_in(&of_bob));
    assert_eq!(of_ann.len() + of_bob.len(), 6);
    assert!(of_ann.len() <= 4 && of_bob.len() <= 4, "{of_ann:?} {of_bob:?}");
    // A run for an action is one too, and another tenant has nothing to do with it.
    let import = |api: &Api| api.request(reqwest::Method::POST, "/api/import-emails").json(&json!({"count": 1}));
    let cy = as_person(&split, "acme.cy").remove(0);
    let refused = cy.refusal(import(&cy)).await;
    assert_eq!((&refused["code"], &refused["status"]), (&json!("throttled"), &json!(429)));
    let eve = split.api(0).as_person("other.eve");
    assert_eq!(eve.answer(import(&eve)).await.status, 202);
    // Another of the tenant cannot make room with it; its owner can.
    assert_eq!(bob[0].abort(&of_ann[0]).await.status, 404);
    assert_eq!(cy.refusal(import(&cy)).await["code"], "throttled");
    assert_eq!(ann[0].abort(&of_ann[0]).await.body["status"], "aborted");
    assert_eq!(cy.answer(import(&cy)).await.status, 202);
}

/// The tests count by the minute.
async fn early_in_a_minute() {
    let into = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() % 60;
    if into > 30 {
        tokio::time::sleep(Duration::from_secs(61 - into)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_of_a_person_in_a_minute_are_counted_over_all_processes() {
    let split = Split::start(2, 0, &[("MAX_REQUESTS_PER_USER", "20"), ("MAX_REQUESTS_PER_TENANT", "30")]).await;
    let (ann, bob) = (as_person(&split, "acme.ann"), as_person(&split, "acme.bob"));
    early_in_a_minute().await;
    let ask = async |apis: &[Api], count: usize| {
        let asked = (0..count).map(|n| apis[n % 2].get("/threads").send());
        let statuses = join_all(asked).await.into_iter().map(|answer| answer.unwrap().status().as_u16());
        let (mut good, mut throttled) = (0, 0);
        for status in statuses {
            match status {
                200 => good += 1,
                429 => throttled += 1,
                other => panic!("{other}"),
            }
        }
        (good, throttled)
    };
    assert_eq!(ask(&ann, 40).await, (20, 20));
    let refused = ann[0].refusal(ann[0].get("/threads")).await;
    assert!(refused["code"] == "throttled" && (1..=60).contains(&refused["retryAfter"].as_u64().unwrap()), "{refused}");
    // The tenant has ten left, and strangers and the service itself are not counted.
    assert_eq!(ask(&bob, 15).await, (10, 5));
    for _ in 0..40 {
        assert_eq!(split.api(0).with_token("nobody").get("/threads").send().await.unwrap().status(), 401);
    }
    assert_eq!(ann[0].get("/healthz").send().await.unwrap().status(), 200);
    assert_eq!(ask(&as_person(&split, "other.eve"), 10).await, (10, 0));
    assert!(split.foregrounds[0].log().contains("requests throttled"), "{}", split.foregrounds[0].log());
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_no_requests_left_can_still_stop_what_runs() {
    let split = Split::start(1, 1, &[("MAX_REQUESTS_PER_USER", "4"), ("MAX_REQUESTS_PER_TENANT", "20")]).await;
    let (ann, eve) = (split.api(0).as_person("acme.ann"), split.api(0).as_person("other.eve"));
    early_in_a_minute().await;
    let started = ann.start(&json!({"message": "@wait 60s"})).await;
    let mut asked = 0;
    while ann.get("/threads").send().await.unwrap().status() != 429 {
        asked += 1;
        assert!(asked < 10);
    }
    let turn = format!("/threads/{}/turns/{}/abort", started.thread, started.turn);
    let stop_turn = |api: &Api| api.request(reqwest::Method::POST, &turn);
    // What is not theirs stays so.
    assert_eq!(eve.abort(&started.run).await.status, 404);
    assert_eq!(split.api(0).with_token("nobody").abort(&started.run).await.status, 401);
    for _ in 0..6 {
        assert_eq!(ann.abort(&started.run).await.body["status"], "aborted");
        assert_eq!(ann.answer(stop_turn(&ann)).await.body["status"], "aborted");
    }
    assert_eq!(ann.get("/threads").send().await.unwrap().status(), 429);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_person_has_so_many_streams_of_a_process() {
    let split = Split::start(1, 1, &[("MAX_STREAMS_PER_USER", "3")]).await;
    let (ann, bob) = (split.api(0).as_person("acme.ann"), split.api(0).as_person("acme.bob"));
    let run = ann.start(&json!({"message": "@wait 60s"})).await.run;
    let paths = ["/events?scope=user".to_owned(), "/state/user/events".into(), format!("/runs/{run}/events")];
    let mut open = Vec::new();
    for path in &paths {
        let stream = ann.get(path).send().await.unwrap();
        assert_eq!(stream.status(), 200, "{path}");
        open.push(stream);
    }
    for path in &paths {
        let refused = ann.refusal(ann.get(path)).await;
        assert!(refused["code"] == "throttled" && refused["retryAfter"].is_number(), "{path} {refused}");
    }
    // Who waits for JSON holds as much as a stream does; who takes what is there does not.
    let poll = |query: &str| ann.get(&format!("/runs/{run}/events?{query}")).header("accept", "application/json");
    assert_eq!(ann.refusal(poll("after=1000&wait=5")).await["code"], "throttled");
    assert_eq!(poll("wait=0").send().await.unwrap().status(), 200);
    // No run begins that nobody could see; one that nobody wants to see does.
    let refused = ann.refusal(ann.chat(&json!({"message": "hello", "turnId": "m-9"}))).await;
    assert_eq!(refused["code"], "throttled");
    let started = ann.start(&json!({"message": "hello", "turnId": "m-9"})).await;
    assert_eq!(ann.run_is(&started.run, "completed").await["status"], "completed");
    assert_eq!(bob.get(&paths[0]).send().await.unwrap().status(), 200);
    // Whoever leaves makes room.
    for stream in open {
        drop(stream);
        until("room for a stream", async || {
            let stream = ann.get(&paths[0]).send().await.unwrap();
            (stream.status() == 200).then_some(())
        })
        .await;
    }
}
