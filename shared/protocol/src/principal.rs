//! Who is calling, and through which door.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{TenantId, UserId};

/// An authenticated caller. There is no default: code that needs one must be given one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Principal {
    pub tenant: TenantId,
    pub user: UserId,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
}

/// The door through which an action is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Caller {
    Http,
    Agent,
    Cli,
    Mcp,
}
