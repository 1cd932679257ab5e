//! What is wrong with an input, each with its place.

use tandem_protocol::{Fault, pointer};

/// Faults that are told of one input, and bytes of their texts: a million wrong entries are told no better by a million
/// lines.
const MAX_FAULTS: usize = 100;
const MAX_FAULTS_BYTES: usize = 32 * 1024;

/// Faults, and where the next one would be.
pub(crate) struct Faults {
    /// JSON pointer of the value that is looked at.
    pub(crate) at: String,
    pub(crate) list: Vec<Fault>,
    /// Of the texts in the list.
    bytes: usize,
    /// There are more than the list may hold, and it says so.
    pub(crate) full: bool,
}

impl Faults {
    pub(crate) fn at(at: String) -> Self {
        Faults { at, list: Vec::new(), bytes: 0, full: false }
    }

    pub(crate) fn add(&mut self, detail: impl Into<String>) {
        self.push(Fault { pointer: self.at.clone(), detail: detail.into() });
    }

    pub(crate) fn push(&mut self, fault: Fault) {
        if self.full {
            return;
        }
        self.bytes += fault.pointer.len() + fault.detail.len();
        // The first is told in any case.
        self.full = !self.list.is_empty() && (self.list.len() >= MAX_FAULTS || self.bytes > MAX_FAULTS_BYTES);
        self.list.push(match self.full {
            false => fault,
            true => Fault { pointer: String::new(), detail: "has more faults than these".to_owned() },
        });
    }

    pub(crate) fn below(&mut self, name: &str, look: impl FnOnce(&mut Self)) {
        let here = self.at.len();
        pointer::step(&mut self.at, name);
        look(self);
        self.at.truncate(here);
    }
}
