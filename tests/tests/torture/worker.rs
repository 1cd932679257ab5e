//! Processes that can be killed, put to sleep and started again, each with a proxy of its own before the store.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard};

use tandem_testkit::faults::Proxy;
use tandem_tests::Program;
use tokio::process::{Child, Command};

/// A foreground or a background.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) proxy: Proxy,
    role: &'static str,
    program: Arc<Mutex<Program>>,
    /// What the processes before this one wrote.
    past: Mutex<String>,
    env: Vec<(String, String)>,
    dir: PathBuf,
}

impl Worker {
    /// `env` without the store's endpoint.
    pub(crate) async fn start(role: &'static str, database: &str, mut env: Vec<(String, String)>, dir: &Path) -> Self {
        let proxy = Proxy::open(database).await.unwrap();
        env.push(("AWS_ENDPOINT_URL_DYNAMODB".into(), proxy.url().into()));
        let program = Arc::new(Mutex::new(serve(role, 0, &env, dir).await));
        Worker { proxy, role, program, past: Mutex::default(), env, dir: dir.to_owned() }
    }

    pub(crate) fn url(&self) -> String {
        self.program().url().to_owned()
    }

    /// A handle to kill it or to put it to sleep.
    pub(crate) fn handle(&self) -> Arc<Mutex<Program>> {
        Arc::clone(&self.program)
    }

    /// After its death: the same again at the same port.
    pub(crate) async fn restart(&self) {
        let port = self.program().port();
        let log = self.program().log();
        self.past.lock().unwrap().push_str(&log);
        let fresh = serve(self.role, port, &self.env, &self.dir).await;
        *self.program() = fresh;
    }

    /// What it wrote since it was started first.
    pub(crate) fn log(&self) -> String {
        self.past.lock().unwrap().clone() + &self.program().log()
    }

    fn program(&self) -> MutexGuard<'_, Program> {
        self.program.lock().unwrap()
    }
}

async fn serve(role: &str, port: u16, env: &[(String, String)], dir: &Path) -> Program {
    let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    Program::serve(&[role, "--port", &port.to_string()], &env, dir).await
}

/// The sweeper, which listens nowhere.
#[derive(Debug)]
pub(crate) struct Sweeper {
    pub(crate) proxy: Proxy,
    log: PathBuf,
    _child: Child,
}

impl Sweeper {
    pub(crate) async fn start(every_ms: u64, database: &str, env: Vec<(String, String)>, dir: &Path) -> Self {
        let proxy = Proxy::open(database).await.unwrap();
        let log = dir.join("sweeper.log");
        let mut command = Command::new(tandem_tests::binary());
        command.args(["sweeper", "--every-ms", &every_ms.to_string()]).current_dir(dir).env_clear();
        command.env("AWS_ENDPOINT_URL_DYNAMODB", proxy.url()).envs(env).env("NO_COLOR", "1");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&log).unwrap()).kill_on_drop(true);
        let child = command.spawn().unwrap();
        Sweeper { proxy, log, _child: child }
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }
}
