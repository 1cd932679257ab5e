//! Waiting for facts, never for a guessed time.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

/// How long a test waits for something that must happen: long, as machines are busy.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Asks again and again until there is an answer.
pub async fn until<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(began.elapsed() < PATIENCE, "waited {} s for {what}", PATIENCE.as_secs());
        sleep(Duration::from_millis(20)).await;
    }
}

/// Waits for something that ends by itself.
pub async fn within<T>(limit: Duration, what: &str, work: impl Future<Output = T>) -> T {
    let waited = timeout(limit, work).await;
    waited.unwrap_or_else(|_| panic!("waited {} ms for {what}", limit.as_millis()))
}
