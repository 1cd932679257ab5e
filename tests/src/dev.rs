//! `tandem dev`: the whole system in one process.

use std::path::PathBuf;

use tempfile::TempDir;

use crate::{Api, Env, Program};

const DATA: &str = "data";

/// One `tandem dev` with a data folder of its own.
#[derive(Debug)]
pub struct Dev {
    program: Program,
    dir: TempDir,
    env: Vec<(String, String)>,
}

impl Dev {
    pub async fn start(env: Env<'_>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let program = dev(0, &dir, env).await;
        let env = env.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        Dev { program, dir, env }
    }

    pub fn api(&self) -> Api {
        Api::new(self.program.url())
    }

    pub fn url(&self) -> &str {
        self.program.url()
    }

    /// The folder of its data.
    pub fn data(&self) -> PathBuf {
        self.dir.path().join(DATA)
    }

    /// `kill -9`.
    pub fn kill(&mut self) {
        self.program.kill();
    }

    /// `kill -9`, and the same again: same port, same data, same environment.
    pub async fn restart(&mut self) {
        self.kill();
        let env: Vec<(&str, &str)> = self.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.program = dev(self.program.port(), &self.dir, &env).await;
    }
}

async fn dev(port: u16, dir: &TempDir, env: Env<'_>) -> Program {
    let args = ["dev", "--port", &port.to_string(), "--data", DATA];
    Program::serve(&args, env, dir.path()).await
}
