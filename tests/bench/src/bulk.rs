//! Filling the table by the thousand, past the runtime: what is there is measured, not how it came there.

use std::collections::HashMap;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{AttributeValue, PutRequest, WriteRequest};

pub(crate) type Item = HashMap<String, AttributeValue>;

const TABLE: &str = "tandem";
/// Most that one request may hold.
const BATCH: usize = 25;

pub(crate) struct Bulk(Client);

impl Bulk {
    pub(crate) fn at(url: &str) -> Self {
        Bulk(tandem_tests::Table::client(url))
    }

    /// Items of a partition whose sort keys begin so, in their order.
    pub(crate) async fn items(&self, partition: &str, prefix: &str) -> Vec<Item> {
        let query = self.0.query().table_name(TABLE).consistent_read(true);
        let query = query.key_condition_expression("pk = :pk AND begins_with(sk, :prefix)");
        let query =
            query.expression_attribute_values(":pk", s(partition)).expression_attribute_values(":prefix", s(prefix));
        query.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await.unwrap()
    }

    /// Puts items, whatever was there.
    pub(crate) async fn put(&self, items: impl IntoIterator<Item = Item>) {
        let mut items = items.into_iter().peekable();
        while items.peek().is_some() {
            let requests = items.by_ref().take(BATCH).map(|item| {
                let put = PutRequest::builder().set_item(Some(item)).build().unwrap();
                WriteRequest::builder().put_request(put).build()
            });
            let batch = self.0.batch_write_item().request_items(TABLE, requests.collect());
            let left = batch.send().await.unwrap().unprocessed_items.unwrap_or_default();
            assert!(left.is_empty(), "the store took only a part");
        }
    }
}

/// A copy with other attributes.
pub(crate) fn with<const N: usize>(item: &Item, attributes: [(&str, AttributeValue); N]) -> Item {
    let mut item = item.clone();
    item.extend(attributes.map(|(name, value)| (name.to_owned(), value)));
    item
}

pub(crate) fn s(text: impl Into<String>) -> AttributeValue {
    AttributeValue::S(text.into())
}

pub(crate) fn n(number: impl ToString) -> AttributeValue {
    AttributeValue::N(number.to_string())
}
