//! Group commit: whatever is pushed is stored, in order, in frames and chunks that fit.

use std::time::Duration;

use proptest::prelude::*;
use tandem_protocol::{Chunk, Transcript};
use tandem_store::{AppendError, LogWriter, MAX_CHUNK_BYTES, MAX_FRAME_BYTES};

use crate::{run_id, store, wait};

/// One push: the part that it belongs to, its length, and whether to wait until it is stored.
type Push = (u8, usize, bool);

fn pushes() -> impl Strategy<Value = Vec<Push>> {
    let length = prop_oneof![8 => 0..200_usize, 2 => 1_000..20_000_usize, 1 => 40_000..180_000_usize];
    prop::collection::vec((0..3_u8, length, prop::bool::weighted(0.1)), 1..60)
}

/// A text of so many bytes of JSON, about: quotes and line ends take two.
fn text(length: usize) -> String {
    "a\né".chars().cycle().take(length / 2).collect()
}

async fn pack(pushes: Vec<Push>) {
    let store = store().await;
    let log = LogWriter::start(store.clone(), run_id(), 1, 0, Duration::from_millis(1));
    let mut pushed = vec![Chunk::StartStep];
    pushed.extend((0..3).map(|part| Chunk::TextStart { id: part.to_string() }));
    log.commit(pushed.clone()).await.unwrap();
    for (part, length, waits) in pushes {
        let chunk = Chunk::TextDelta { id: part.to_string(), delta: text(length) };
        pushed.push(chunk.clone());
        log.push(chunk).await.unwrap();
        if waits {
            log.flush().await.unwrap();
        }
    }
    let next = log.flush().await.unwrap();
    let frames = store.log_from(&run_id(), 0).await.unwrap();
    assert_eq!(frames.last().map(tandem_store::Frame::next), Some(next));
    let mut expected = 0;
    for frame in &frames {
        assert_eq!(frame.first, expected, "dense");
        expected = frame.next();
        // One more for a line end.
        assert!(frame.bytes() <= MAX_FRAME_BYTES + 1, "{} bytes", frame.bytes());
        assert!(frame.chunks().all(|chunk| chunk.json.len() <= MAX_CHUNK_BYTES));
        assert_eq!(frame.chunks().count() as u64, frame.count);
    }
    let stored: Vec<Chunk> = frames.iter().flat_map(|frame| frame.parsed().unwrap()).collect();
    assert_eq!(Transcript::fold(&stored), Transcript::fold(&pushed));

    // A writer that does not know of this one stops at once, and changes nothing.
    let rival = LogWriter::start(store.clone(), run_id(), 2, 0, Duration::from_millis(1));
    assert!(matches!(rival.commit([Chunk::FinishStep]).await, Err(AppendError::Displaced)));
    rival.close().await;
    log.close().await;
    assert_eq!(store.log_from(&run_id(), 0).await.unwrap(), frames);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn what_is_pushed_is_stored_in_frames_that_fit(pushes in pushes()) {
        wait(pack(pushes));
    }
}

#[test]
fn a_chunk_that_no_frame_can_hold_is_refused_by_name() {
    wait(async {
        let log = LogWriter::start(store().await, run_id(), 1, 0, Duration::ZERO);
        let chunk = Chunk::TextDelta { id: "t".into(), delta: "x".repeat(MAX_CHUNK_BYTES) };
        assert!(matches!(log.commit([chunk]).await, Err(AppendError::TooLarge(_))));
        log.close().await;
    });
}

#[test]
fn chunks_that_belong_together_begin_in_one_frame() {
    wait(async {
        let store = store().await;
        let log = LogWriter::start(store.clone(), run_id(), 1, 0, Duration::from_millis(1));
        for part in 0..50 {
            let id = part.to_string();
            let first = Chunk::TextDelta { id: id.clone(), delta: "w".into() };
            log.push_all(vec![Chunk::TextStart { id }, first]).await.unwrap();
            // The writer has nothing to do when the next part begins.
            log.flush().await.unwrap();
        }
        let frames = store.log_from(&run_id(), 0).await.unwrap();
        assert_eq!(frames.iter().map(|frame| frame.count).collect::<Vec<_>>(), vec![2; 50]);
        log.close().await;
    });
}

#[test]
fn tiny_deltas_share_frames_by_the_clock() {
    wait(async {
        let (store, interval) = (store().await, Duration::from_millis(50));
        let log = LogWriter::start(store.clone(), run_id(), 1, 0, interval);
        let began = std::time::Instant::now();
        let mut said = String::new();
        log.push(Chunk::TextStart { id: "t".into() }).await.unwrap();
        for n in 0..5_000 {
            let delta = format!("w{n} ");
            said.push_str(&delta);
            log.push(Chunk::TextDelta { id: "t".into(), delta }).await.unwrap();
            if n % 10 == 0 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
        log.flush().await.unwrap();
        let frames = store.log_from(&run_id(), 0).await.unwrap();
        // One at once, one an interval, one for the flush.
        let most = began.elapsed().as_millis() / interval.as_millis() + 2;
        assert!(frames.len() as u128 <= most, "{} frames, at most {most}", frames.len());
        let chunks: Vec<Chunk> = frames.iter().flat_map(|frame| frame.parsed().unwrap()).collect();
        let text: String = chunks
            .into_iter()
            .filter_map(|chunk| match chunk {
                Chunk::TextDelta { delta, .. } => Some(delta),
                _ => None,
            })
            .collect();
        assert_eq!(text, said);
        log.close().await;
    });
}
