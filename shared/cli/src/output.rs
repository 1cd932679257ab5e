//! What the program says: results as JSON lines on stdout, everything else on stderr.

use std::io::{ErrorKind, Write};

use serde_json::Value;

/// Prints a result. A reader that has gone away, as `head` does, ends the program quietly.
pub(crate) fn print(result: &Value) {
    if let Err(error) = writeln!(std::io::stdout(), "{result}")
        && error.kind() == ErrorKind::BrokenPipe
    {
        std::process::exit(0);
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
