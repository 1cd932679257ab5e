//! The keys of every kind of item. Ids cannot hold `#`, so no id can forge another's key.

use tandem_protocol::{RunId, Seq, TenantId, ThreadId, ToolCallId, TurnId, UserId};

/// Partition and sort key of one item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) pk: String,
    pub(crate) sk: String,
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.pk, self.sk)
    }
}

fn key(pk: String, sk: impl Into<String>) -> Key {
    Key { pk, sk: sk.into() }
}

pub(crate) fn run_partition(run: &RunId) -> String {
    format!("RUN#{run}")
}

pub(crate) fn run(id: &RunId) -> Key {
    key(run_partition(id), "RUN")
}

/// The run that a key of the `due` index belongs to.
pub(crate) fn run_of_partition(pk: &str) -> Option<RunId> {
    RunId::new(pk.strip_prefix("RUN#")?).ok()
}

pub(crate) fn input(run: &RunId) -> Key {
    key(run_partition(run), "INPUT")
}

pub(crate) fn call(run: &RunId, call: &ToolCallId) -> Key {
    key(run_partition(run), format!("CALL#{call}"))
}

/// What a run has cost.
pub(crate) fn run_spending(run: &RunId) -> Key {
    key(run_partition(run), "SPENDING")
}

/// What a person has cost on a day, counted from 1970.
pub(crate) fn user_spending(tenant: &TenantId, user: &UserId, day: i64) -> Key {
    key(format!("SPENDING#{tenant}#{user}"), format!("DAY#{day}"))
}

/// What a tenant has cost on a day, counted from 1970.
pub(crate) fn tenant_spending(tenant: &TenantId, day: i64) -> Key {
    key(format!("SPENDING#{tenant}"), format!("DAY#{day}"))
}

/// How many runs of a person are under way.
pub(crate) fn user_runs(tenant: &TenantId, user: &UserId) -> Key {
    key(format!("UNDERWAY#{tenant}#{user}"), "USER")
}

/// One of the numbers of how many runs of a tenant are under way.
pub(crate) fn tenant_runs(tenant: &TenantId, shard: u8, of: u8) -> Key {
    key(format!("UNDERWAY#{tenant}#{shard}"), format!("TENANT#{of}"))
}

/// How many requests of a person there have been in a minute, counted from 1970.
pub(crate) fn user_requests(tenant: &TenantId, user: &UserId, minute: i64) -> Key {
    key(format!("REQUESTS#{tenant}#{user}"), format!("USER#{minute}"))
}

/// One of the numbers of how many requests of a tenant there have been in a minute.
pub(crate) fn tenant_requests(tenant: &TenantId, shard: u8, of: u8, minute: i64) -> Key {
    key(format!("REQUESTS#{tenant}#{shard}"), format!("TENANT#{of}#{minute}"))
}

/// Sort key of the frame that begins at `first`.
pub(crate) fn frame_sort(first: Seq) -> String {
    format!("LOG#{first:012}")
}

pub(crate) fn frame(run: &RunId, first: Seq) -> Key {
    key(run_partition(run), frame_sort(first))
}

/// Thread ids are unique in a tenant: clients choose them, and a stranger's choice must not be visible.
pub(crate) fn thread_partition(tenant: &TenantId, thread: &ThreadId) -> String {
    format!("THREAD#{tenant}#{thread}")
}

pub(crate) fn thread(tenant: &TenantId, id: &ThreadId) -> Key {
    key(thread_partition(tenant, id), "THREAD")
}

pub(crate) fn turn(tenant: &TenantId, thread: &ThreadId, turn: &TurnId) -> Key {
    key(thread_partition(tenant, thread), format!("TURN#{turn}"))
}

/// The first part of the answer that `run` gave.
pub(crate) fn answer(tenant: &TenantId, thread: &ThreadId, run: &RunId) -> Key {
    key(thread_partition(tenant, thread), format!("ANSWER#{run}"))
}

/// Sort key of a further part, as one writer put it.
pub(crate) fn answer_part_sort(run: &RunId, writer: &str, part: usize) -> String {
    format!("ANSWER#{run}#{writer}#{part:04}")
}

pub(crate) fn answer_part(tenant: &TenantId, thread: &ThreadId, run: &RunId, writer: &str, part: usize) -> Key {
    key(thread_partition(tenant, thread), answer_part_sort(run, writer, part))
}

