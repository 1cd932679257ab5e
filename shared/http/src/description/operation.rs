//! What the description says about one operation: written beside its handler.

use schemars::JsonSchema;
use serde_json::Value;
use tandem_protocol::{Chunk, Code};

use super::schemas::Schemas;

/// Makes the schema of a type.
pub(super) type SchemaOf = fn(&mut Schemas) -> Value;

/// One method of one path.
pub(crate) struct Operation {
    pub(super) id: &'static str,
    pub(super) tag: &'static str,
    pub(super) summary: &'static str,
    pub(super) note: &'static str,
    pub(super) is_public: bool,
    /// No limit of requests keeps anybody from it.
    pub(super) is_always_open: bool,
    pub(super) query: Option<SchemaOf>,
    /// Optional ones: name, text.
    pub(super) headers: Vec<Header>,
    pub(super) body: Option<Body>,
    pub(super) answers: Vec<Answer>,
    pub(super) refuses: Vec<Code>,
    /// Other answers, of any status and content.
    pub(super) otherwise: Option<&'static str>,
}

/// A body of a request, as JSON.
pub(super) struct Body {
    pub(super) schema: SchemaOf,
    pub(super) is_required: bool,
    pub(super) examples: Vec<(&'static str, Value)>,
}

/// A way to answer. Two with the same status are two content types of one response.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) text: &'static str,
    pub(super) content: Content,
    pub(super) example: Option<Value>,
    /// Names the run and the thread in headers.
    pub(super) names_run: bool,
}

/// A header of a request.
pub(super) struct Header {
    pub(super) name: &'static str,
    pub(super) text: &'static str,
    pub(super) pattern: &'static str,
}

pub(super) enum Content {
    Json(SchemaOf),
    /// Server-sent events, each with a value of this kind.
    Events(Events),
    Nothing,
}

/// What a stream sends.
pub(super) struct Events {
    pub(super) of: SchemaOf,
    /// Name of the schema of one event.
    pub(super) name: &'static str,
    /// What the number of an event is.
    pub(super) id: &'static str,
    pub(super) example: &'static str,
    /// A run that has ended ends its stream with `[DONE]`.
    pub(super) is_of_run: bool,
}

/// A stream of a run, as it looks.
const RUN: &str = ": stream-open\nretry: 250\n\nid: 0\ndata: {\"type\":\"start\",\"messageId\":\"msg_01a2\"}\n\n\
                   id: 1\ndata: {\"type\":\"finish\",\"finishReason\":\"stop\"}\n\ndata: [DONE]\n\n";

/// Begins an operation. `id` is camel case and unique, `tag` the group in which it is shown, `summary` one line.
pub(crate) fn operation(id: &'static str, tag: &'static str, summary: &'static str) -> Operation {
    Operation {
        id,
        tag,
        summary,
        note: "",
        is_public: false,
        is_always_open: false,
        query: None,
        headers: Vec::new(),
        body: None,
        answers: Vec::new(),
        refuses: Vec::new(),
        otherwise: None,
    }
}

impl Operation {
    /// What one line does not say.
    pub(crate) fn note(self, note: &'static str) -> Self {
        Operation { note, ..self }
    }

    /// Needs no signing in.
    pub(crate) fn public(self) -> Self {
        Operation { is_public: true, ..self }
    }

    /// Whoever is signed in is never asked to wait.
    pub(crate) fn always_open(self) -> Self {
        Operation { is_always_open: true, ..self }
    }

    /// The fields of `T`, with their doc comments, are the parameters of the query.
    pub(crate) fn query<T: JsonSchema>(self) -> Self {
        Operation { query: Some(Schemas::input::<T>), ..self }
    }

    /// A header that may be sent; its value fits the pattern.
    pub(crate) fn header(mut self, name: &'static str, text: &'static str, pattern: &'static str) -> Self {
        self.headers.push(Header { name, text, pattern });
        self
    }

    /// Takes JSON, with an example of each form.
    pub(crate) fn body<T: JsonSchema>(self, examples: impl IntoIterator<Item = (&'static str, Value)>) -> Self {
        let body = Body { schema: Schemas::input::<T>, is_required: true, examples: examples.into_iter().collect() };
        Operation { body: Some(body), ..self }
    }

    /// The body may be left out.
    pub(crate) fn body_is_optional(mut self) -> Self {
        self.body.iter_mut().for_each(|body| body.is_required = false);
        self
    }

    /// Answers with JSON.
    pub(crate) fn gives<T: JsonSchema>(self, status: u16, text: &'static str, example: Value) -> Self {
        self.answer(status, text, Content::Json(Schemas::output::<T>), Some(example))
    }

    /// Answers with server-sent events: the chunks of a run.
    pub(crate) fn streams(self, text: &'static str) -> Self {
        let id = "The number of the chunk; absent for what is not stored.";
        let of = Schemas::output::<Chunk>;
        let events = Events { of, name: "ChunkEvent", id, example: RUN, is_of_run: true };
        self.answer(200, text, Content::Events(events), None)
    }

    /// Answers with server-sent events of another kind. `name`: of the schema of one event; `id`: what its number is.
    pub(crate) fn streams_of<T: JsonSchema>(
        self,
        text: &'static str,
        name: &'static str,
        id: &'static str,
        example: &'static str,
    ) -> Self {
        let events = Events { of: Schemas::output::<T>, name, id, example, is_of_run: false };
        self.answer(200, text, Content::Events(events), None)
    }

    /// Other answers, whose status and content another protocol decides.
    pub(crate) fn gives_otherwise(self, text: &'static str) -> Self {
        Operation { otherwise: Some(text), ..self }
    }

    /// Answers without a body.
    pub(crate) fn gives_nothing(self, status: u16, text: &'static str) -> Self {
        self.answer(status, text, Content::Nothing, None)
    }

    /// The last answer names its run and thread in headers.
    pub(crate) fn names_run(mut self) -> Self {
        self.answers.iter_mut().rev().take(1).for_each(|answer| answer.names_run = true);
        self
    }

    /// Problems besides those that follow from signing in, parameters and a body.
    pub(crate) fn refuses(mut self, codes: impl IntoIterator<Item = Code>) -> Self {
        self.refuses.extend(codes);
        self
    }

    fn answer(mut self, status: u16, text: &'static str, content: Content, example: Option<Value>) -> Self {
        self.answers.push(Answer { status, text, content, example, names_run: false });
        self
    }
}
