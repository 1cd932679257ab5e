//! One item changed in place on a condition.

use aws_sdk_dynamodb::error::ProvideErrorMetadata;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnValuesOnConditionCheckFailure};

use crate::error::is_passing;
use crate::items::{Item, key_item};
use crate::keys::Key;
use crate::write::{Pause, filled};
use crate::{Store, StoreError};

/// How often an update that meets a passing failure is sent again.
const TRIES: u32 = 8;

/// What is done to an item, and when.
pub(crate) struct Update {
    pub(crate) expression: &'static str,
    pub(crate) condition: &'static str,
    pub(crate) names: Vec<(&'static str, String)>,
    pub(crate) values: Vec<(&'static str, AttributeValue)>,
}

impl Store {
    /// `None`: it is done. Otherwise the condition failed, and this is the item.
    pub(crate) async fn update_if(&self, key: &Key, update: Update) -> Result<Option<Item>, StoreError> {
        let mut pause = Pause::up_to(TRIES);
        let call = self
            .db
            .update_item()
            .table_name(&self.table)
            .set_key(Some(key_item(key)))
            .update_expression(update.expression)
            .condition_expression(update.condition)
            .set_expression_attribute_names(filled(update.names))
            .set_expression_attribute_values(filled(update.values))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        loop {
            let error = match call.clone().send().await {
                Ok(_) => return Ok(None),
                Err(error) => error,
            };
            if let Some(UpdateItemError::ConditionalCheckFailedException(failed)) = error.as_service_error() {
                return Ok(Some(failed.item.clone().unwrap_or_default()));
            }
            if !error.code().is_some_and(is_passing) || !pause.again().await {
                return Err(error.into());
            }
        }
    }
}
