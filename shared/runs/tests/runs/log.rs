//! Readers see every chunk once and in order, wherever they begin and whoever writes.

use futures::future::join_all;
use tandem_protocol::{HolderKind, Seq};
use tandem_runs::Runtime;

use crate::harness::{World, patient};

async fn read(runtime: &Runtime, run: &tandem_protocol::RunId, from: Seq) -> Vec<(Seq, String)> {
    let mut follower = runtime.follow(run, from, None);
    let mut seen = Vec::new();
    while let Some(frame) = follower.next().await.unwrap() {
        seen.extend(frame.chunks_from(from).map(|chunk| (chunk.seq, chunk.json.to_owned())));
    }
    seen
}

#[tokio::test(flavor = "multi_thread")]
async fn every_cursor_gives_every_later_chunk_once_while_the_run_is_written_and_after() {
    let world = World::new(patient()).await;
    // Steps of which no two chunks can be merged, however slow the machine is.
    let run = world.start(&"@say 2 every 5ms\n/read-email {\"emailId\":\"e-1\"}\n\n".repeat(25)).await;
    let other = world.elsewhere(patient());
    let claim = world.runtime.claim(&run.run_id, 1, HolderKind::Background, false, None).await.unwrap().unwrap();
    let driving = {
        let runtime = world.runtime.clone();
        tokio::spawn(async move { runtime.drive(claim, runtime.budget(HolderKind::Background, None)).await })
    };
    // Readers in the holder's process and in another one, at every position, joining while it is written.
    let readers = (0..260).map(|n| {
        let (runtime, run) = (if n % 2 == 0 { world.runtime.clone() } else { other.clone() }, run.run_id.clone());
        tokio::spawn(async move {
            tokio::time::sleep(std::time::Duration::from_millis(5 * n)).await;
            (n, read(&runtime, &run, n).await)
        })
    });
    let live = join_all(readers).await;
    driving.await.unwrap();
    let whole = read(&world.elsewhere(patient()), &run.run_id, 0).await;
    assert!(whole.len() >= 200, "{} chunks", whole.len());
    assert!(whole.iter().enumerate().all(|(n, (seq, _))| *seq == n as Seq), "dense from 0");
    for reader in live {
        let (n, seen) = reader.unwrap();
        assert_eq!(seen, whole[(n as usize).min(whole.len())..], "from {n}, live");
    }
    let late = world.elsewhere(patient());
    for n in 0..=whole.len() {
        assert_eq!(read(&late, &run.run_id, n as Seq).await, whole[n..], "from {n}, after the end");
    }
    assert_eq!(read(&late, &run.run_id, 100_000).await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_ahead_of_a_live_run_waits_and_then_misses_nothing() {
    let world = World::new(patient()).await;
    let run = world.start("@wait 200ms\n@say 120 every 5ms").await;
    let other = world.elsewhere(patient());
    let early = {
        let (other, run) = (other.clone(), run.run_id.clone());
        tokio::spawn(async move { read(&other, &run, 57).await })
    };
    let claim = world.runtime.claim(&run.run_id, 1, HolderKind::Background, false, None).await.unwrap().unwrap();
    world.runtime.drive(claim, world.runtime.budget(HolderKind::Background, None)).await;
    let whole = read(&other, &run.run_id, 0).await;
    assert!(whole.len() > 60, "{} chunks", whole.len());
    assert_eq!(early.await.unwrap(), whole[57..]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_kept_answer_is_what_the_log_says_however_long_it_is() {
    let world = World::new(patient()).await;
    for script in ["hello", "/list-emails {}\n\n@say 40000 every 0", "@fail context"] {
        let run = world.start(script).await;
        let claim = world.runtime.claim(&run.run_id, 1, HolderKind::Background, false, None).await.unwrap().unwrap();
        world.runtime.drive(claim, world.runtime.budget(HolderKind::Background, None)).await;
        let (said, next) = world.store.transcript(&run.run_id).await.unwrap();
        assert!(said.end.is_some(), "{script}");
        let kept = world.store.answer(&run.owner.tenant, run.thread_id.as_ref().unwrap(), &run.run_id).await.unwrap();
        assert_eq!(kept, said, "{script}");
        let ended = world.store.run(&run.run_id).await.unwrap().unwrap();
        let days = (ended.expires_at.unwrap() - ended.ended_at.unwrap() / 1000) / (24 * 3600);
        assert_eq!(days, 30);
        println!("{script}: {next} chunks, {} bytes", serde_json::to_string(&kept).unwrap().len());
    }
}
