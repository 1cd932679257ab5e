//! Readers see every chunk once and in order, wherever they begin and whoever writes.

use futures::future::join_all;
use tandem_protocol::{Chunk, HolderKind, Seq, Transcript};
use tandem_runs::Runtime;
use tandem_store::Append;

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
    // Steps of which no two chunks can be merged, however slow the machine is.
    let steps = "@say 2 every 5ms\n/read-email {\"emailId\":\"e-1\"}\n\n".repeat(10);
    let run = world.start(&format!("@wait 200ms\n{steps}")).await;
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

#[tokio::test(flavor = "multi_thread")]
async fn a_log_longer_than_a_page_of_the_store_is_read_to_its_end() {
    let world = World::new(patient()).await;
    let run = tandem_protocol::RunId::new("run_long").unwrap();
    // A page holds 1 MB: three of them, and the call is on the last one.
    let mut next = 0;
    let mut put = async |chunks: &[Chunk]| {
        let append = Append::new(next, 1, chunks).unwrap();
        assert!(world.store.append(&run, &append).await.unwrap());
        next = append.frame().next();
    };
    put(&[Chunk::StartStep, Chunk::TextStart { id: "t".into() }]).await;
    for n in 0..14 {
        put(&[Chunk::TextDelta { id: "t".into(), delta: format!("{n} {}", "x".repeat(180_000)) }]).await;
    }
    let id = tandem_protocol::ToolCallId::new("call_1").unwrap();
    let call = Chunk::ToolInputAvailable { tool_call_id: id, tool_name: "email".into(), input: serde_json::json!({}) };
    put(&[Chunk::TextEnd { id: "t".into() }, call]).await;
    let finish = Chunk::Finish { finish_reason: tandem_protocol::FinishReason::Stop, message_metadata: None };
    put(&[Chunk::FinishStep, finish]).await;
    let written = world.log(&run).await;
    assert_eq!(written.len() as Seq, next);

    let (said, end) = world.store.transcript(&run).await.unwrap();
    assert_eq!((end, said.calls().count(), said.end.is_some()), (next, 1, true));
    let reader = world.elsewhere(patient());
    for from in [0, 1, 7, next - 1] {
        let seen: Vec<Seq> = read(&reader, &run, from).await.into_iter().map(|(seq, _)| seq).collect();
        assert_eq!(seen, (from..next).collect::<Vec<_>>());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_to_be_written_is_written_before_the_end() {
    // Nothing is written by the clock in the time of this test.
    let config = || tandem_runs::Config { flush_interval: std::time::Duration::from_secs(600), ..patient() };
    for (script, ends) in [("@say 200 every 0", "completed"), ("@say 200 every 0\n@fail context", "context_too_long")] {
        let world = World::new(config()).await;
        let run = world.start(script).await;
        let claim = world.runtime.claim(&run.run_id, 1, HolderKind::Background, false, None).await.unwrap().unwrap();
        let began = std::time::Instant::now();
        world.runtime.drive(claim, world.runtime.budget(HolderKind::Background, None)).await;
        assert!(began.elapsed() < std::time::Duration::from_secs(60), "{:?}", began.elapsed());
        let ended = world.store.run(&run.run_id).await.unwrap().unwrap();
        assert_eq!(ended.end_reason.map(tandem_protocol::EndReason::code), Some(ends));
        let log = world.log(&run.run_id).await;
        crate::harness::assert_whole(&log);
        let said = serde_json::to_string(&Transcript::fold(log.iter().map(|(_, chunk)| chunk)).ui_parts()).unwrap();
        for n in 1..=200 {
            assert_eq!(said.matches(&format!("w{n} ")).count(), 1, "{script}: {said}");
        }
    }
}
