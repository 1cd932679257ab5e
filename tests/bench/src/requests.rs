//! Requests one after the other on connections that stay open: a client that costs next to nothing.

use std::time::{Duration, Instant};

use futures::future::join_all;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Sends requests on `connections` at once for a while; gives how long each took, in milliseconds.
pub(crate) async fn for_a_while(
    url: &str,
    connections: usize,
    time: Duration,
    request: impl Fn(usize) -> String,
) -> Vec<f64> {
    let address = url.trim_start_matches("http://");
    let until = Instant::now() + time;
    let one = async |connection: usize| {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let (mut took, mut buffer) = (Vec::new(), Vec::new());
        for n in 0.. {
            let began = Instant::now();
            if began >= until {
                break;
            }
            stream.write_all(request(connection + n * connections).as_bytes()).await.unwrap();
            answer(&mut stream, &mut buffer).await;
            took.push(began.elapsed().as_secs_f64() * 1000.0);
        }
        took
    };
    join_all((0..connections).map(one)).await.concat()
}

/// Reads one answer, which must be a success.
async fn answer(stream: &mut TcpStream, buffer: &mut Vec<u8>) {
    loop {
        if let Some(length) = whole(buffer) {
            assert!(buffer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&buffer[..length]));
            buffer.drain(..length);
            return;
        }
        assert_ne!(stream.read_buf(buffer).await.unwrap(), 0, "the connection was closed");
    }
}

/// The length of an answer that is complete.
fn whole(buffer: &[u8]) -> Option<usize> {
    let head = buffer.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let text = std::str::from_utf8(&buffer[..head]).unwrap();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
    let length = head + length.parse::<usize>().unwrap();
    (buffer.len() >= length).then_some(length)
}
