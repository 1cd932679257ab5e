//! `recall`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tandem_actions::{ActionDef, ActionError, Context, Effect, List, Method, action};

use crate::mail::shortened;
use crate::memory::{self, Memory, Whose};

const LIMIT: u32 = 20;
/// Memories of one scope that a call looks at.
const MAX_LOOKED_AT: usize = 500;
/// Characters of a memory that are shown: a person may have written a long one.
const MAX_TEXT: usize = 8000;
/// Characters that are shown in all; the first memory is always given.
const MAX_ALL: usize = 80_000;

/// Find what was remembered, by words or all of it: the person's own memories first, then the team's.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Words that the name or the text must hold, in any order; upper and lower case are the same. Absent: everything.
    #[schemars(length(max = 200))]
    query: Option<String>,
    /// Only these; both if absent.
    scope: Option<Whose>,
    /// How many; 20 if absent.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u32>,
}

/// What is remembered.
#[derive(Serialize, JsonSchema)]
struct Output {
    memories: Vec<Memory>,
    /// True: there is more than is shown. Ask with words, or for one scope.
    more: bool,
}

pub(crate) const ACTION: ActionDef = action("recall").effect(Effect::Read).method(Method::Get).run(&recall);

async fn recall(input: Input, ctx: &mut Context) -> Result<Output, ActionError> {
    let query = input.query.unwrap_or_default().to_lowercase();
    let words: Vec<&str> = query.split_whitespace().collect();
    let limit = usize::try_from(input.limit.unwrap_or(LIMIT)).unwrap_or(usize::MAX);
    let mut output = Output { memories: Vec::new(), more: false };
    let mut room = MAX_ALL;
    for scope in Whose::ALL.into_iter().filter(|scope| input.scope.is_none_or(|only| only == *scope)) {
        let list = List::prefix(memory::prefix()).limit(MAX_LOOKED_AT);
        let page = ctx.state.documents(&scope.scope(), &list).await?;
        output.more |= page.cursor.is_some();
        for mut memory in page.items.into_iter().map(|document| Memory::read(scope, document)) {
            if !holds(&memory, &words) {
                continue;
            }
            memory.text = shortened(&memory.text, MAX_TEXT);
            let size = memory.text.len();
            if output.memories.len() >= limit || (size > room && !output.memories.is_empty()) {
                output.more = true;
                break;
            }
            room = room.saturating_sub(size);
            output.memories.push(memory);
        }
    }
    Ok(output)
}

fn holds(memory: &Memory, words: &[&str]) -> bool {
    let text = format!("{}\n{}", memory.name, memory.text).to_lowercase();
    words.iter().all(|word| text.contains(word))
}
