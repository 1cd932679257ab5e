//! One file per command.

pub(crate) mod background;
pub(crate) mod chat;
pub(crate) mod dev;
pub(crate) mod dynamodb;
pub(crate) mod foreground;
pub(crate) mod sweeper;
pub(crate) mod tail;
