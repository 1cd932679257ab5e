//! The log of the model, and what it says: the fold is the runtime's own `Transcript`.

use std::collections::HashMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, OnceLock};

use serde_json::json;
use tandem_actions::Effect;
use tandem_protocol::{
    AttemptReason, CallState, Chunk, FinishReason, HolderKind, MessageId, Part, ToolCall, ToolCallId, Transcript,
};

/// A tool call: the attempt that the model made it in, and its number there, as the recorder names calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CallId {
    pub(crate) attempt: u32,
    pub(crate) n: usize,
}

/// The stored outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Outcome {
    /// By this attempt: two attempts would return different things.
    Done(u32),
    Unknown,
    Closed,
}

/// One chunk. What it says beside this is left out.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Entry {
    Start,
    Attempt(u32),
    ResetStep,
    StartStep,
    TextStart(CallId),
    TextEnd(CallId),
    Input(CallId, Effect),
    Intent(Vec<CallId>),
    Output(CallId, Outcome),
    FinishStep,
    Continue,
    Finish,
    Abort,
    Error,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Frame {
    pub(crate) first: usize,
    pub(crate) attempt: u32,
    pub(crate) entries: Vec<Entry>,
}

/// A log with its fold. Few different logs make many states, so equal logs are one value.
#[derive(Clone)]
pub(crate) struct Log(Arc<Folded>);

struct Folded {
    frames: Vec<Frame>,
    hash: u64,
    facts: Facts,
    /// The logs that one more frame has led to.
    after: Mutex<HashMap<Frame, Log>>,
}

/// What the transcript of a log says, in the model's words.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub(crate) open: Option<OpenStep>,
    /// The last step has finished and called nothing: the turn is done.
    pub(crate) answered: bool,
    pub(crate) finished_steps: usize,
    pub(crate) calls: Vec<Call>,
    /// Texts that a terminal chunk would leave open.
    pub(crate) closing: Vec<Entry>,
}

#[derive(Debug, Default)]
pub(crate) struct OpenStep {
    pub(crate) called: bool,
    pub(crate) texts: usize,
    pub(crate) calls: Vec<Call>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) id: CallId,
    pub(crate) effect: Effect,
    pub(crate) state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Ready,
    Intended,
    Settled(Outcome),
}

/// What became of a conditional put of a frame.
pub(crate) enum Put {
    Stored(Log),
    Occupied,
}

impl Log {
    pub(crate) fn empty() -> Self {
        Self::of(Vec::new())
    }

    pub(crate) fn frames(&self) -> &[Frame] {
        &self.0.frames
    }

    pub(crate) fn facts(&self) -> &Facts {
        &self.0.facts
    }

    pub(crate) fn next(&self) -> usize {
        self.frames().last().map_or(0, |frame| frame.first + frame.entries.len())
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.frames().iter().flat_map(|frame| &frame.entries)
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.entries().any(Entry::is_terminal)
    }

    /// The attempt that stored the last intent.
    pub(crate) fn last_intent(&self) -> Option<u32> {
        let intends = |frame: &&Frame| frame.entries.iter().any(|entry| matches!(entry, Entry::Intent(_)));
        self.frames().iter().rfind(intends).map(|frame| frame.attempt)
    }

    /// The attempt that stored the intent of this call.
    pub(crate) fn intent_of(&self, call: CallId) -> Option<u32> {
        let intends = |entry: &Entry| matches!(entry, Entry::Intent(calls) if calls.contains(&call));
        self.frames().iter().find(|frame| frame.entries.iter().any(intends)).map(|frame| frame.attempt)
    }

    /// Puts a frame where nothing stands, or where the same frame does: that is a request sent twice, which the
    /// store knows by its `writer`. Without the fence the frame replaces what is there.
    pub(crate) fn put(&self, frame: Frame, fenced: bool) -> Put {
        let at = self.frames().binary_search_by_key(&frame.first, |frame| frame.first);
        match at {
            Ok(at) if self.frames()[at] == frame => return Put::Stored(self.clone()),
            Ok(_) if fenced => return Put::Occupied,
            Ok(_) | Err(_) => {}
        }
        let mut known = self.0.after.lock().unwrap();
        let with = |at| {
            let mut frames = self.frames().to_vec();
            match at {
                Ok(at) => frames[at] = frame.clone(),
                Err(at) => frames.insert(at, frame.clone()),
            }
            Self::of(frames)
        };
        Put::Stored(known.entry(frame.clone()).or_insert_with(|| with(at)).clone())
    }

    fn of(frames: Vec<Frame>) -> Self {
        static KNOWN: OnceLock<Mutex<HashMap<Vec<Frame>, Log>>> = OnceLock::new();
        let mut known = KNOWN.get_or_init(Mutex::default).lock().unwrap();
        if let Some(log) = known.get(&frames) {
            return log.clone();
        }
        let mut hasher = DefaultHasher::new();
        frames.hash(&mut hasher);
        let log = Log(Arc::new(Folded {
            hash: hasher.finish(),
            facts: fold(&frames),
            frames: frames.clone(),
            after: Mutex::default(),
        }));
        known.insert(frames, log.clone());
        log
    }
}

