//! How fast the two doors are, in memory and on disk.
//!
//! ```sh
//! cargo run --release -p tandem-embedded --example throughput
//! ```
#![allow(clippy::print_stdout)]

use std::collections::HashMap;
use std::time::Instant;

use anyhow::Context;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::{BehaviorVersion, Config, Credentials, Region};
use aws_sdk_dynamodb::types::{
    AttributeDefinition, AttributeValue, BillingMode, KeySchemaElement, KeyType, ScalarAttributeType,
};
use tandem_embedded::{Durability, Engine};

const WRITES: usize = 1000;
const READS: usize = 1000;
/// About what a frame of a run's log holds.
const ITEM_BYTES: usize = 500;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    println!("door        data                     puts/s  queries/s");
    for door in ["in process", "http"] {
        measure(door, "memory", Engine::in_memory()?).await?;
        measure(door, "file, Durability::Process", Engine::open(&dir.path().join(door))?).await?;
        let durable = Engine::open_with(&dir.path().join(format!("{door}-durable")), Durability::Power)?;
        measure(door, "file, Durability::Power", durable).await?;
    }
    Ok(())
}

async fn measure(door: &str, data: &str, engine: Engine) -> anyhow::Result<()> {
    let client = match door {
        "http" => over_http(&engine).await?,
        _ => engine.client(),
    };
    create_table(&client).await?;
    let started = Instant::now();
    for n in 0..WRITES {
        put(&client, n).await?;
    }
    let puts = WRITES as f64 / started.elapsed().as_secs_f64();
    let started = Instant::now();
    for n in 0..READS {
        query(&client, n).await?;
    }
    let queries = READS as f64 / started.elapsed().as_secs_f64();
    println!("{door:<11} {data:<25} {puts:>5.0} {queries:>10.0}");
    Ok(())
}

async fn put(client: &Client, n: usize) -> anyhow::Result<()> {
    let item = HashMap::from([
        ("pk".to_owned(), AttributeValue::S("RUN#1".into())),
        ("sk".to_owned(), AttributeValue::S(format!("LOG#{n:012}"))),
        ("text".to_owned(), AttributeValue::S("x".repeat(ITEM_BYTES))),
    ]);
    let put = client.put_item().table_name("tandem").set_item(Some(item));
    put.condition_expression("attribute_not_exists(pk)").send().await?;
    Ok(())
}

/// The read of a follower: what came after its cursor.
async fn query(client: &Client, n: usize) -> anyhow::Result<()> {
    let after = WRITES.saturating_sub(n % 10);
    client
        .query()
        .table_name("tandem")
        .key_condition_expression("pk = :pk AND sk >= :after")
        .expression_attribute_values(":pk", AttributeValue::S("RUN#1".into()))
        .expression_attribute_values(":after", AttributeValue::S(format!("LOG#{after:012}")))
        .send()
        .await?;
    Ok(())
}

async fn over_http(engine: &Engine) -> anyhow::Result<Client> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let endpoint = format!("http://{}", listener.local_addr()?);
    let engine = engine.clone();
    tokio::spawn(async move { engine.serve(listener).await });
    let config = Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::from_static("us-east-1"))
        .credentials_provider(Credentials::new("a", "b", None, None, "example"))
        .endpoint_url(endpoint);
    Ok(Client::from_conf(config.build()))
}

async fn create_table(client: &Client) -> anyhow::Result<()> {
    let mut create = client.create_table().table_name("tandem").billing_mode(BillingMode::PayPerRequest);
    for (name, kind) in [("pk", KeyType::Hash), ("sk", KeyType::Range)] {
        create = create
            .key_schema(KeySchemaElement::builder().attribute_name(name).key_type(kind).build()?)
            .attribute_definitions(
                AttributeDefinition::builder().attribute_name(name).attribute_type(ScalarAttributeType::S).build()?,
            );
    }
    create.send().await.context("cannot create the table")?;
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    Ok(())
}
