//! Conditional writes, one item or a transaction, with their ambiguity resolved.

use std::collections::HashMap;
use std::time::Duration;

use aws_sdk_dynamodb::error::ProvideErrorMetadata;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{
    ConditionCheck, Delete, Put, ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update,
};

use crate::error::is_passing;
use crate::items::{Item, key_item, s};
use crate::keys::Key;
use crate::{Store, StoreError};

/// How often a write that meets a passing conflict or throttling is sent again, on top of the SDK's own retries.
const TRIES: u32 = 8;

/// A condition with its values. Names are given by the caller with `#`, values with `:`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Condition {
    pub(crate) text: String,
    pub(crate) names: Vec<(&'static str, &'static str)>,
    pub(crate) values: Vec<(&'static str, aws_sdk_dynamodb::types::AttributeValue)>,
}

impl Condition {
    /// The item must not exist.
    pub(crate) fn absent() -> Self {
        Condition { text: "attribute_not_exists(pk)".into(), ..Self::default() }
    }

    /// The item must be a turn that was stopped before it began.
    pub(crate) fn stop() -> Self {
        Condition { text: "attribute_exists(stoppedBy)".into(), ..Self::default() }
    }

    /// The item's `version` must be this one.
    pub(crate) fn version(version: u64) -> Self {
        Condition {
            text: "#version = :version".into(),
            names: vec![("#version", "version")],
            values: vec![(":version", crate::items::n(version))],
        }
    }
}

