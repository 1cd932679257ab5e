//! Those who mean harm keep nobody out and use up nothing: the same crowds as a large attack, scaled down.

mod full;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use tandem_tests::{Api, PATIENCE, Program, Split, within};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

const CONNECTIONS: usize = 60;
/// What a foreground may hold, whatever comes; it holds less than a fifth of it without an attack.
const MEMORY: u64 = 256 * 1024 * 1024;

/// What goes on until it is over, and how often each kind has come.
struct Attack {
    address: String,
    over: AtomicBool,
    sent: [AtomicUsize; 7],
    /// Connections that are where they wanted to be.
    there: AtomicUsize,
    /// Streams that were asked for.
    streams: AtomicUsize,
    /// Pause after each byte of a slow head.
    slow: Duration,
}

/// The kind that sends requests which nobody asked for.
const GARBAGE: usize = 6;
/// Requests that it sends before it reads the answers.
const BATCH: usize = 50;

impl Attack {
    fn on(foreground: &Program) -> Self {
        Attack {
            address: foreground.url().trim_start_matches("http://").to_owned(),
            over: AtomicBool::new(false),
            sent: Default::default(),
            there: AtomicUsize::new(0),
            streams: AtomicUsize::new(0),
            slow: Duration::from_millis(40),
        }
    }

