//! Who is calling, and which dispatches are our own.
//!
//! People: [`Authenticate`] turns an `Authorization` header into a [`Principal`](tandem_protocol::Principal).
//! It has exactly two implementations, [`Oidc`] for deployments and [`DevPrincipals`] for a developer's
//! machine, and [`authenticator_from_env`] chooses between them once, at start-up.
//! There is no third way: without either, the program does not start.
//!
//! Processes: a foreground that hands a run to a background signs a [`SignedDispatch`] with [`DispatchKeys`].
//! Only [`DispatchKeys::verify`] makes a [`VerifiedDispatch`], so code that needs one cannot forget the check.
//!
//! No token, key or signature appears in an error text, in `Debug` output or in the log.

mod authenticate;
mod config;
mod dev;
mod dispatch;
mod endpoint;
mod oidc;
mod safe_id;
mod ticket;

pub use authenticate::{AuthError, Authenticate, authenticator_from_env};
pub use config::ConfigError;
pub use dev::DevPrincipals;
pub use dispatch::{
    DEFAULT_SKEW_MS, DEFAULT_TTL_MS, DispatchKeys, DispatchRefused, PastDispatch, SignedDispatch, VerifiedDispatch,
    dispatch_keys,
};
pub use endpoint::{is_local_url, is_loopback_url};
pub use oidc::{Oidc, OidcSettings};
pub use ticket::TICKET_TTL_MS;
