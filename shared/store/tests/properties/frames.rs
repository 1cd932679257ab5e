//! A log is read from every cursor as it was written.

use proptest::prelude::*;
use tandem_protocol::{Chunk, Seq};
use tandem_store::{Append, Store};

use crate::{run_id, store, wait};

fn delta(n: usize) -> Chunk {
    Chunk::TextDelta { id: "t".into(), delta: format!("{n}\n\r\"") }
}

/// Writes frames of these lengths and gives their chunks.
async fn write(store: &Store, lengths: &[usize]) -> Vec<String> {
    let mut written: Vec<String> = Vec::new();
    for length in lengths {
        let chunks: Vec<Chunk> = (written.len()..written.len() + length).map(delta).collect();
        let append = Append::new(written.len() as Seq, 1, &chunks).unwrap();
        assert!(store.append(&run_id(), &append).await.unwrap());
        assert!(store.append(&run_id(), &append).await.unwrap(), "a request sent twice succeeds twice");
        let rival = Append::new(written.len() as Seq, 2, &chunks).unwrap();
        assert!(!store.append(&run_id(), &rival).await.unwrap(), "another writer does not");
        written.extend(chunks.iter().map(|chunk| serde_json::to_string(chunk).unwrap()));
    }
    written
}

/// What a reader gets that asks for chunks from `cursor` on: the frame that holds it, and what follows.
async fn read(store: &Store, cursor: Seq) -> Vec<(Seq, String)> {
    let mut frames: Vec<_> = store.frame_at(&run_id(), cursor, false).await.unwrap().into_iter().collect();
    let next = frames.first().map_or(0, tandem_store::Frame::next);
    frames.extend(store.log_from(&run_id(), next).await.unwrap());
    let chunks = frames.iter().flat_map(|frame| frame.chunks_from(cursor));
    chunks.map(|chunk| (chunk.seq, chunk.json.to_owned())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn every_cursor_sees_the_rest_once_and_in_order(lengths in prop::collection::vec(1..5_usize, 0..8)) {
        wait(async move {
            let store = store().await;
            let written = write(&store, &lengths).await;
            for cursor in 0..written.len() + 2 {
                let rest = written.iter().enumerate().skip(cursor);
                let wanted: Vec<(Seq, String)> = rest.map(|(n, json)| (n as Seq, json.clone())).collect();
                assert_eq!(read(&store, cursor as Seq).await, wanted, "from {cursor}");
            }
            let tail = store.tail(&run_id()).await.unwrap();
            assert_eq!(tail.next, written.len() as Seq);
            assert_eq!(tail.frame.is_none(), written.is_empty());
        });
    }
}