    /// One attacker, until it is over.
    async fn go_on(&self, kind: usize) {
        while !self.over.load(Ordering::SeqCst) {
            self.strike(kind).await;
            self.sent[kind].fetch_add(1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn connect(&self) -> Option<TcpStream> {
        TcpStream::connect(&self.address).await.ok()
    }

    /// One connection of a kind; what becomes of it is of no interest.
    async fn strike(&self, kind: usize) -> Option<()> {
        let mut socket = self.connect().await?;
        match kind {
            // A head that comes byte by byte.
            0 => {
                self.there.fetch_add(1, Ordering::SeqCst);
                for byte in
                    b"GET /threads HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: ".iter().chain(std::iter::repeat(&b'a'))
                {
                    socket.write_all(&[*byte]).await.ok()?;
                    if self.over.load(Ordering::SeqCst) {
                        return None;
                    }
                    tokio::time::sleep(self.slow).await;
                }
            }
            // A stream that nobody reads, of each of 100 people in turn: one person may have 256.
            1 => {
                let person = self.streams.fetch_add(1, Ordering::SeqCst) % 100;
                let request = format!(
                    "GET /events?scope=user HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer dev.other.eve{person}\r\n\r\n"
                );
                socket.write_all(request.as_bytes()).await.ok()?;
                let mut status = [0; 12];
                socket.read_exact(&mut status).await.ok()?;
                if status != *b"HTTP/1.1 200" {
                    return None;
                }
                self.there.fetch_add(1, Ordering::SeqCst);
                while !self.over.load(Ordering::SeqCst) {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
            // No HTTP at all.
            2 => {
                let noise: Vec<u8> = (0..4096_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
                socket.write_all(&noise).await.ok()?;
            }
            // A body without an end, to those who may send one and to those who may not.
            3 => {
                for (path, token) in [("/threads", "dev.other.eve"), ("/api/agent-chat", "nobody")] {
                    let mut socket = self.connect().await?;
                    let head = format!(
                        "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\ntransfer-encoding: chunked\r\n\r\n"
                    );
                    socket.write_all(head.as_bytes()).await.ok()?;
                    let piece = [b"10000\r\n".as_slice(), &[b'x'; 65_536], b"\r\n"].concat();
                    while !self.over.load(Ordering::SeqCst) {
                        if socket.write_all(&piece).await.is_err() {
                            break;
                        }
                    }
                }
            }
            // JSON of 100,000 levels.
            4 => {
                for path in ["/api/agent-chat", "/threads", "/api/remember", "/mcp", "/state/user/docs/a"] {
                    let method = if path.starts_with("/state") { "PUT" } else { "POST" };
                    let mut socket = self.connect().await?;
                    let body = format!("{{\"message\": {}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
                    let head = format!(
                        "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer dev.other.eve\r\n\
                         content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
                         connection: close\r\ncontent-length: {}\r\n\r\n",
                        body.len()
                    );
                    socket.write_all(head.as_bytes()).await.ok()?;
                    socket.write_all(body.as_bytes()).await.ok()?;
                    let mut answer = Vec::new();
                    socket.read_to_end(&mut answer).await.ok()?;
                    let answer = String::from_utf8_lossy(&answer);
                    assert!(
                        !answer.starts_with("HTTP/1.1 5") || answer.starts_with("HTTP/1.1 503"),
                        "{path}: {answer}"
                    );
                }
            }
            // As many requests as one connection takes, each of which is refused.
            GARBAGE => {
                let request = b"GET /threads HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer garbage\r\n\r\n";
                while !self.over.load(Ordering::SeqCst) {
                    let pace = tokio::time::sleep(Duration::from_millis(500));
                    socket.write_all(&request.repeat(BATCH)).await.ok()?;
                    let (mut answered, mut read) = (0, Vec::new());
                    while answered < BATCH {
                        socket.read_buf(&mut read).await.ok().filter(|read| *read > 0)?;
                        answered += read.windows(9).filter(|at| at == b"HTTP/1.1 ").count();
                        // The beginning of a head may be at the end.
                        read = read.split_off(read.len().saturating_sub(8));
                    }
                    self.sent[GARBAGE].fetch_add(BATCH, Ordering::SeqCst);
                    pace.await;
                }
            }
            // Headers without an end, and many of them.
            _ => {
                socket.write_all(b"GET /threads HTTP/1.1\r\n").await.ok()?;
                for n in 0..10_000 {
                    socket.write_all(format!("x-{n}: {}\r\n", "y".repeat(200)).as_bytes()).await.ok()?;
                }
            }
        }
        Some(())
    }
}

/// A turn as a client that comes again when it is told to, or cut off.
async fn honest_turn(api: &Api, n: usize) {
    let turn = format!("m-{n}");
    let body = json!({"message": "@say 3 every 5ms", "turnId": turn});
    let run = tandem_tests::until("a turn to be taken", async || {
        let answer = api.chat(&body).header("accept", "application/json").send().await.ok()?;
        let body: serde_json::Value = answer.json().await.ok()?;
        body["runId"].as_str().map(str::to_owned)
    })
    .await;
    tandem_tests::until("a turn to end", async || {
        let answer = api.get(&format!("/runs/{run}")).send().await.ok()?;
        let run: serde_json::Value = answer.json().await.ok()?;
        (run["status"] == "completed").then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn honest_turns_finish_under_attack_and_memory_is_bounded() {
    let most = CONNECTIONS.to_string();
    let split = Split::start(1, 1, &[("MAX_CONNECTIONS", &most), ("STREAM_WINDOW_MS", "3000")]).await;
    let foreground = &split.foregrounds[0];
    let attack = Arc::new(Attack::on(foreground));
    let mut attackers = JoinSet::new();
    // More slow ones than there are places, and some of every other kind.
    for (kind, many) in [(0, 2 * CONNECTIONS), (1, CONNECTIONS / 3), (2, 2), (3, 2), (4, 1), (5, 2)] {
        for _ in 0..many {
            let attack = Arc::clone(&attack);
            attackers.spawn(async move { attack.go_on(kind).await });
        }
    }
    let ann = split.api(0).as_person("acme.ann");
    let mut n = 0;
    // Until every kind has come, and some turns more. A stream counts when it is cut off at last.
    while n < 5 || (0..6).any(|kind| kind != 1 && attack.sent[kind].load(Ordering::SeqCst) < 2) {
        honest_turn(&ann, n).await;
        n += 1;
    }
    attack.over.store(true, Ordering::SeqCst);
    while let Some(attacker) = within(PATIENCE, "the attackers to go", attackers.join_next()).await {
        attacker.unwrap();
    }
    honest_turn(&ann, n).await;
    let peak = foreground.peak_memory();
    assert!(peak < MEMORY, "it held {} MB", peak / 1024 / 1024);
    assert!(!foreground.log().contains("panicked"), "{}", foreground.log());
}
