//! A socket that fails when its other end takes nothing for too long.

use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

pub(super) struct Stalling<S> {
    socket: S,
    limit: Duration,
    /// Runs while `stalled`.
    timer: Pin<Box<Sleep>>,
    stalled: bool,
}

impl<S> Stalling<S> {
    pub(super) fn new(socket: S, limit: Duration) -> Self {
        Stalling { socket, limit, timer: Box::pin(sleep(limit)), stalled: false }
    }

    /// What became of a write; an error where it has waited too long.
    fn judge<T>(&mut self, cx: &mut Context<'_>, written: Poll<Result<T>>) -> Poll<Result<T>> {
        if written.is_ready() {
            self.stalled = false;
            return written;
        }
        if !self.stalled {
            self.stalled = true;
            self.timer.as_mut().reset(Instant::now() + self.limit);
        }
        ready!(self.timer.as_mut().poll(cx));
        Poll::Ready(Err(Error::new(ErrorKind::TimedOut, "the client takes nothing")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Stalling<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.socket).poll_read(cx, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Stalling<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write(cx, bytes);
        self.judge(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write_vectored(cx, pieces);
        self.judge(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let flushed = Pin::new(&mut self.socket).poll_flush(cx);
        self.judge(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    #[tokio::test(start_paused = true)]
    async fn whoever_takes_nothing_is_given_up_and_who_is_slow_is_not() {
        let limit = Duration::from_secs(30);
        let (near, mut far) = duplex(10);
        let mut near = Stalling::new(near, limit);
        let slow = tokio::spawn(async move {
            let mut bytes = [0; 10];
            for _ in 0..5 {
                tokio::time::sleep(limit - Duration::from_secs(1)).await;
                far.read_exact(&mut bytes).await.unwrap();
            }
            far
        });
        near.write_all(&[0; 50]).await.unwrap();
        let _far = slow.await.unwrap();
        let began = Instant::now();
        let given_up = near.write_all(&[0; 50]).await.unwrap_err();
        assert_eq!((given_up.kind(), began.elapsed() >= limit), (ErrorKind::TimedOut, true));
    }
}
