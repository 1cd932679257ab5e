//! `make bench`: what the runtime costs beside the model, measured on the real program over real sockets.
//!
//! Programs are processes of their own, as in production; the model is the scripted one, or a provider on a socket that
//! writes into each piece of its answer when it was sent. Each figure stands beside the same one of a bare server that
//! only forwards the provider's bytes, taken in the same run: that ratio holds on any machine.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod bulk;
mod canned;
mod events;
mod figures;
mod floor;
mod machine;
mod plot;
mod report;
mod requests;
mod samples;
mod world;

use std::path::PathBuf;

use clap::Parser;

use crate::figures::{FIGURES, Figure};

/// Measure what the runtime costs, and write `results.json` and `results.md`.
#[derive(Parser)]
#[command(after_help = figures::list())]
struct Args {
    /// Figures by name; none: all but those that take long.
    figures: Vec<String>,
    /// How often each figure is taken; the spread is that of the repetitions.
    #[arg(long, default_value_t = 3)]
    repeat: usize,
    /// Where the results go; figures that were measured before and are not named stay.
    #[arg(long, default_value = "target/bench")]
    out: PathBuf,
    /// Only forward connections to this address, for the floor.
    #[arg(long, hide = true)]
    forward: Option<String>,
}

#[tokio::main]
async fn main() {
    let args = Args::parse();
    if let Some(address) = args.forward {
        return floor::forward(&address).await;
    }
    let chosen: Vec<&Figure> = match args.figures.is_empty() {
        true => FIGURES.iter().filter(|figure| !figure.long).collect(),
        false => args.figures.iter().map(|name| figures::named(name)).collect(),
    };
    let mut report = report::Report::open(&args.out);
    for figure in chosen {
        println!("{}: {}", figure.name, figure.about);
        let rows = figure.take(args.repeat).await;
        for row in &rows {
            println!("  {}", row.shown());
        }
        report.replace(figure.name, rows);
        report.write();
    }
    println!("{}, with results.md beside it", args.out.join("results.json").display());
}
