//! `tandem openapi`: the description of the API.

use anyhow::Result;

use crate::output::print_pretty;

/// Print the description of the API, OpenAPI 3.1, as `/openapi.json` gives it.
#[derive(clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args) -> Result<()> {
    print_pretty(&tandem_http::openapi(&tandem_host::registry()?));
    Ok(())
}
