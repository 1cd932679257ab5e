//! Which actions there are: what the system that is called says, as a deployed one may have others than this program.

use anyhow::{Context, Result, bail};
use serde_json::Value;
use tandem_actions::Described;

use crate::client::{Client, Target};

/// The actions that the caller may use.
pub(super) async fn fetch(target: &Target) -> Result<Vec<Described>> {
    let client = Client::new(target.clone())?;
    let told = client.catalogue().await?;
    let list = match &told {
        Value::Array(_) => &told,
        Value::Object(fields) => fields.get("actions").or_else(|| fields.get("items")).unwrap_or(&Value::Null),
        _ => &Value::Null,
    };
    let Value::Array(list) = list else { bail!("GET /api did not answer with the actions") };
    list.iter().map(|action| serde_json::from_value(action.clone()).context("GET /api cannot be read")).collect()
}
