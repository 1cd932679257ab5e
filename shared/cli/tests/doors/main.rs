//! One table of inputs, four doors: HTTP (body and query), the agent, MCP, and the `tandem` program (JSON and flags).
//! Each is the real thing: a server on a port, a turn of the scripted model, a process.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod actions;
mod door;
mod program;
mod refusals;
mod runs;
mod server;
mod table;

use door::{Door, Told};
use futures::StreamExt;
use server::Server;
use table::{Row, TABLE, Text};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_input_means_the_same_at_every_door() {
    assert!(TABLE.len() >= 40, "{}", TABLE.len());
    let server = Server::start().await;
    let rows = futures::stream::iter(TABLE).map(|row| {
        let cells = Door::ALL.iter().map(|door| cell(&server, row, *door));
        futures::future::join_all(cells)
    });
    let wrong: Vec<String> = rows.buffered(3).collect::<Vec<_>>().await.into_iter().flatten().flatten().collect();
    assert!(wrong.is_empty(), "{} cells differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// What is wrong with a cell, if anything is.
async fn cell(server: &Server, row: &Row, door: Door) -> Option<String> {
    if row.not.iter().any(|(cannot, _)| *cannot == door) {
        return None;
    }
    let (told, want) = match (door.is_text(), &row.text) {
        (false, _) => (door.json(server, row.json).await, &row.want),
        (true, Text::Same(fields)) => (door.text(server, fields).await, &row.want),
        (true, Text::Differs { fields, want, .. }) => (door.text(server, fields).await, want),
        (true, Text::Cannot(_)) => return None,
    };
    let want = Told::from(want);
    let differs = !told.is_the_same_as(&want);
    differs.then(|| format!("{} at {door:?}: got {told:?}, want {want:?}", row.about))
}
