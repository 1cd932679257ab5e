//! Reasoning that goes back to the model that wrote it, byte for byte or not at all.
//!
//! What we keep of a reasoning block is rig's origin (wire, provider, model and, where a model binds its thinking
//! to them, a fingerprint of tools and prompt) and the provider's item. Sent to any other model, or under another
//! fingerprint, rig drops the block: an unsigned or edited block would be refused.

use rig_core::message::{AssistantContent, Origin, Reasoning};
use serde_json::{Value, json};

/// Under this key, as the AI SDK wants metadata to be grouped by provider.
const KEY: &str = "tandem";

/// A finished reasoning block as metadata, or none if the provider would not take it back.
pub(super) fn signed(origin: &Origin, block: &AssistantContent) -> Option<Value> {
    let item = block.native_item()?;
    let origin = serde_json::to_value(origin).ok()?;
    Some(json!({ KEY: { "origin": origin, "item": item } }))
}

/// The blocks that [`signed`] kept, and where they came from. All blocks of a message have one origin; what comes
/// from elsewhere, or cannot be read, is left out.
pub(super) fn blocks(kept: &[Value]) -> (Option<Origin>, Vec<AssistantContent>) {
    let mut origin: Option<Origin> = None;
    let mut blocks = Vec::new();
    for (from, item) in kept.iter().filter_map(read) {
        if *origin.get_or_insert_with(|| from.clone()) == from {
            // rig sends the item and never the text, so the text need not be kept twice.
            blocks.push(AssistantContent::Reasoning(Reasoning::default()).with_native(item));
        }
    }
    (origin, blocks)
}

fn read(kept: &Value) -> Option<(Origin, Value)> {
    let kept = kept.get(KEY)?;
    let origin = serde_json::from_value(kept.get("origin")?.clone()).ok()?;
    Some((origin, kept.get("item")?.clone()))
}