pub(crate) fn message_sort(n: u64) -> String {
    format!("MSG#{n:012}")
}

pub(crate) fn message(tenant: &TenantId, thread: &ThreadId, n: u64) -> Key {
    key(thread_partition(tenant, thread), message_sort(n))
}

pub(crate) fn owner_partition(tenant: &TenantId, user: &UserId) -> String {
    format!("OWNER#{tenant}#{user}")
}

/// List entry of a thread: sorts by creation, so that a list needs no index.
pub(crate) fn list_entry(tenant: &TenantId, user: &UserId, created_at: i64, thread: &ThreadId) -> Key {
    key(owner_partition(tenant, user), format!("THREAD#{created_at:015}#{thread}"))
}

/// The threads of a tenant that are shared.
pub(crate) fn shared_partition(tenant: &TenantId) -> String {
    format!("SHARED#{tenant}")
}

/// List entry of a shared thread.
pub(crate) fn shared_entry(tenant: &TenantId, created_at: i64, thread: &ThreadId) -> Key {
    key(shared_partition(tenant), format!("THREAD#{created_at:015}#{thread}"))
}

/// The thread that a key of the `due` index belongs to.
pub(crate) fn thread_of_partition(pk: &str) -> Option<(TenantId, ThreadId)> {
    let (tenant, thread) = pk.strip_prefix("THREAD#")?.split_once('#')?;
    Some((TenantId::new(tenant).ok()?, ThreadId::new(thread).ok()?))
}

/// Partition of a scope's documents and feed. The scope comes last, so no name can reach into another tenant.
pub(crate) fn state_partition(tenant: &TenantId, scope: &str) -> String {
    format!("STATE#{tenant}#{scope}")
}

pub(crate) fn head(partition: &str) -> Key {
    key(partition.to_owned(), "HEAD")
}

/// Sort key of a document, or the beginning of one.
pub(crate) fn document_sort(name: &str) -> String {
    format!("DOC#{name}")
}

pub(crate) fn document(partition: &str, name: &str) -> Key {
    key(partition.to_owned(), document_sort(name))
}

/// The name of the document with this sort key.
pub(crate) fn document_key(sort: &str) -> Option<String> {
    sort.strip_prefix("DOC#").map(str::to_owned)
}

/// Sort key of the feed frame of one position.
pub(crate) fn change_sort(pos: u64) -> String {
    format!("FEED#{pos:012}")
}

pub(crate) fn change(partition: &str, pos: u64) -> Key {
    key(partition.to_owned(), change_sort(pos))
}

/// A client of a user that is in a scope.
pub(crate) fn presence(partition: &str, user: &UserId, client: &str) -> Key {
    key(partition.to_owned(), format!("{}{client}", presence_of(user)))
}

/// What the sort keys of a person's clients in a scope begin with.
pub(crate) fn presence_of(user: &UserId) -> String {
    format!("PRESENCE#{user}#")
}

/// How far a long tool call is.
pub(crate) fn progress(run: &RunId, call: &ToolCallId) -> Key {
    key(run_partition(run), format!("PROGRESS#{call}"))
}

/// What came of a tool call after its outcome was stored.
pub(crate) fn late(run: &RunId, call: &ToolCallId) -> Key {
    key(run_partition(run), format!("LATE#{call}"))
}

/// Everything about a call outside a run, or about the key that it was sent with.
fn key_partition(tenant: &TenantId, digest: &str) -> String {
    format!("KEY#{tenant}#{digest}")
}

/// How far a long call outside a run is.
pub(crate) fn key_progress(tenant: &TenantId, digest: &str) -> Key {
    key(key_partition(tenant, digest), "PROGRESS")
}

/// The outcome of a call outside a run.
pub(crate) fn key_call(tenant: &TenantId, digest: &str) -> Key {
    key(key_partition(tenant, digest), "CALL")
}

pub(crate) fn key_late(tenant: &TenantId, digest: &str) -> Key {
    key(key_partition(tenant, digest), "LATE")
}

/// Who carries out what was sent with an idempotency key.
pub(crate) fn intent(tenant: &TenantId, digest: &str) -> Key {
    key(key_partition(tenant, digest), "INTENT")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_sort_by_position() {
        let mut keys: Vec<_> = [0, 9, 10, 999, 1_000, 99_999_999].map(frame_sort).to_vec();
        let sorted = keys.clone();
        keys.sort();
        assert_eq!(keys, sorted);
    }
}
