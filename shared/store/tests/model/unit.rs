//! A unit of work, move by move. Mirrors store/src/state/unit.rs (`touch`, `get`, `list`, `put`), commit.rs (`commit`,
//! `move_to`) and reads.rs.

use crate::world::{Broken, World};

/// A document: its scope and its key.
pub(crate) type Place = (usize, u8);

/// What a unit reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Read {
    One(Place),
    /// Every document of a scope: also one that appears later is part of what was read.
    All(usize),
}

/// What a unit does: it reads, and then writes one more than the sum of what it read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Script {
    pub(crate) reads: Vec<Read>,
    pub(crate) write: Place,
    /// It is the one tool call of this number, whose outcome it commits too.
    pub(crate) call: Option<usize>,
}

/// The rules that keep the promises; a test switches one off.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Guards {
    /// HEAD of a scope is read before its first document.
    pub(crate) head_first: bool,
    /// HEAD of a scope that was only read is checked too.
    pub(crate) checks_what_was_read: bool,
    /// After a lost race the frames in between are looked at.
    pub(crate) looks_in_between: bool,
}

impl Guards {
    pub(crate) const ALL: Guards = Guards { head_first: true, checks_what_was_read: true, looks_in_between: true };
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Unit {
    pub(crate) at: At,
    /// Position per scope that it touched.
    pub(crate) heads: [Option<u64>; 2],
    /// What it read, and the sum of the values there.
    pub(crate) seen: Vec<(Read, u64)>,
    /// The transaction was applied and its reply lost.
    pub(crate) resends: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) enum At {
    #[default]
    Work,
    /// HEAD of these scopes stood elsewhere: there.
    Behind(Vec<(usize, u64)>),
    Committed,
    /// Another one committed the outcome of the call.
    Settled,
}

impl Read {
    pub(crate) fn scope(self) -> usize {
        match self {
            Read::One((scope, _)) | Read::All(scope) => scope,
        }
    }

    /// Whether a change there could have been seen.
    fn touches(self, place: Place) -> bool {
        match self {
            Read::One(read) => read == place,
            Read::All(scope) => scope == place.0,
        }
    }
}

impl Unit {
    pub(crate) fn is_done(&self) -> bool {
        matches!(self.at, At::Committed | At::Settled)
    }
}

impl World {
    /// The next move of a unit. Each reads one item, or writes one transaction.
    pub(crate) fn step(&mut self, at: usize, script: &Script, guards: &Guards) {
        match self.units[at].at.clone() {
            At::Committed | At::Settled => {}
            At::Behind(scopes) => self.catch_up(at, scopes, guards),
            At::Work => match self.unread(at, script, guards) {
                Some(Item::Head(scope)) => self.units[at].heads[scope] = Some(self.head(scope)),
                Some(Item::Documents(read)) => {
                    let sum = self.read(read);
                    self.units[at].seen.push((read, sum));
                }
                None => self.commit(at, script, guards),
            },
        }
    }

    /// What is still to be read before the commit.
    pub(crate) fn unread(&self, at: usize, script: &Script, guards: &Guards) -> Option<Item> {
        let unit = &self.units[at];
        let head = |scope: usize| unit.heads[scope].is_none().then_some(Item::Head(scope));
        let Some(read) = script.reads.get(unit.seen.len()) else {
            let read = unit.seen.iter().find_map(|(read, _)| head(read.scope()));
            return read.or_else(|| head(script.write.0));
        };
        let first = head(read.scope()).filter(|_| guards.head_first);
        Some(first.unwrap_or(Item::Documents(*read)))
    }

    /// One transaction: documents, feed frame and HEAD, on condition that HEAD has not moved.
    fn commit(&mut self, at: usize, script: &Script, guards: &Guards) {
        let unit = self.units[at].clone();
        // A token makes a repeated request that succeeded succeed again.
        if unit.resends {
            self.units[at].at = At::Committed;
            self.units[at].resends = false;
            return;
        }
        if script.call.is_some_and(|call| self.outcomes.contains(&call)) {
            self.units[at].at = At::Settled;
            return;
        }
        let written = script.write.0;
        let behind: Vec<(usize, u64)> = (0..2)
            .filter(|scope| *scope == written || guards.checks_what_was_read)
            .filter(|scope| unit.heads[*scope].is_some_and(|pos| pos != self.head(*scope)))
            .map(|scope| (scope, self.head(scope)))
            .collect();
        if !behind.is_empty() {
            self.units[at].at = At::Behind(behind);
            return;
        }
        if unit.seen.iter().any(|(read, sum)| self.read(*read) != *sum) {
            self.broken = Some(Broken::StaleRead);
        }
        let value = 1 + unit.seen.iter().map(|(_, sum)| sum).sum::<u64>();
        self.write(script.write, value);
        self.outcomes.extend(script.call);
        self.units[at].at = At::Committed;
    }

    /// After a lost race: the frames in between decide whether the same writes are sent again at the new position, or
    /// the function runs again on fresh reads.
    fn catch_up(&mut self, at: usize, mut scopes: Vec<(usize, u64)>, guards: &Guards) {
        let Some((scope, pos)) = scopes.pop() else {
            self.units[at].at = At::Work;
            return;
        };
        let from = self.units[at].heads[scope].unwrap_or(0);
        let between = self.feed[scope][usize::try_from(from).unwrap()..usize::try_from(pos).unwrap()].to_vec();
        let seen = |key: u8| self.units[at].seen.iter().any(|(read, _)| read.touches((scope, key)));
        if guards.looks_in_between && between.iter().any(|(key, _)| seen(*key)) {
            self.units[at] = Unit::default();
            self.reruns += 1;
            return;
        }
        self.units[at].heads[scope] = Some(pos);
        self.units[at].at = if scopes.is_empty() { At::Work } else { At::Behind(scopes) };
    }
}

/// One thing to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Item {
    Head(usize),
    Documents(Read),
}
