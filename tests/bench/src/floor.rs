//! The floor: a server that does nothing but forward bytes. Nothing on this machine can be faster than that.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};

/// Forwards connections until it is killed; says where it listens.
pub(crate) async fn forward(address: &str) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("{}", listener.local_addr().unwrap());
    loop {
        let (mut client, _) = listener.accept().await.unwrap();
        let mut server = TcpStream::connect(address).await.unwrap();
        client.set_nodelay(true).unwrap();
        server.set_nodelay(true).unwrap();
        tokio::spawn(async move { copy_bidirectional(&mut client, &mut server).await });
    }
}

/// Such a server as a process of its own, like the program that it is compared with.
pub(crate) struct Floor {
    child: Child,
    url: String,
}

impl Floor {
    pub(crate) fn before(server: SocketAddr) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--forward", &server.to_string()]).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Floor { child, url: format!("http://{}", line.trim()) }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Floor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
