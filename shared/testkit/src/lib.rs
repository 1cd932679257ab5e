//! What the tests stand on: a small Lambda, fake model providers, and other things that are not the product.

pub mod faults;
pub mod issuer;
pub mod lambda;
pub mod providers;
mod webhook;

pub use webhook::{Delivery, Webhook};
