//! What requests send besides the inputs of actions, checked in the same words.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tandem_protocol::Fault;

use crate::{input, schema, text};

/// The schema of a type that a request is read as.
#[derive(Debug, Clone)]
pub struct Form(Arc<Value>);

impl Form {
    /// It is made once for each type.
    pub fn of<T: JsonSchema + 'static>() -> Self {
        static MADE: LazyLock<Mutex<HashMap<TypeId, Arc<Value>>>> = LazyLock::new(Mutex::default);
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        let form = made.entry(TypeId::of::<T>()).or_insert_with(|| {
            let mut form = schema::input::<T>();
            without_patterns(&mut form);
            Arc::new(form)
        });
        Form(Arc::clone(form))
    }

    /// Reads a value as its type, or gives all faults; what leaves no doubt is corrected, as it is for actions.
    pub fn read<T: DeserializeOwned + JsonSchema + 'static>(mut value: Value) -> Result<T, Vec<Fault>> {
        let faults = input::fit(&mut value, &Self::of::<T>().0);
        if faults.is_empty() { input::decode(value) } else { Err(faults) }
    }

    /// All faults of arguments that are text.
    pub fn faults_of_text(&self, arguments: &[(String, String)]) -> Vec<Fault> {
        input::fit(&mut text::read(&self.0, arguments), &self.0)
    }
}

/// The types have words of their own for what fits no pattern, and those say more.
fn without_patterns(schema: &mut Value) {
    match schema {
        Value::Object(keywords) => {
            // A field may be called so.
            keywords.retain(|keyword, value| keyword != "pattern" || !value.is_string());
            keywords.values_mut().for_each(without_patterns);
        }
        Value::Array(list) => list.iter_mut().for_each(without_patterns),
        _ => {}
    }
}
