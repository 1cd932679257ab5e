//! The table's whole content, through the AWS SDK.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::{BehaviorVersion, Config, Credentials, Region};
use aws_sdk_dynamodb::types::AttributeValue;

/// An item as text: its attributes in the order of their names.
type Shown = BTreeMap<String, String>;

/// The table of a `tandem dynamodb`.
#[derive(Debug)]
pub struct Table(Client);

impl Table {
    pub fn at(url: &str) -> Self {
        let config = Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::from_static("us-east-1"))
            .credentials_provider(Credentials::new("local", "local", None, None, "local"))
            .endpoint_url(url)
            .build();
        Table(Client::from_conf(config))
    }

    /// Every item, by key.
    pub async fn content(&self) -> BTreeMap<(String, String), Shown> {
        let mut items = BTreeMap::new();
        let mut pages = self.0.scan().table_name("tandem").consistent_read(true).into_paginator().items().send();
        while let Some(item) = pages.next().await {
            let item = item.unwrap();
            let key = |name: &str| item[name].as_s().unwrap().clone();
            let shown = item.iter().map(|(name, value)| (name.clone(), format!("{value:?}"))).collect();
            items.insert((key("pk"), key("sk")), shown);
        }
        items
    }

    /// Moves the end of a run into the past.
    pub async fn age(&self, run: &str, ended_at: i64) {
        let update = self.0.update_item().table_name("tandem");
        let update =
            update.key("pk", AttributeValue::S(format!("RUN#{run}"))).key("sk", AttributeValue::S("RUN".into()));
        let update = update.update_expression("SET endedAt = :at").condition_expression("attribute_exists(endedAt)");
        update.expression_attribute_values(":at", AttributeValue::N(ended_at.to_string())).send().await.unwrap();
    }
}
