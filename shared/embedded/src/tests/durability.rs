//! What an acknowledged write outlives, and who may open the file.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use super::doors::{TABLE, create_table};
use super::value::{attribute, item};
use crate::Engine;

/// Set in the child of the test below; holds the folder to write to.
const WRITER: &str = "TANDEM_TEST_WRITER_DIR";

#[tokio::test]
async fn an_acknowledged_write_outlives_kill_9() {
    if let Ok(dir) = std::env::var(WRITER) {
        write_until_killed(Path::new(&dir)).await;
    }
    let dir = tempfile::tempdir().unwrap();
    let name = "tests::durability::an_acknowledged_write_outlives_kill_9";
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env(WRITER, dir.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut acknowledged = lines.filter_map(|line| line.strip_prefix("wrote ").map(|n| n.parse::<usize>().unwrap()));
    let enough = acknowledged.by_ref().find(|n| *n >= 500).unwrap();
    child.kill().unwrap();
    let last = acknowledged.last().unwrap_or(enough);
    child.wait().unwrap();

    let client = Engine::open(dir.path()).unwrap().client();
    let found = client
        .query()
        .table_name(TABLE)
        .key_condition_expression("pk = :pk")
        .expression_attribute_values(":pk", attribute(&"RUN#1".into()))
        .into_paginator()
        .items()
        .send()
        .collect::<Result<Vec<_>, _>>()
        .await
        .unwrap();
    assert!(found.len() > last, "{} acknowledged, {} found", last + 1, found.len());
}

async fn write_until_killed(dir: &Path) -> ! {
    let client = Engine::open(dir).unwrap().client();
    create_table(&client).await;
    for n in 0_usize.. {
        let frame = item(&json!({"pk": "RUN#1", "sk": format!("LOG#{n:012}"), "text": "x".repeat(500)}));
        client.put_item().table_name(TABLE).set_item(Some(frame)).send().await.unwrap();
        let mut out = std::io::stdout().lock();
        writeln!(out, "wrote {n}").and_then(|()| out.flush()).unwrap();
    }
    unreachable!("the numbers do not end")
}

#[tokio::test]
async fn a_second_opener_is_refused_until_the_last_user_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let client = Engine::open(dir.path()).unwrap().client();
    create_table(&client).await;
    let refused = Engine::open(dir.path()).unwrap_err().to_string();
    assert!(refused.contains("in use by another process"), "{refused}");
    drop(client);
    let client = Engine::open(dir.path()).unwrap().client();
    assert_eq!(client.list_tables().send().await.unwrap().table_names(), [TABLE]);
}

#[tokio::test]
async fn expired_items_go_when_swept() {
    let engine = Engine::in_memory().unwrap();
    let client = engine.client();
    create_table(&client).await;
    let ttl = aws_sdk_dynamodb::types::TimeToLiveSpecification::builder().enabled(true).attribute_name("expires_at");
    client
        .update_time_to_live()
        .table_name(TABLE)
        .time_to_live_specification(ttl.build().unwrap())
        .send()
        .await
        .unwrap();
    for (sk, expires_at) in [("past", 1_000_000_000_u64), ("future", 9_000_000_000)] {
        let row = item(&json!({"pk": "A", "sk": sk, "expires_at": expires_at}));
        client.put_item().table_name(TABLE).set_item(Some(row)).send().await.unwrap();
    }
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let row = item(&json!({"pk": "A", "sk": "just now", "expires_at": now - 60}));
    client.put_item().table_name(TABLE).set_item(Some(row)).send().await.unwrap();
    let swept = engine.sweep_ttl().await.unwrap();
    let left = client.scan().table_name(TABLE).send().await.unwrap();
    let left: Vec<_> = left.items().iter().map(|row| row["sk"].as_s().unwrap().as_str()).collect();
    assert_eq!((swept, left), (2, vec!["future"]));
}

/// A paused clock runs ahead whenever tokio has nothing to do; a request in the engine must count as something.
#[tokio::test(start_paused = true)]
async fn a_paused_clock_waits_for_the_engine() {
    let client = Engine::in_memory().unwrap().client();
    let started = tokio::time::Instant::now();
    for _ in 0..50 {
        client.list_tables().send().await.unwrap();
    }
    assert_eq!(started.elapsed(), std::time::Duration::ZERO);
}
