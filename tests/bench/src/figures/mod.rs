//! The figures, in the order of docs/performance.md.

mod actions;
mod chunks;
mod crash;
mod deltas;
mod first_chunk;
mod followers;
mod functions;
mod growth;
mod memory;
mod reconnect;
mod turn;

use std::pin::Pin;

use crate::report::Row;

type Taking = Pin<Box<dyn Future<Output = Vec<Row>>>>;

/// Something that is measured.
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// Taken only by name.
    pub(crate) long: bool,
    take: fn(usize) -> Taking,
}

impl Figure {
    pub(crate) async fn take(&self, repeat: usize) -> Vec<Row> {
        (self.take)(repeat).await
    }
}

macro_rules! figures {
    ($($name:literal $about:literal $long:literal $take:path;)*) => {
        pub(crate) const FIGURES: &[Figure] = &[
            $(Figure { name: $name, about: $about, long: $long, take: |repeat| Box::pin($take(repeat)) },)*
        ];
    };
}

figures! {
    "first-chunk" "From the post to the model, and from the model's first word to the client" false first_chunk::take;
    "chunks" "From the model to the client, word by word" false chunks::take;
    "deltas" "Words as fast as they can be taken" false deltas::take;
    "turn" "A turn of 400 words and five calls at the store" false turn::take;
    "reconnect" "Coming back to a long log" false reconnect::take;
    "actions" "Actions over HTTP" false actions::take;
    "functions" "The built functions" false functions::take;
    "growth" "The usual operations while what is stored grows" true growth::take;
    "million" "The usual operations with a million runs in the table" true growth::million;
    "memory" "What the processes hold after many turns" true memory::take;
    "crash" "A holder is killed" false crash::take;
    "followers" "Many followers of one run" false followers::take;
}

pub(crate) fn named(name: &str) -> &'static Figure {
    let found = FIGURES.iter().find(|figure| figure.name == name);
    found.unwrap_or_else(|| {
        eprintln!("There is no figure {name:?}.\n{}", list());
        std::process::exit(2);
    })
}

/// All of them, for people.
pub(crate) fn list() -> String {
    let line = |figure: &Figure| {
        let long = if figure.long { " (only by name)" } else { "" };
        format!("  {:<12} {}{long}\n", figure.name, figure.about)
    };
    format!("Figures:\n{}", FIGURES.iter().map(line).collect::<String>())
}
