//! The machine and the versions that a figure was taken on.

use std::fs;
use std::process::Command;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Machine {
    pub(crate) processor: String,
    pub(crate) cores: usize,
    pub(crate) memory_gb: u64,
    pub(crate) kernel: String,
    pub(crate) commit: String,
    pub(crate) rustc: String,
    /// How the measured program was built, by the folder that it lies in.
    pub(crate) build: String,
}

impl Machine {
    pub(crate) fn this() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let field = |text: &str, name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.split_once(':'));
            line.map_or("unknown".to_owned(), |(_, value)| value.trim().to_owned())
        };
        let memory = field(&read("/proc/meminfo"), "MemTotal");
        let kilobytes: u64 = memory.trim_end_matches(" kB").parse().unwrap_or(0);
        let dirty = said("git", &["status", "--porcelain", "--untracked-files=no"]);
        let commit = said("git", &["rev-parse", "--short", "HEAD"]);
        Machine {
            processor: field(&read("/proc/cpuinfo"), "model name"),
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            memory_gb: kilobytes / 1_000_000,
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            commit: if dirty.is_empty() { commit } else { format!("{commit} with changes") },
            rustc: said("rustc", &["--version"]),
            build: build(),
        }
    }
}

fn build() -> String {
    let program = tandem_tests::binary();
    let folder = program.parent().and_then(|folder| folder.file_name());
    folder.map_or_else(String::new, |folder| folder.to_string_lossy().into_owned())
}

/// What a command says; nothing, where it is not there.
fn said(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
}
