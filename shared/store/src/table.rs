//! The one table and its sparse `due` index. `template.yaml` creates the same on AWS.

use std::time::Duration;

use aws_sdk_dynamodb::error::ProvideErrorMetadata;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType, Projection, ProjectionType,
    ScalarAttributeType, TableStatus, TimeToLiveSpecification,
};

use crate::{Store, StoreError};

/// The index over runs that are not terminal, spread so that no single key takes all their writes.
pub const DUE_SHARDS: u8 = 8;

/// The shard of the index that holds deleted threads.
pub(crate) const DELETED_SHARD: u8 = DUE_SHARDS;

pub(crate) const DUE_INDEX: &str = "due";

impl Store {
    /// Creates the table if it does not exist and waits until it can be used. Whoever starts first does it.
    pub async fn create_table(&self) -> Result<(), StoreError> {
        let attribute = |name: &str, kind: ScalarAttributeType| {
            AttributeDefinition::builder().attribute_name(name).attribute_type(kind).build().map_err(rejected)
        };
        let element = |name: &str, kind: KeyType| {
            KeySchemaElement::builder().attribute_name(name).key_type(kind).build().map_err(rejected)
        };
        let due = GlobalSecondaryIndex::builder()
            .index_name(DUE_INDEX)
            .key_schema(element("due_shard", KeyType::Hash)?)
            .key_schema(element("due_at", KeyType::Range)?)
            .projection(Projection::builder().projection_type(ProjectionType::KeysOnly).build())
            .build()
            .map_err(rejected)?;
        let created = self
            .db
            .create_table()
            .table_name(&self.table)
            .billing_mode(BillingMode::PayPerRequest)
            .attribute_definitions(attribute("pk", ScalarAttributeType::S)?)
            .attribute_definitions(attribute("sk", ScalarAttributeType::S)?)
            .attribute_definitions(attribute("due_shard", ScalarAttributeType::N)?)
            .attribute_definitions(attribute("due_at", ScalarAttributeType::N)?)
            .key_schema(element("pk", KeyType::Hash)?)
            .key_schema(element("sk", KeyType::Range)?)
            .global_secondary_indexes(due)
            .send()
            .await;
        let new = match created {
            Ok(_) => true,
            Err(error) if error.code() == Some("ResourceInUseException") => false,
            Err(error) => return Err(error.into()),
        };
        self.wait_until_active().await?;
        if new {
            let spec = TimeToLiveSpecification::builder().attribute_name("expires_at").enabled(true).build();
            let spec = spec.map_err(rejected)?;
            self.db.update_time_to_live().table_name(&self.table).time_to_live_specification(spec).send().await?;
        }
        Ok(())
    }

    async fn wait_until_active(&self) -> Result<(), StoreError> {
        for _ in 0..600 {
            let described = self.db.describe_table().table_name(&self.table).send().await?;
            if described.table.and_then(|table| table.table_status) == Some(TableStatus::Active) {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Err(StoreError::Unavailable(format!("the table {} is not active after a minute", self.table)))
    }
}

fn rejected(error: impl std::fmt::Display) -> StoreError {
    StoreError::Rejected(error.to_string())
}
