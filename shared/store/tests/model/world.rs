//! What is stored of two scopes, and who works on them.

use std::collections::BTreeMap;

use crate::unit::{Place, Read, Unit};

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct World {
    pub(crate) documents: BTreeMap<Place, u64>,
    /// Per scope: what the commit at each position changed. HEAD is where the feed ends.
    pub(crate) feed: [Vec<(u8, u64)>; 2],
    /// Calls that have an outcome.
    pub(crate) outcomes: Vec<usize>,
    pub(crate) units: Vec<Unit>,
    pub(crate) client: Option<Client>,
    /// Replies that may still be lost.
    pub(crate) lost_replies: u8,
    /// How often a unit ran again.
    pub(crate) reruns: u8,
    pub(crate) broken: Option<Broken>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Broken {
    /// A commit was made on something that is no longer so.
    StaleRead,
}

/// Somebody who opens a window on scope 0: reads the documents, and then follows the feed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Client {
    pub(crate) rev: Option<u64>,
    /// How many keys it has looked at.
    pub(crate) read: u8,
    pub(crate) shows: BTreeMap<u8, u64>,
}

/// Keys of a scope that anybody uses here.
pub(crate) const KEYS: u8 = 2;

impl World {
    pub(crate) fn new(units: usize, client: bool, lost_replies: u8) -> Self {
        World {
            documents: BTreeMap::new(),
            feed: [Vec::new(), Vec::new()],
            outcomes: Vec::new(),
            units: vec![Unit::default(); units],
            client: client.then(Client::default),
            lost_replies,
            reruns: 0,
            broken: None,
        }
    }

    pub(crate) fn head(&self, scope: usize) -> u64 {
        self.feed[scope].len() as u64
    }

    /// The sum of the values of what is read; a document counts one more than its value, so that one that appears
    /// makes a difference.
    pub(crate) fn read(&self, read: Read) -> u64 {
        match read {
            Read::One(place) => self.documents.get(&place).map_or(0, |value| value + 1),
            Read::All(scope) => {
                self.documents.iter().filter(|((at, _), _)| *at == scope).map(|(_, value)| value + 1).sum()
            }
        }
    }

    pub(crate) fn write(&mut self, (scope, key): Place, value: u64) {
        self.documents.insert((scope, key), value);
        self.feed[scope].push((key, value));
    }

    /// The next move of the client. Mirrors what `{rev, items}` and the events from `rev` on promise: the revision is
    /// read before the documents.
    pub(crate) fn watch(&mut self, head_first: bool) {
        let head = self.head(0);
        let Some(client) = &mut self.client else { return };
        if head_first && client.rev.is_none() {
            client.rev = Some(head);
        } else if client.read < KEYS {
            if let Some(value) = self.documents.get(&(0, client.read)) {
                client.shows.insert(client.read, *value);
            }
            client.read += 1;
        } else if let Some(rev) = &mut client.rev {
            if let Some((key, value)) = self.feed[0].get(usize::try_from(*rev).unwrap()) {
                client.shows.insert(*key, *value);
                *rev += 1;
            }
        } else {
            client.rev = Some(head);
        }
    }

    /// Whether the client has heard everything that there is.
    pub(crate) fn is_heard(&self) -> bool {
        let head = self.head(0);
        self.client.as_ref().is_none_or(|client| client.read == KEYS && client.rev == Some(head))
    }
}
