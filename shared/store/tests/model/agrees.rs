//! The model and the store agree: the same units in the same order come to the same end in both.

use proptest::prelude::*;
use serde_json::{Value, json};
use tandem_embedded::Engine;
use tandem_protocol::{Caller, Principal, TenantId, UserId};
use tandem_store::{Attached, Author, Commit, List, Scope, Store, Unit};

use crate::unit::{At, Guards, Item, Read, Script};
use crate::world::World;

const SCOPES: [Scope; 2] = [Scope::User, Scope::Tenant];

fn places() -> impl Strategy<Value = (usize, u8)> {
    (0..2_usize, 0..2_u8)
}

fn scripts() -> impl Strategy<Value = Vec<Script>> {
    let read = prop_oneof![places().prop_map(Read::One), (0..2_usize).prop_map(Read::All)];
    let script = (prop::collection::vec(read, 0..3), places());
    prop::collection::vec(script.prop_map(|(reads, write)| Script { reads, write, call: None }), 2..4)
}

fn unit(store: &Store) -> Unit {
    let user = UserId::new("ann").unwrap();
    let principal = Principal { tenant: TenantId::new("acme").unwrap(), user: user.clone(), roles: Vec::new() };
    store.unit(&principal, Author { user, caller: Caller::Http, run_id: None })
}

/// A unit of the store, and how far it is.
struct Real {
    unit: Unit,
    read: usize,
    sum: u64,
    put: bool,
    committed: bool,
}

impl Real {
    fn new(store: &Store) -> Self {
        Real { unit: unit(store), read: 0, sum: 0, put: false, committed: false }
    }

    /// The next call of the action's code, or the commit.
    async fn go_on(&mut self, store: &Store, script: &Script) {
        if let Some(read) = script.reads.get(self.read) {
            let counted = |value: Value| value.as_u64().unwrap() + 1;
            self.sum += match read {
                Read::One((scope, key)) => {
                    let found = self.unit.get(&SCOPES[*scope], &key.to_string()).await.unwrap();
                    found.map_or(0, |document| counted(document.value))
                }
                Read::All(scope) => {
                    let page = self.unit.list(&SCOPES[*scope], &List::prefix("")).await.unwrap();
                    page.items.into_iter().map(|document| counted(document.value)).sum()
                }
            };
            self.read += 1;
        } else if !self.put {
            let (scope, key) = script.write;
            self.unit.put(&SCOPES[scope], &key.to_string(), &json!(self.sum + 1)).await.unwrap();
            self.put = true;
        } else {
            match self.unit.commit(&Attached::default()).await.unwrap() {
                Commit::Committed(_) => self.committed = true,
                Commit::Lost => *self = Real::new(store),
                Commit::Settled(outcome) => panic!("no call here: {outcome:?}"),
            }
        }
    }
}

/// As many moves of the model as one call of the store makes.
fn go_on(world: &mut World, at: usize, script: &Script, put: &mut bool) {
    let guards = Guards::ALL;
    let unread = |world: &World| world.unread(at, script, &guards);
    if world.units[at].seen.len() < script.reads.len() {
        while matches!(unread(world), Some(Item::Head(_))) {
            world.step(at, script, &guards);
        }
        world.step(at, script, &guards);
    } else if !*put {
        while unread(world).is_some() {
            world.step(at, script, &guards);
        }
        *put = true;
    } else {
        let reruns = world.reruns;
        while world.units[at].at != At::Committed && world.reruns == reruns {
            world.step(at, script, &guards);
        }
        *put = world.reruns == reruns;
    }
}

async fn agree(scripts: Vec<Script>, order: Vec<prop::sample::Index>) {
    let store = Store::new(Engine::in_memory().unwrap().client(), "tandem");
    store.create_table().await.unwrap();
    let mut world = World::new(scripts.len(), false, 0);
    let mut real: Vec<Real> = scripts.iter().map(|_| Real::new(&store)).collect();
    let mut put = vec![false; scripts.len()];
    for at in order {
        let at = at.index(scripts.len());
        if real[at].committed {
            continue;
        }
        real[at].go_on(&store, &scripts[at]).await;
        go_on(&mut world, at, &scripts[at], &mut put[at]);
        assert_eq!(real[at].committed, world.units[at].at == At::Committed, "{world:?}");
        assert_eq!(real[at].read, world.units[at].seen.len(), "{world:?}");
    }
    for (scope, name) in SCOPES.iter().enumerate() {
        let stored = unit(&store).list(name, &List::prefix("")).await.unwrap().items;
        let stored: Vec<(u8, u64)> =
            stored.iter().map(|document| (document.key.parse().unwrap(), document.value.as_u64().unwrap())).collect();
        let of_scope = world.documents.iter().filter(|((at, _), _)| *at == scope);
        assert_eq!(stored, of_scope.map(|((_, key), value)| (*key, *value)).collect::<Vec<_>>());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn the_model_does_what_the_store_does(
        scripts in scripts(),
        order in prop::collection::vec(any::<prop::sample::Index>(), 4..24),
    ) {
        tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(agree(scripts, order));
    }
}
