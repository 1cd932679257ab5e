//! The parts of the system as processes of their own: the database, foregrounds and backgrounds.

use tempfile::TempDir;

use crate::{Api, Env, Finished, Program, Road, Table, run_to_end};

/// Foregrounds and backgrounds on one `tandem dynamodb`. Dispatches travel over a [`Road`], so that they
/// reach whichever background is alive.
#[derive(Debug)]
pub struct Split {
    pub foregrounds: Vec<Program>,
    pub backgrounds: Vec<Program>,
    pub road: Road,
    database: Program,
    env: Vec<(String, String)>,
    dir: TempDir,
}

impl Split {
    /// `env` is for all processes, and wins over what is set here.
    pub async fn start(foregrounds: usize, backgrounds: usize, env: Env<'_>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let database = dynamodb(0, env, &dir).await;
        let road = Road::open().await;
        let own = [("AWS_ENDPOINT_URL_DYNAMODB", database.url()), ("BACKGROUND_URL", road.url())];
        let all = own.iter().chain(env).map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let mut split = Split { foregrounds: Vec::new(), backgrounds: Vec::new(), road, database, env: all, dir };
        for _ in 0..backgrounds {
            split.add_background().await;
        }
        for _ in 0..foregrounds {
            let foreground = split.serve("foreground").await;
            split.foregrounds.push(foreground);
        }
        split
    }

    /// A client of the foreground number `n`.
    pub fn api(&self, n: usize) -> Api {
        Api::new(self.foregrounds[n].url())
    }

    pub async fn add_background(&mut self) {
        let background = self.serve("background").await;
        self.road.lead_to(background.url());
        self.backgrounds.push(background);
    }

    /// Where the database listens.
    pub fn database(&self) -> &str {
        self.database.url()
    }

    /// `kill -9` of the database.
    pub fn kill_database(&mut self) {
        self.database.kill();
    }

    /// The database again: same port, same data.
    pub async fn restart_database(&mut self) {
        self.kill_database();
        self.database = dynamodb(self.database.port(), &self.env(), &self.dir).await;
    }

    /// One pass of the sweeper.
    pub async fn sweep(&self) -> Finished {
        run_to_end(&["sweeper", "--once"], &self.env()).await
    }

    /// The table as the AWS SDK sees it.
    pub fn table(&self) -> Table {
        Table::at(self.database.url())
    }

    async fn serve(&self, name: &str) -> Program {
        self.serve_with(name, &[]).await
    }

    /// One more process on this database; `more` wins over what all of them have.
    pub async fn serve_with(&self, name: &str, more: Env<'_>) -> Program {
        let env = [self.env(), more.to_vec()].concat();
        Program::serve(&[name, "--port", "0"], &env, self.dir.path()).await
    }

    fn env(&self) -> Vec<(&str, &str)> {
        self.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }
}

async fn dynamodb(port: u16, env: Env<'_>, dir: &TempDir) -> Program {
    Program::serve(&["dynamodb", "--port", &port.to_string(), "--data", "data"], env, dir.path()).await
}
