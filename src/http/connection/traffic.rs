//! Counts connections and their bytes for the metrics.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::http::connections::Place;
use crate::telemetry::HttpMetrics;

/// A stream that counts its bytes, and itself as an open connection until it is dropped. It fails when it has to make way for
/// another connection.
pub(in crate::http) struct MeteredStream<T> {
    io: T,
    metrics: HttpMetrics,
    place: Arc<Place>,
}

impl<T> MeteredStream<T> {
    /// Counts what `io` reads and writes from now on.
    pub(in crate::http) fn new(io: T, metrics: HttpMetrics, place: Arc<Place>) -> Self {
        metrics.connections.inc();
        Self { io, metrics, place }
    }

    /// Its place among all connections.
    pub(in crate::http) fn place(&self) -> &Arc<Place> {
        &self.place
    }

    fn check_place(&self, context: &Context<'_>) -> io::Result<()> {
        if self.place.makes_way(context) { Err(io::ErrorKind::ConnectionAborted.into()) } else { Ok(()) }
    }
}

impl<T> Drop for MeteredStream<T> {
    fn drop(&mut self) {
        self.metrics.connections.dec();
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for MeteredStream<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check_place(context)?;
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.io).poll_read(context, buffer))?;
        self.place.is_active();
        self.metrics.received_bytes.inc_by((buffer.filled().len() - before) as u64);
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for MeteredStream<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check_place(context)?;
        let written = ready!(Pin::new(&mut self.io).poll_write(context, bytes))?;
        self.place.is_active();
        self.metrics.sent_bytes.inc_by(written as u64);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::config::Config;
    use crate::http::connections::Connections;
    use crate::telemetry::metrics::Metrics;

    #[tokio::test]
    async fn bytes_and_connections_are_counted() {
        let metrics = Metrics::new().http;
        let (mut near, far) = tokio::io::duplex(64);
        let connections = Connections::new(&Config::default().http, None, metrics.full.clone());
        let place = Arc::new(connections).admit([127, 0, 0, 1].into()).unwrap();
        let mut counted = MeteredStream::new(far, metrics.clone(), place);
        assert_eq!(metrics.connections.get(), 1);
        near.write_all(b"12345").await.unwrap();
        counted.read_exact(&mut [0; 5]).await.unwrap();
        counted.write_all(b"123").await.unwrap();
        drop(counted);
        let seen = (metrics.received_bytes.get(), metrics.sent_bytes.get(), metrics.connections.get());
        assert_eq!(seen, (5, 3, 0));
    }
}
