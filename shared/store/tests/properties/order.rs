//! Keys sort as what they stand for: positions as numbers, documents by the bytes of their names.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;
use tandem_protocol::{Caller, Chunk, Principal, TenantId, UserId};
use tandem_store::{Append, Attached, Author, List, Scope};

use crate::{run_id, store, wait};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn frames_are_read_in_the_order_of_their_positions(
        positions in prop::collection::btree_set(prop_oneof![0..1_200_u64, 0..999_999_999_998_u64], 1..12),
    ) {
        wait(async move {
            let store = store().await;
            // Written from the end: the order of writing says nothing.
            for position in positions.iter().rev() {
                let append = Append::new(*position, 1, &[Chunk::StartStep]).unwrap();
                assert!(store.append(&run_id(), &append).await.unwrap());
            }
            let read = store.frames(&run_id(), 0, true).await.unwrap().frames;
            let read: Vec<u64> = read.iter().map(|frame| frame.first).collect();
            assert_eq!(read, positions.iter().copied().collect::<Vec<_>>());
            for position in &positions {
                let at = store.frame_at(&run_id(), *position, false).await.unwrap();
                assert_eq!(at.map(|frame| frame.first), Some(*position));
            }
        });
    }

    #[test]
    fn documents_are_listed_by_prefix_in_the_order_of_their_keys(
        documents in prop::collection::btree_map("[a-c/~éü]{1,5}", any::<u32>(), 0..20),
        prefix in "[a-cé/]{0,2}",
        limit in 1..8_usize,
        descending in any::<bool>(),
    ) {
        wait(async move {
            let store = store().await;
            let user = UserId::new("ann").unwrap();
            let principal = Principal { tenant: TenantId::new("acme").unwrap(), user: user.clone(), roles: Vec::new() };
            let mut unit = store.unit(&principal, Author { user, caller: Caller::Http, run_id: None });
            for (key, value) in documents.iter().rev() {
                unit.put(&Scope::User, key, &json!(value)).await.unwrap();
            }
            // Half of the cases list what is not committed yet: a unit sees its own writes in the same order.
            if limit.is_multiple_of(2) {
                unit.commit(&Attached::default()).await.unwrap();
            }
            let (mut listed, mut after) = (Vec::new(), None::<String>);
            loop {
                let mut list = List::prefix(&prefix).limit(limit);
                list = if descending { list.descending() } else { list };
                list = after.take().into_iter().fold(list, List::after);
                let page = unit.list(&Scope::User, &list).await.unwrap();
                listed.extend(page.items.into_iter().map(|document| (document.key, document.value)));
                after = page.cursor;
                if after.is_none() {
                    break;
                }
            }
            let wanted = documents.into_iter().filter(|(key, _)| key.starts_with(&prefix));
            let mut wanted: Vec<_> = wanted.map(|(key, value)| (key, json!(value))).collect();
            if descending {
                wanted.reverse();
            }
            assert_eq!(listed, wanted);
            assert_eq!(BTreeMap::from_iter(listed.clone()).len(), listed.len(), "each once");
        });
    }
}
