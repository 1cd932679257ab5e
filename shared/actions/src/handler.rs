//! From a typed async function to something that a registry can hold.

use std::any::Any;
use std::pin::Pin;

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::input::decode;
use crate::schema::{self, Schemas};
use crate::{ActionError, Context};

/// The result of an erased handler.
pub(crate) type Running<'a> = Pin<Box<dyn Future<Output = Result<Value, ActionError>> + Send + 'a>>;

/// An `async fn(Input, &mut Context) -> Result<Output, ActionError>`; implemented for every such function.
///
/// A trait of its own, since the bound on an `AsyncFn`'s future (`Send`) cannot be written yet.
pub trait Handler<'a, I, O>: Send + Sync + 'static {
    type Running: Future<Output = Result<O, ActionError>> + Send + 'a;

    fn start(&self, input: I, ctx: &'a mut Context) -> Self::Running;
}

impl<'a, F, I, O, R> Handler<'a, I, O> for F
where
    F: Fn(I, &'a mut Context) -> R + Send + Sync + 'static,
    R: Future<Output = Result<O, ActionError>> + Send + 'a,
{
    type Running = R;

    fn start(&self, input: I, ctx: &'a mut Context) -> R {
        self(input, ctx)
    }
}

/// A handler whose types are forgotten. Plain pointers, so that a definition can be a constant.
#[derive(Clone, Copy)]
pub(crate) struct Erased {
    function: &'static (dyn Any + Send + Sync),
    run: for<'a> fn(&'static (dyn Any + Send + Sync), Value, &'a mut Context) -> Running<'a>,
    check: fn(Value) -> Result<(), ActionError>,
    schemas: fn() -> Schemas,
}

impl Erased {
    pub(crate) const fn new<F, I, O>(function: &'static F) -> Self
    where
        F: for<'a> Handler<'a, I, O>,
        I: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + Send + 'static,
    {
        Erased { function, run: run::<F, I, O>, check: check::<I>, schemas: schema::of::<I, O> }
    }

    /// Runs with an input that was checked.
    pub(crate) fn run<'a>(&self, input: Value, ctx: &'a mut Context) -> Running<'a> {
        (self.run)(self.function, input, ctx)
    }

    /// Whether the input can be read as the declared type.
    pub(crate) fn check(&self, input: Value) -> Result<(), ActionError> {
        (self.check)(input)
    }

    pub(crate) fn schemas(&self) -> Schemas {
        (self.schemas)()
    }
}

fn run<'a, F, I, O>(function: &'static (dyn Any + Send + Sync), input: Value, ctx: &'a mut Context) -> Running<'a>
where
    F: for<'b> Handler<'b, I, O>,
    I: DeserializeOwned + Send + 'static,
    O: Serialize + Send + 'static,
{
    Box::pin(async move {
        let input = decode::<I>(input).map_err(ActionError::Invalid)?;
        // `new` made the pair; another type cannot stand here.
        let function = function.downcast_ref::<F>().ok_or(ActionError::Cancelled)?;
        let output = function.start(input, ctx).await?;
        serde_json::to_value(output).map_err(|e| ActionError::failed("bad_output", e.to_string()))
    })
}

fn check<I: DeserializeOwned>(input: Value) -> Result<(), ActionError> {
    decode::<I>(input).map(|_| ()).map_err(ActionError::Invalid)
}
