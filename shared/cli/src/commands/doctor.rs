//! `tandem doctor`: whether a system works, looked at from outside.

mod connection;
mod report;
mod turn;

use anyhow::Result;

use crate::client::{Client, Target, url};
use report::Report;

/// Look at a running or deployed system from outside, and say of each part whether it works and what to do. Its turn
/// goes into a conversation of its own, which is deleted afterwards. Exit code 1 where something does not work.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Address of the system, as --url.
    #[arg(value_name = "URL", value_parser = url)]
    system: Option<String>,
    /// Take a turn also where the model is not the scripted one: that costs a few tokens.
    #[arg(long)]
    turn: bool,
    /// Print what was found as JSON on stdout.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    target: Target,
}

pub(crate) async fn run(args: Args) -> Result<()> {
    let client = Client::new(args.target.or(args.system, None))?;
    let mut report = Report::new(client.url(), args.json);
    examine(&client, args.turn, &mut report).await;
    report.end()
}

/// Each check is of use only where those before it went well.
async fn examine(client: &Client, turn_anyway: bool, report: &mut Report) {
    let Some(health) = connection::reach(client, report).await else { return };
    connection::closed_to_strangers(client, report).await;
    let Some(models) = connection::sign_in(client, report).await else { return };
    if !connection::read(client, report).await {
        return;
    }
    let model = models.first().map_or("", String::as_str);
    if model == "scripted" || turn_anyway {
        turn::take(client, &health, model, report).await;
    } else {
        report.skip("turn", format!("the model is {model}: --turn asks it something, for a few tokens"));
    }
}
