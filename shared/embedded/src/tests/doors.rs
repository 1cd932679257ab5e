//! The two doors to a fresh engine, and the table that the cases share.

use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType, Projection, ProjectionType,
    ScalarAttributeType, TableStatus,
};
use tokio::net::TcpListener;

use crate::Engine;
use crate::engine::client_config;

pub(super) const TABLE: &str = "tandem";
pub(super) const INDEX: &str = "due";

/// A client of a new engine, without a socket.
pub(super) async fn in_process() -> Client {
    let client = Engine::in_memory().unwrap().client();
    create_table(&client).await;
    client
}

/// A client of a new engine, over a loopback port.
pub(super) async fn over_http() -> Client {
    let endpoint = serve(&Engine::in_memory().unwrap()).await;
    let client = Client::from_conf(client_config().endpoint_url(endpoint).build());
    create_table(&client).await;
    client
}

/// Opens the HTTP door and returns its address; it closes with the test's runtime.
pub(super) async fn serve(engine: &Engine) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let engine = engine.clone();
    tokio::spawn(async move { engine.serve(listener).await });
    endpoint
}

/// The shape of Tandem's table: `pk`/`sk`, and the sparse index `due` that holds keys only.
pub(super) async fn create_table(client: &Client) {
    let attribute =
        |name: &str, kind| AttributeDefinition::builder().attribute_name(name).attribute_type(kind).build().unwrap();
    let keys = |hash: &str, range: &str| {
        [(hash, KeyType::Hash), (range, KeyType::Range)]
            .map(|(name, kind)| KeySchemaElement::builder().attribute_name(name).key_type(kind).build().unwrap())
            .to_vec()
    };
    let due = GlobalSecondaryIndex::builder()
        .index_name(INDEX)
        .set_key_schema(Some(keys("due_shard", "due_at")))
        .projection(Projection::builder().projection_type(ProjectionType::KeysOnly).build())
        .build()
        .unwrap();
    client
        .create_table()
        .table_name(TABLE)
        .billing_mode(BillingMode::PayPerRequest)
        .attribute_definitions(attribute("pk", ScalarAttributeType::S))
        .attribute_definitions(attribute("sk", ScalarAttributeType::S))
        .attribute_definitions(attribute("due_shard", ScalarAttributeType::N))
        .attribute_definitions(attribute("due_at", ScalarAttributeType::N))
        .set_key_schema(Some(keys("pk", "sk")))
        .global_secondary_indexes(due)
        .send()
        .await
        .unwrap();
    // The engine answers CREATING at first, as AWS does.
    while !is_active(client).await {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn is_active(client: &Client) -> bool {
    let described = client.describe_table().table_name(TABLE).send().await.unwrap();
    described.table.unwrap().table_status == Some(TableStatus::Active)
}
