//! Serving on a port until told to stop.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use anyhow::{Context, Result};
use axum::Router;
use clap::Args;
use tandem_http::Pages;
use tandem_runs::Runtime;
use tokio::net::TcpListener;

use crate::connections;
use crate::output::say;

/// How long runs under way may take to notice that the process ends; what is left is recovered by others.
const DRAIN: Duration = Duration::from_secs(1);

/// Where to listen.
#[derive(Args, Debug, Clone, Copy)]
pub(crate) struct Listen {
    /// Port; 0 chooses a free one.
    #[arg(long, env = "PORT", default_value_t = 8787)]
    pub(crate) port: u16,
    /// Address. Anything but loopback needs DISPATCH_KEYS.
    #[arg(long, default_value = "127.0.0.1")]
    pub(crate) host: IpAddr,
}

/// Whom to serve.
#[derive(Args, Debug, Clone, Copy)]
pub(crate) struct Clients {
    /// Connections at once; of more, those go first that have no request under way.
    #[arg(long, env = "MAX_CONNECTIONS", default_value_t = 10_000)]
    max_connections: usize,
}

impl Listen {
    pub(crate) async fn bind(self) -> Result<TcpListener> {
        let address = SocketAddr::new(self.host, self.port);
        TcpListener::bind(address).await.with_context(|| format!("{address} cannot be used; choose another --port"))
    }

    /// Which web pages may call: where nobody signs in, not every page that somebody has open.
    pub(crate) fn pages(self, must_sign_in: bool) -> Pages {
        match (must_sign_in, self.is_loopback()) {
            (true, _) => Pages::Any,
            (false, true) => Pages::OwnMachine,
            (false, false) => Pages::OwnHost,
        }
    }

    pub(crate) fn is_loopback(self) -> bool {
        self.host.is_loopback()
    }
}

/// The address at which this process can be reached from this machine.
pub(crate) fn own_url(listener: &TcpListener) -> Result<String> {
    let address = listener.local_addr()?;
    let host = if address.ip().is_unspecified() { "127.0.0.1".to_owned() } else { address.ip().to_string() };
    Ok(format!("http://{host}:{}", address.port()))
}

/// Serves until Ctrl-C or SIGTERM, then gives the runs of this process a moment.
pub(crate) async fn serve(listener: TcpListener, router: Router, clients: Clients, runtime: &Runtime) -> Result<()> {
    tokio::select! {
        never = connections::serve(listener, router, clients.max_connections) => match never {},
        () = stopped() => {}
    }
    runtime.tasks().close();
    // Streams are cut and runs are left: clients come back with their cursor, and the runs are recovered.
    let _ = tokio::time::timeout(DRAIN, runtime.tasks().wait()).await;
    match runtime.held() {
        0 => {}
        1 => say("A run is left under way; it goes on about 15 s after Tandem is started again."),
        runs => {
            say(format_args!("{runs} runs are left under way; they go on about 15 s after Tandem is started again."))
        }
    }
    Ok(())
}

/// Resolves when the process is told to stop.
pub(crate) async fn stopped() {
    use tokio::signal::unix::{SignalKind, signal};
    let terminate = async {
        match signal(SignalKind::terminate()) {
            Ok(mut signal) => {
                signal.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminate => {}
    }
}