impl PartialEq for Log {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Log {}

impl Hash for Log {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash.hash(state);
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let frames = self.frames().iter().map(|frame| format!("{}@{} {:?}", frame.first, frame.attempt, frame.entries));
        f.debug_list().entries(frames).finish()
    }
}

impl Entry {
    pub(crate) fn is_terminal(&self) -> bool {
        matches!(self, Entry::Finish | Entry::Abort | Entry::Error)
    }

    /// The chunk as the runtime writes it.
    fn chunk(&self) -> Chunk {
        match self {
            Entry::Start => Chunk::Start { message_id: MessageId::new("msg_1").unwrap(), message_metadata: None },
            Entry::Attempt(attempt) => Chunk::attempt(*attempt, HolderKind::Background, AttemptReason::Claimed),
            Entry::ResetStep => Chunk::ResetStep,
            Entry::StartStep => Chunk::StartStep,
            Entry::TextStart(id) => Chunk::TextStart { id: id.name().to_string() },
            Entry::TextEnd(id) => Chunk::TextEnd { id: id.name().to_string() },
            Entry::Input(id, effect) => Chunk::ToolInputAvailable {
                tool_call_id: id.name(),
                tool_name: format!("{effect:?}"),
                input: json!({}),
            },
            Entry::Intent(calls) => Chunk::calls(calls.iter().map(|call| call.name()).collect()),
            Entry::Output(id, Outcome::Done(by)) => {
                Chunk::ToolOutputAvailable { tool_call_id: id.name(), output: json!(by) }
            }
            Entry::Output(id, outcome) => {
                Chunk::ToolOutputError { tool_call_id: id.name(), error_text: format!("{outcome:?}") }
            }
            Entry::FinishStep => Chunk::FinishStep,
            Entry::Continue => Chunk::continuing("soft_timeout"),
            Entry::Finish => Chunk::Finish { finish_reason: FinishReason::Stop, message_metadata: None },
            Entry::Abort => Chunk::Abort { reason: None },
            Entry::Error => Chunk::Error { error_text: "failed [model_failed]".into() },
        }
    }
}

impl CallId {
    fn name(self) -> ToolCallId {
        ToolCallId::new(format!("{}.{}", self.attempt, self.n)).unwrap()
    }

    fn named(name: &str) -> Self {
        let (attempt, n) = name.split_once('.').unwrap();
        CallId { attempt: attempt.parse().unwrap(), n: n.parse().unwrap() }
    }
}

/// Folds the log with the runtime's transcript and says it in the model's words.
fn fold(frames: &[Frame]) -> Facts {
    let chunks: Vec<Chunk> = frames.iter().flat_map(|frame| &frame.entries).map(Entry::chunk).collect();
    let transcript = Transcript::fold(&chunks);
    let last = transcript.steps.last().filter(|step| step.finished);
    Facts {
        open: transcript.open_step().map(|step| OpenStep {
            called: step.called,
            texts: step.parts.iter().filter(|part| matches!(part, Part::Text { .. })).count(),
            calls: step.parts.iter().filter_map(part_call).collect(),
        }),
        answered: last.is_some_and(|step| step.parts.iter().all(|part| part_call(part).is_none())),
        finished_steps: transcript.steps.iter().filter(|step| step.finished).count(),
        calls: transcript.calls().map(call).collect(),
        closing: transcript.closing().iter().map(closed_text).collect(),
    }
}

fn part_call(part: &Part) -> Option<Call> {
    match part {
        Part::Call(found) => Some(call(found)),
        Part::Text { .. } | Part::Reasoning { .. } => None,
    }
}

fn call(call: &ToolCall) -> Call {
    let effects = [Effect::Read, Effect::Transactional, Effect::External];
    Call {
        id: CallId::named(call.id.as_str()),
        effect: *effects.iter().find(|effect| format!("{effect:?}") == call.name).unwrap(),
        state: match &call.state {
            CallState::Streaming(_) => unreachable!("the model's calls arrive at once"),
            CallState::AwaitingApproval | CallState::Approved | CallState::Denied => {
                unreachable!("nobody is asked in this model")
            }
            CallState::Ready => State::Ready,
            CallState::Intended => State::Intended,
            CallState::Done(by) => State::Settled(Outcome::Done(by.as_u64().unwrap().try_into().unwrap())),
            CallState::Failed(text) if text == "Unknown" => State::Settled(Outcome::Unknown),
            CallState::Failed(_) => State::Settled(Outcome::Closed),
        },
    }
}

fn closed_text(chunk: &Chunk) -> Entry {
    match chunk {
        Chunk::TextEnd { id } => Entry::TextEnd(CallId::named(id)),
        other => unreachable!("only texts are ever open here: {other:?}"),
    }
}
