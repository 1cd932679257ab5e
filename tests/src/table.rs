//! The table's whole content, through the AWS SDK.

use std::collections::{BTreeMap, BTreeSet};

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::{BehaviorVersion, Config, Credentials, Region};
use aws_sdk_dynamodb::types::AttributeValue;

/// Every item as text, by key.
pub type Content = BTreeMap<String, String>;

/// The table of a `tandem dynamodb`.
#[derive(Debug)]
pub struct Table(Client);

impl Table {
    pub fn at(url: &str) -> Self {
        Table(Self::client(url))
    }

    /// A client of a local engine, as the AWS SDK has it.
    pub fn client(url: &str) -> Client {
        let config = Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::from_static("us-east-1"))
            .credentials_provider(Credentials::new("local", "local", None, None, "local"))
            .endpoint_url(url)
            .build();
        Client::from_conf(config)
    }

    /// What the table holds.
    pub async fn content(&self) -> Content {
        let mut items = BTreeMap::new();
        let mut pages = self.0.scan().table_name("tandem").consistent_read(true).into_paginator().items().send();
        while let Some(item) = pages.next().await {
            let item = item.unwrap();
            let key = |name: &str| item[name].as_s().unwrap().clone();
            items.insert(key("pk") + " " + &key("sk"), shown(&AttributeValue::M(item.clone())));
        }
        items
    }

    /// Fails if the table holds anything else than `before`.
    pub async fn is_still(&self, before: &Content) {
        let now = self.content().await;
        let keys: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
        let changed = keys.into_iter().filter(|key| before.get(*key) != now.get(*key));
        let changes: Vec<_> = changed.map(|key| (key, before.get(key), now.get(key))).collect();
        assert!(changes.is_empty(), "(key, before, now): {changes:#?}");
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

/// The value as text; maps in the order of their names, since theirs is different each time.
fn shown(value: &AttributeValue) -> String {
    match value {
        AttributeValue::M(map) => {
            let sorted: BTreeMap<_, _> = map.iter().map(|(name, value)| (name, shown(value))).collect();
            format!("{sorted:?}")
        }
        AttributeValue::L(list) => format!("{:?}", list.iter().map(shown).collect::<Vec<_>>()),
        other => format!("{other:?}"),
    }
}
