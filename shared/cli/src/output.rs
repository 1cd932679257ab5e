//! What the program says: results as JSON lines on stdout, everything else on stderr.

use std::io::{ErrorKind, Write};

use serde_json::Value;

/// Prints a result in one line. A reader that has gone away, as `head` does, ends the program quietly; a result that
/// cannot be written anywhere else is lost, and that is a failure.
pub(crate) fn print(result: &Value) {
    print_text(format_args!("{result}\n"));
}

/// Prints a result for people to read.
pub(crate) fn print_pretty(result: &Value) {
    print_text(format_args!("{result:#}\n"));
}

fn print_text(text: std::fmt::Arguments<'_>) {
    let mut stdout = std::io::stdout();
    match stdout.write_fmt(text).and_then(|()| stdout.flush()) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        Err(error) => {
            say(format_args!("tandem: the result could not be written: {error}"));
            std::process::exit(1);
        }
    }
}

/// A line for the person who started the program.
pub(crate) fn say(line: impl std::fmt::Display) {
    write(format_args!("{line}\n"));
}

/// A piece of a line for the person who started the program.
pub(crate) fn write(text: impl std::fmt::Display) {
    let mut stderr = std::io::stderr();
    // Nobody may be there to read it.
    let _ = write!(stderr, "{text}").and_then(|()| stderr.flush());
}

/// The person has to write something else: exit code 2.
#[derive(Debug)]
pub(crate) struct BadUsage(String);

impl BadUsage {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        BadUsage(text.into())
    }
}

impl std::fmt::Display for BadUsage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadUsage {}
