//! One file per command.

pub(crate) mod action;
pub(crate) mod approve;
pub(crate) mod background;
pub(crate) mod chat;
pub(crate) mod dev;
pub(crate) mod doctor;
pub(crate) mod dynamodb;
pub(crate) mod foreground;
pub(crate) mod openapi;
pub(crate) mod schema;
pub(crate) mod stop;
pub(crate) mod sweeper;
pub(crate) mod tail;

/// How the parts run as processes of their own.
pub(crate) const SPLIT: &str = "\
Each part in a terminal of its own:
  tandem dynamodb --data .tandem/split
  export AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:8000
  tandem background --port 8788
  export BACKGROUND_URL=http://127.0.0.1:8788
  tandem foreground
  tandem sweeper

AGENT_CHAT_DURABLE_BACKGROUND=false runs every turn in the foreground. Where an address is not loopback, all parts
need the same DISPATCH_KEYS, {\"name\":\"a long random text\"}.";
