//! Opening the engine, and its two doors.

use std::fs::{self, File, TryLockError};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::{self, BehaviorVersion, Config, Credentials, Region};
use dynoxide::Database;
use tokio::net::TcpListener;
use tokio::task::spawn_blocking;

use crate::connector::InProcess;

const DATABASE_FILE: &str = "dynamodb.sqlite";
const LOCK_FILE: &str = "dynamodb.lock";

/// What an acknowledged write outlives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// The death of this process, by `kill -9` too: the write is with the operating system. What was written
    /// in the last seconds before a power failure may be gone, but never torn or out of order.
    #[default]
    Process,
    /// A power failure: every write waits for the disk, which makes writes about ten times slower.
    Power,
}

/// An embedded DynamoDB. Clones share one database.
#[derive(Clone)]
pub struct Engine {
    database: Database,
    /// Held, never read: the lock goes when the last clone goes.
    _lock: Option<Arc<File>>,
}

impl Engine {
    /// Opens the database in `dir`, and creates both where they are missing.
    ///
    /// One process at a time: a second one is refused, since two would each check conditions against their own
    /// snapshot. Other processes come in through [`Engine::serve`].
    pub fn open(dir: &Path) -> anyhow::Result<Self> {
        Self::open_with(dir, Durability::default())
    }

    /// [`Engine::open`] with a choice of what an acknowledged write outlives.
    pub fn open_with(dir: &Path, durability: Durability) -> anyhow::Result<Self> {
        fs::create_dir_all(dir).with_context(|| format!("cannot create the data folder {}", dir.display()))?;
        let lock = lock(dir)?;
        let file = dir.join(DATABASE_FILE);
        let path = file.to_str().with_context(|| format!("{} is not valid UTF-8", file.display()))?;
        let database = Database::new(path).with_context(|| format!("cannot open {}", file.display()))?;
        match durability {
            // The engine opens its file in WAL mode with SQLite's default, a sync per write. This call, named for
            // what usually precedes it, is its one public way to `synchronous = NORMAL`: a sync per checkpoint.
            Durability::Process => database.disable_bulk_loading()?,
            Durability::Power => {}
        }
        Ok(Self { database, _lock: Some(Arc::new(lock)) })
    }

    /// An empty database that is gone with the last clone.
    pub fn in_memory() -> anyhow::Result<Self> {
        Ok(Self { database: Database::memory()?, _lock: None })
    }

    /// A client that reaches this engine in process, configured as in production: latest behaviour, standard
    /// retries. Region and credentials are made up; requests are signed with them, and nobody looks.
    pub fn client(&self) -> Client {
        Client::from_conf(client_config().http_client(InProcess::new(self.clone())).build())
    }

    /// Serves DynamoDB's HTTP API on `listener` until the future is dropped, which stops accepting connections.
    pub async fn serve(&self, listener: TcpListener) -> anyhow::Result<()> {
        let never = std::future::pending();
        dynoxide::server::serve_with_shutdown(listener, self.database.clone(), never).await.map_err(anyhow::Error::msg)
    }

    /// Deletes the items whose time to live has passed, and returns how many there were. The engine does so only
    /// when asked; other requests get in between its pages.
    pub async fn sweep_ttl(&self) -> anyhow::Result<usize> {
        let database = self.database.clone();
        Ok(spawn_blocking(move || database.sweep_ttl()).await??)
    }

    pub(crate) fn database(&self) -> &Database {
        &self.database
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Engine")
    }
}

/// What a client of either door has in common.
pub(crate) fn client_config() -> config::Builder {
    Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::from_static("us-east-1"))
        .credentials_provider(Credentials::new("embedded", "embedded", None, None, "embedded"))
        .retry_config(RetryConfig::standard())
}

/// The operating system drops this lock with the process, however it ends.
fn lock(dir: &Path) -> anyhow::Result<File> {
    let path = dir.join(LOCK_FILE);
    let file = File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => bail!(
            "the data in {} is in use by another process: stop it, use another folder, or reach it over HTTP \
             (AWS_ENDPOINT_URL_DYNAMODB)",
            dir.display()
        ),
        Err(TryLockError::Error(error)) => Err(error).with_context(|| format!("cannot lock {}", path.display())),
    }
}