/// Names or values of an expression as the SDK takes them; an empty map is refused by DynamoDB.
pub(crate) fn filled<T: Into<V>, V>(pairs: Vec<(&'static str, T)>) -> Option<HashMap<String, V>> {
    let filled: HashMap<_, _> = pairs.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
    Some(filled).filter(|filled| !filled.is_empty())
}

/// What became of a conditional put.
#[derive(Debug)]
pub(crate) enum Written {
    Stored,
    /// The condition failed; the item that stood in the way, if there is one.
    Refused(Option<Item>),
}

/// What became of a transaction.
#[derive(Debug)]
pub(crate) enum Transacted {
    Committed,
    /// Per operation: whether its condition failed, and the item that stood in the way.
    Refused(Vec<Option<Blocked>>),
}

/// An operation whose condition failed.
#[derive(Debug)]
pub(crate) struct Blocked {
    pub(crate) item: Option<Item>,
}

impl Store {
    /// Puts one item on a condition. Conflicts with transactions and throttling mean "the same bytes again".
    pub(crate) async fn put(&self, item: Item, condition: Condition) -> Result<Written, StoreError> {
        let mut pause = Pause::up_to(TRIES);
        let call = self
            .db
            .put_item()
            .table_name(&self.table)
            .set_item(Some(item))
            .condition_expression(condition.text)
            .set_expression_attribute_names(filled(condition.names))
            .set_expression_attribute_values(filled(condition.values))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        loop {
            let error = match call.clone().send().await {
                Ok(_) => return Ok(Written::Stored),
                Err(error) => error,
            };
            if let Some(PutItemError::ConditionalCheckFailedException(failed)) = error.as_service_error() {
                return Ok(Written::Refused(failed.item.clone()));
            }
            let passing = error.code().is_some_and(is_passing);
            if !passing || !pause.again().await {
                return Err(error.into());
            }
        }
    }

    /// Commits all operations or none. The token makes a repeated request that already succeeded succeed again.
    pub(crate) async fn transact(&self, operations: Vec<TransactWriteItem>) -> Result<Transacted, StoreError> {
        let token = crate::new_id();
        let mut pause = Pause::up_to(TRIES);
        loop {
            let call = self
                .db
                .transact_write_items()
                .set_transact_items(Some(operations.clone()))
                .client_request_token(&token);
            let error = match call.send().await {
                Ok(_) => return Ok(Transacted::Committed),
                Err(error) => error,
            };
            let passing = match error.as_service_error() {
                Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) => {
                    let reasons = cancelled.cancellation_reasons();
                    if reasons.iter().any(|reason| reason.code() == Some("ConditionalCheckFailed")) {
                        let blocked = reasons.iter().map(|reason| {
                            let failed = reason.code() == Some("ConditionalCheckFailed");
                            failed.then(|| Blocked { item: reason.item.clone() })
                        });
                        return Ok(Transacted::Refused(blocked.collect()));
                    }
                    reasons.iter().all(|reason| {
                        matches!(
                            reason.code(),
                            None | Some(
                                "None" | "TransactionConflict" | "ThrottlingError" | "ProvisionedThroughputExceeded"
                            )
                        )
                    })
                }
                _ => error.code().is_some_and(is_passing),
            };
            if !passing {
                return Err(error.into());
            }
            if !pause.again().await {
                // A cancelled transaction has a code of its own, whatever its reasons are.
                return Err(StoreError::Unavailable(error.into_service_error().to_string()));
            }
        }
    }

    pub(crate) fn put_operation(&self, item: Item, condition: Condition) -> TransactWriteItem {
        let put = Put::builder()
            .table_name(&self.table)
            .set_item(Some(item))
            .condition_expression(condition.text)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .set_expression_attribute_names(filled(condition.names))
            .set_expression_attribute_values(filled(condition.values));
        TransactWriteItem::builder().set_put(put.build().ok()).build()
    }

    /// A put that replaces whatever is there.
    pub(crate) fn replace_operation(&self, item: Item) -> TransactWriteItem {
        let put = Put::builder().table_name(&self.table).set_item(Some(item)).build();
        TransactWriteItem::builder().set_put(put.ok()).build()
    }

    /// A deletion of whatever is there.
    pub(crate) fn delete_operation(&self, key: &Key) -> TransactWriteItem {
        let delete = Delete::builder().table_name(&self.table).set_key(Some(key_item(key))).build();
        TransactWriteItem::builder().set_delete(delete.ok()).build()
    }

    /// A change of one item; without a text the condition always holds.
    pub(crate) fn update_operation(&self, key: &Key, update: &str, condition: Condition) -> TransactWriteItem {
        let operation = Update::builder()
            .table_name(&self.table)
            .set_key(Some(key_item(key)))
            .update_expression(update)
            .set_condition_expression(Some(condition.text).filter(|text| !text.is_empty()))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .set_expression_attribute_names(filled(condition.names))
            .set_expression_attribute_values(filled(condition.values));
        TransactWriteItem::builder().set_update(operation.build().ok()).build()
    }

    /// Requires a condition of an item that the transaction does not write.
    pub(crate) fn check_operation(&self, key: &Key, condition: Condition) -> TransactWriteItem {
        let check = ConditionCheck::builder()
            .table_name(&self.table)
            .set_key(Some(key_item(key)))
            .condition_expression(condition.text)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .set_expression_attribute_names(filled(condition.names))
            .set_expression_attribute_values(filled(condition.values));
        TransactWriteItem::builder().set_condition_check(check.build().ok()).build()
    }

    /// Deletes one item on a condition; not meeting it is no failure.
    pub(crate) async fn delete_if(&self, key: &Key, condition: Condition) -> Result<(), StoreError> {
        let call = self
            .db
            .delete_item()
            .table_name(&self.table)
            .set_key(Some(key_item(key)))
            .condition_expression(condition.text)
            .set_expression_attribute_names(filled(condition.names))
            .set_expression_attribute_values(filled(condition.values));
        match call.send().await {
            Ok(_) => Ok(()),
            Err(error) if error.code() == Some("ConditionalCheckFailedException") => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Asks for the items of a partition whose sort keys lie in [from, to], in their order.
    pub(crate) fn between(
        &self,
        partition: impl Into<String>,
        from: impl Into<String>,
        to: impl Into<String>,
    ) -> QueryFluentBuilder {
        self.db
            .query()
            .table_name(&self.table)
            .key_condition_expression("pk = :pk AND sk BETWEEN :from AND :to")
            .expression_attribute_values(":pk", s(partition))
            .expression_attribute_values(":from", s(from))
            .expression_attribute_values(":to", s(to))
    }

    /// Reads one item, consistently.
    pub(crate) async fn get(&self, key: &Key) -> Result<Option<Item>, StoreError> {
        let call = self.db.get_item().table_name(&self.table).set_key(Some(key_item(key))).consistent_read(true);
        Ok(call.send().await?.item)
    }
}

/// Growing pauses with jitter between tries of something that others get in the way of.
#[derive(Debug)]
pub struct Pause {
    tries: u32,
    most: u32,
}

impl Pause {
    /// At most `most` tries in all.
    pub fn up_to(most: u32) -> Self {
        Pause { tries: 0, most }
    }

    /// Waits and says whether another try is due.
    pub async fn again(&mut self) -> bool {
        self.tries += 1;
        if self.tries >= self.most {
            return false;
        }
        let most = 10_u64 << self.tries.min(6);
        let jitter = u64::from(uuid::Uuid::new_v4().as_bytes()[0]) * most / 255;
        tokio::time::sleep(Duration::from_millis(most / 2 + jitter / 2)).await;
        true
    }
}
