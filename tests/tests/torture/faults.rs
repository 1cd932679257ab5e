//! What is broken, one line each.

use std::time::Duration;

use tandem_testkit::faults::{Fault, Moment, Refusal};

/// Something that is broken at the k-th write of one process.
#[derive(Debug)]
pub(crate) struct Breaking {
    pub(crate) name: &'static str,
    pub(crate) how: How,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// `kill -9` of the process, and the same again at the same port.
    Kill(Moment),
    /// The process sleeps until somebody else has taken its run. `Before`: its write arrives after that.
    Sleep(Moment),
    /// The store fails the process; for a while, if it says so.
    Store(Fault, Duration),
    /// The store fails everybody for a while.
    StoreForAll(Fault, Duration),
}

impl Breaking {
    /// Whether the victim dies or sleeps, so that another process goes on with its run.
    pub(crate) fn displaces(&self) -> bool {
        matches!(self.how, How::Kill(_) | How::Sleep(_))
    }
}

const ONCE: Duration = Duration::ZERO;
/// Longer than a lease.
const LONG: Duration = Duration::from_millis(1500);
/// Longer than many leases, and than all the SDK's and the store's own tries.
const VERY_LONG: Duration = Duration::from_secs(5);
/// Longer than one try of the SDK may take: the request arrives after its own repetition.
const LATE: Duration = Duration::from_millis(2300);

pub(crate) const BREAKINGS: &[Breaking] = &[
    Breaking { name: "killed just before", how: How::Kill(Moment::Before) },
    Breaking { name: "killed just after", how: How::Kill(Moment::After) },
    Breaking { name: "reply lost", how: How::Store(Fault::LoseReply, ONCE) },
    Breaking { name: "asleep before, the write arrives late", how: How::Sleep(Moment::Before) },
    Breaking { name: "asleep after", how: How::Sleep(Moment::After) },
    Breaking { name: "throttled for 5 s", how: How::Store(Fault::Refuse(Refusal::Throttled), VERY_LONG) },
    Breaking {
        name: "everybody throttled for 5 s",
        how: How::StoreForAll(Fault::Refuse(Refusal::Throttled), VERY_LONG),
    },
    Breaking { name: "request lost", how: How::Store(Fault::LoseRequest, ONCE) },
    Breaking { name: "every reply lost for 1.5 s", how: How::Store(Fault::LoseReply, LONG) },
    Breaking { name: "late, after its repetition", how: How::Store(Fault::Delay(LATE), ONCE) },
    Breaking { name: "conflict", how: How::Store(Fault::Refuse(Refusal::Conflict), ONCE) },
    Breaking { name: "error 500", how: How::Store(Fault::Refuse(Refusal::InternalError), ONCE) },
];
