//! A configuration with which the program must not start.

/// What is wrong with a variable, and the way out. It never holds the variable's value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{variable}: {problem}. {way_out}.")]
pub struct ConfigError {
    /// Name of the environment variable.
    pub variable: &'static str,
    /// What is wrong with it.
    pub problem: String,
    /// What to do about it.
    pub way_out: String,
}

impl ConfigError {
    pub(crate) fn new(variable: &'static str, problem: impl Into<String>, way_out: impl Into<String>) -> Self {
        ConfigError { variable, problem: problem.into(), way_out: way_out.into() }
    }
}

/// The value of `name`. Blank counts as not set: templates pass an empty text for a parameter left out.
pub(crate) fn set(lookup: &impl Fn(&str) -> Option<String>, name: &str) -> Option<String> {
    lookup(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}
