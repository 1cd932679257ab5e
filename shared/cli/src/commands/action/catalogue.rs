//! Which actions there are: what the system that is called says, as a deployed one may have others than this program.

use anyhow::{Context, Result};
use serde::Deserialize;
use tandem_actions::Described;

use crate::client::{Client, Target};

#[derive(Deserialize)]
struct Catalogue {
    actions: Vec<Described>,
}

/// The actions that the caller may use.
pub(super) async fn fetch(target: &Target) -> Result<Vec<Described>> {
    let told = Client::new(target.clone())?.catalogue().await?;
    let told: Catalogue = serde_json::from_value(told).context("GET /api did not answer with a catalogue")?;
    Ok(told.actions)
}
