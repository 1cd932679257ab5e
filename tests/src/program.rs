//! One process of the `tandem` program.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::sync::watch;

use crate::{Env, PATIENCE, within};

/// A running process. It is killed when this is dropped, and shows its log lines if the test failed.
#[derive(Debug)]
pub struct Program {
    name: String,
    child: Child,
    log: watch::Receiver<String>,
    url: String,
}

impl Program {
    /// Starts `tandem <args>` in `dir` and waits for the line that tells where it listens.
    pub async fn serve(args: &[&str], env: Env<'_>, dir: &Path) -> Self {
        let mut child = command(args, env, dir).stdout(Stdio::null()).spawn().unwrap();
        let log = collect(child.stderr.take().unwrap());
        let mut program = Program { name: args[0].to_owned(), child, log, url: String::new() };
        let line = |log: &str| {
            log.lines().find_map(|line| Some(line.split_once(" at http://")?.1.split(',').next()?.to_owned()))
        };
        let mut log = program.log.clone();
        let told = within(PATIENCE, "the program's address", log.wait_for(|log| line(log).is_some())).await;
        match told.ok().and_then(|log| line(&log)) {
            Some(address) => program.url = format!("http://{address}"),
            None => panic!("tandem {args:?} ended before it listened:\n{}", program.log()),
        }
        program
    }

    /// Where it listens, as it said itself.
    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn port(&self) -> u16 {
        self.url.rsplit(':').next().unwrap().parse().unwrap()
    }

    /// What it wrote to stderr so far.
    pub fn log(&self) -> String {
        self.log.borrow().clone()
    }

    /// The most memory that it has held so far, in bytes.
    pub fn peak_memory(&self) -> u64 {
        self.status("VmHWM:")
    }

    /// A line of its status, in bytes.
    fn status(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let value = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        value.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
    }

    /// The memory that it holds now, in bytes.
    pub fn memory(&self) -> u64 {
        self.status("VmRSS:")
    }

    /// The processor time that it has used so far, to the hundredth of a second.
    pub fn cpu_time(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        // The name stands in brackets and may hold anything; user and system time are the 14th and 15th field.
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        let ticks: u64 = fields[11..13].iter().map(|ticks| ticks.parse::<u64>().unwrap()).sum();
        Duration::from_millis(ticks * 10)
    }

    /// `kill -9`. Returns when the process is gone.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }

    /// Freezes the process, as a hypervisor or a long pause would.
    pub fn freeze(&self) {
        self.signal(Signal::STOP);
    }

    pub fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
        if thread::panicking() {
            let log = self.log();
            let lines: Vec<_> = log.lines().collect();
            let last = &lines[lines.len().saturating_sub(60)..];
            eprintln!("--- tandem {} at {}, its last lines:\n{}", self.name, self.url, last.join("\n"));
        }
    }
}

/// What a process that ran to its end said.
#[derive(Debug, PartialEq, Eq)]
pub struct Finished {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// Runs `tandem <args>` to its end.
pub async fn run_to_end(args: &[&str], env: Env<'_>) -> Finished {
    let dir = tempfile::tempdir().unwrap();
    let mut command = tokio::process::Command::from(command(args, env, dir.path()));
    let child = command.stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let output = within(PATIENCE, &format!("tandem {args:?} to end"), child.wait_with_output()).await.unwrap();
    Finished {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Without the environment of whoever runs the tests: keys, proxies or endpoints would change what is tested.
fn command(args: &[&str], env: Env<'_>, dir: &Path) -> Command {
    let mut command = Command::new(binary());
    command.args(args).env_clear().envs(env.iter().copied()).current_dir(dir);
    command.env("NO_COLOR", "1").stdin(Stdio::null()).stderr(Stdio::piped());
    command
}

/// The program: `TANDEM_BIN`, or where cargo puts it: beside the program that asks, or above a test.
pub fn binary() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let folder = own.ancestors().skip(1).find(|folder| !folder.ends_with("deps")).unwrap();
    let path = std::env::var_os("TANDEM_BIN").map_or_else(|| folder.join("tandem"), PathBuf::from);
    // Tests run in the directory of their package, and programs in one of their own.
    assert!(path.is_absolute(), "TANDEM_BIN must be a whole path, such as \"$PWD/{}\"", path.display());
    assert!(path.is_file(), "{} is missing: run `cargo build --workspace --bins` first", path.display());
    path
}

/// Reads a pipe in a thread of its own, so that the process never waits for the test.
fn collect(pipe: impl Read + Send + 'static) -> watch::Receiver<String> {
    let (sender, log) = watch::channel(String::new());
    thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            sender.send_modify(|log| log.extend([line.as_str(), "\n"]));
        }
    });
    log
}
