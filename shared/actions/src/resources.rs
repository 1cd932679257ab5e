//! What the application gives its actions: a client, a configuration. By type, since there is one of each.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// Values by their type. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Resources(Arc<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>);

impl Resources {
    /// Adds a value, in the place of another one of its type.
    pub(crate) fn add<T: Any + Send + Sync>(&mut self, value: T) {
        let mut values = HashMap::clone(&self.0);
        values.insert(TypeId::of::<T>(), Arc::new(value));
        self.0 = Arc::new(values);
    }

    pub(crate) fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.0.get(&TypeId::of::<T>()).cloned()?.downcast().ok()
    }
}

impl fmt::Debug for Resources {
    /// Values may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} resources", self.0.len())
    }
}
