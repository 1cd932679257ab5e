//! One child process: its start, its environment, its signals.

use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;

use anyhow::Context;
use rustix::process::{Pid, Signal as Unix, kill_process};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{Child, Command};

use super::config::Function;
use super::payload::Fault;
use super::records::Records;
use super::runtime_api::{RuntimeApi, Signal};

pub(super) const REGION: &str = "us-east-1";

/// A started bootstrap. It is killed when this is dropped.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) pid: u32,
    pub(super) api: RuntimeApi,
    child: Child,
}

impl Process {
    /// Starts the bootstrap and waits until it asks for work.
    pub(super) async fn start(
        function: &Function,
        invoke_endpoint: &str,
        records: &Arc<Records>,
    ) -> Result<Self, Fault> {
        let mut process = Self::spawn(function, invoke_endpoint, records)
            .await
            .map_err(|error| Fault::new("Runtime.InvalidEntrypoint", format!("{error:#}")))?;
        let first_request = async {
            tokio::select! {
                signal = process.api.signal() => match signal {
                    Signal::Ready => Ok(()),
                    Signal::InitFailed(fault) => Err(fault),
                },
                status = process.child.wait() => Err(exited(status.ok())),
            }
        };
        match tokio::time::timeout(function.init_timeout, first_request).await {
            Ok(Ok(())) => Ok(process),
            Ok(Err(fault)) => Err(fault),
            Err(_) => Err(Fault::new("Sandbox.Timedout", "INIT phase timed out")),
        }
    }

    async fn spawn(function: &Function, invoke_endpoint: &str, records: &Arc<Records>) -> anyhow::Result<Self> {
        let api = RuntimeApi::start(function_arn(&function.name), function.concurrency > 1).await?;
        let mut command = Command::new(&function.bootstrap);
        command
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .envs(environment(function, &api, invoke_endpoint))
            .envs((function.concurrency > 1).then(|| ("AWS_LAMBDA_MAX_CONCURRENCY", function.concurrency.to_string())))
            .envs(&function.env)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let mut child =
            command.spawn().with_context(|| format!("cannot start the bootstrap {}", function.bootstrap.display()))?;
        let pid = child.id().context("the process is gone already")?;
        let label = format!("{}[{pid}]", function.name);
        tokio::spawn(keep_lines(child.stdout.take(), label.clone(), Arc::clone(records)));
        tokio::spawn(keep_lines(child.stderr.take(), label, Arc::clone(records)));
        Ok(Self { pid, api, child })
    }

    pub(super) fn freeze(&self) {
        send(self.pid, Unix::STOP);
    }

    pub(super) fn thaw(&self) {
        send(self.pid, Unix::CONT);
    }

    /// `kill -9`, and waits until the process is gone.
    pub(super) async fn kill(&mut self) {
        drop(self.child.kill().await);
    }

    pub(super) fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Resolves when the process has asked for more work, or with its end.
    pub(super) async fn done(&mut self) -> Result<(), Fault> {
        tokio::select! {
            // Whoever asks for work and then exits has done this piece.
            biased;
            _ = self.api.signal() => Ok(()),
            status = self.child.wait() => Err(exited(status.ok())),
        }
    }
}

/// A signal to a process that has gone in the meantime is not a mistake.
pub(super) fn send(pid: u32, signal: Unix) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

pub(super) fn function_arn(name: &str) -> String {
    format!("arn:aws:lambda:{REGION}:000000000000:function:{name}")
}

fn exited(status: Option<ExitStatus>) -> Fault {
    let how = status.map_or_else(|| "unknown".to_owned(), |status| status.to_string());
    Fault::new("Runtime.ExitError", format!("Runtime exited: {how}"))
}

/// The variables that Lambda sets, and the address of this host's Invoke API where the SDK looks for it.
fn environment(function: &Function, api: &RuntimeApi, invoke_endpoint: &str) -> Vec<(&'static str, String)> {
    let root = function.bootstrap.parent().unwrap_or(Path::new("/")).display().to_string();
    vec![
        ("AWS_LAMBDA_RUNTIME_API", api.address.to_string()),
        ("AWS_LAMBDA_FUNCTION_NAME", function.name.clone()),
        ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST".to_owned()),
        ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", function.memory_mb.to_string()),
        ("AWS_LAMBDA_INITIALIZATION_TYPE", "on-demand".to_owned()),
        ("AWS_LAMBDA_LOG_GROUP_NAME", format!("/aws/lambda/{}", function.name)),
        ("AWS_LAMBDA_LOG_STREAM_NAME", format!("[$LATEST]{}", api.address.port())),
        ("AWS_REGION", REGION.to_owned()),
        ("AWS_DEFAULT_REGION", REGION.to_owned()),
        ("AWS_ACCESS_KEY_ID", "test".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "test".to_owned()),
        ("AWS_SESSION_TOKEN", "test".to_owned()),
        ("AWS_ENDPOINT_URL_LAMBDA", invoke_endpoint.to_owned()),
        ("_HANDLER", "bootstrap".to_owned()),
        ("LAMBDA_TASK_ROOT", root.clone()),
        ("LAMBDA_RUNTIME_DIR", root),
        ("LANG", "en_US.UTF-8".to_owned()),
        ("TZ", ":UTC".to_owned()),
    ]
}

async fn keep_lines(output: Option<impl AsyncRead + Unpin>, label: String, records: Arc<Records>) {
    let Some(output) = output else { return };
    let mut lines = BufReader::new(output).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if std::env::var_os("LAMBDA_HOST_LOG").is_some() {
            eprintln!("{label} {line}");
        }
        records.write(line);
    }
}
