//! Signals to a process: sudden death, and sleep.

use rustix::process::{Pid, Signal, kill_process};

/// `kill -9`. The process may still be there for a moment: wait for it.
pub fn kill(pid: u32) -> std::io::Result<()> {
    send(pid, Signal::KILL)
}

/// Puts the process to sleep in the middle of whatever it does, as a hypervisor or a long pause would.
pub fn pause(pid: u32) -> std::io::Result<()> {
    send(pid, Signal::STOP)
}

/// Lets a sleeping process go on.
pub fn resume(pid: u32) -> std::io::Result<()> {
    send(pid, Signal::CONT)
}

fn send(pid: u32, signal: Signal) -> std::io::Result<()> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(std::io::ErrorKind::InvalidInput)?;
    Ok(kill_process(pid, signal)?)
}
