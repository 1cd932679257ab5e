//! The way to the backgrounds: one address, and whoever is alive behind it.

use std::sync::{Arc, Mutex};

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Relays connections to the first of its destinations that accepts them, as a load balancer does.
#[derive(Debug)]
pub struct Road {
    url: String,
    destinations: Arc<Mutex<Vec<String>>>,
    /// The connections that are open.
    open: Arc<Mutex<JoinSet<()>>>,
}

impl Road {
    pub async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let destinations = Arc::new(Mutex::new(Vec::new()));
        let open = Arc::new(Mutex::new(JoinSet::new()));
        let (known, connections) = (Arc::clone(&destinations), Arc::clone(&open));
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let known: Vec<String> = known.lock().unwrap().clone();
                connections.lock().unwrap().spawn(async move {
                    for address in known {
                        if let Ok(mut server) = TcpStream::connect(&address).await {
                            let _ = copy_bidirectional(&mut client, &mut server).await;
                            return;
                        }
                    }
                });
            }
        });
        Road { url, destinations, open }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// Adds a destination, behind those that are there.
    pub fn lead_to(&self, url: &str) {
        self.destinations.lock().unwrap().push(url.trim_start_matches("http://").to_owned());
    }

    /// From now on it leads to this one only; connections to others are closed.
    pub fn lead_only_to(&self, url: &str) {
        self.open.lock().unwrap().abort_all();
        self.destinations.lock().unwrap().clear();
        self.lead_to(url);
    }
}
