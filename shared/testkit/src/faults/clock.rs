//! Wall clocks that are wrong: a library, put before a process's own, that shifts the time of day.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = include_str!("clock.c");

/// A library that shifts the wall clock of the processes that are started with it. Their monotonic clocks, which
/// measure how long something takes, stay right. It works for programs that are linked to the C library dynamically.
#[derive(Debug, Clone)]
pub struct ClockShift {
    library: PathBuf,
}

impl ClockShift {
    /// Compiles it into `dir`, with the system's C compiler, `cc`.
    pub fn compile(dir: &Path) -> io::Result<Self> {
        let (source, library) = (dir.join("clock.c"), dir.join("clock.so"));
        std::fs::write(&source, SOURCE)?;
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(&source).arg("-ldl");
        let output = compiler.output()?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(io::Error::other(format!("cc: {text}")));
        }
        Ok(ClockShift { library })
    }

    /// The environment of a process whose clock is to be wrong by so many seconds: fast, or slow if negative.
    pub fn env(&self, seconds: i64) -> [(&'static str, String); 2] {
        [("LD_PRELOAD", self.library.display().to_string()), ("CLOCK_SHIFT_SECONDS", seconds.to_string())]
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::time::SystemTime;

    use super::*;

    /// The test that runs as a process of its own and says what time it is.
    const TELLS: &str = "faults::clock::tests::tells_the_time";
    const ASKED: &str = "TELL_THE_TIME";

    fn seconds() -> i64 {
        i64::try_from(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs()).unwrap()
    }

    #[test]
    fn tells_the_time() {
        if std::env::var_os(ASKED).is_some() {
            println!("it is {};", seconds());
        }
    }

    #[test]
    fn a_rust_program_sees_the_wrong_time() {
        let dir = tempfile::tempdir().unwrap();
        let clock = ClockShift::compile(dir.path()).unwrap();
        for shift in [-90, 0, 90] {
            let mut program = Command::new(std::env::current_exe().unwrap());
            program.args([TELLS, "--exact", "--nocapture"]).env(ASKED, "1").envs(clock.env(shift));
            let output = program.output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            let told = text.split_once("it is ").and_then(|(_, rest)| rest.split_once(';'));
            let told: i64 = told.unwrap_or_else(|| panic!("{text}")).0.parse().unwrap();
            let wrong_by = told - seconds();
            assert!((wrong_by - shift).abs() <= 20, "{wrong_by} s, should be {shift}");
        }
    }
}
