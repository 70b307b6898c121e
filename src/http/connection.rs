//! One client's connection: what a `PUT` sends beyond the length it declared is dropped, not read as a
//! request.
//!
//! One published client declares the number of characters where the number of bytes is meant, so the end
//! of every upload that is not ASCII is left over. actix takes it for the next request, finds that it is
//! none, and with `h1_allow_half_closed(false)` ends the connection before the upload is answered. So the
//! bytes of a `PUT` are counted here, below actix: it sees the request and its body, and nothing after.
//! (`request.rs` closes the connection after every `PUT`.)
//!
//! And one thing that actix takes is refused here: a line feed alone as the end of a line in a head. A proxy in front that
//! sees another end of the head there would see another request than we do. So that every head is looked at, actix is shown
//! one request at a time: what a client sends behind one whose length is known is kept until that one is answered. (What
//! comes behind a chunked body at once is not looked at.)

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use super::refusal;

/// A head longer than this is not looked at; actix refuses it anyhow (its limit is 128 KiB).
const HEAD_LIMIT_BYTES: usize = 128 * 1024;
/// Read at a time where the bytes are dropped or looked at.
const SCRATCH_BYTES: usize = 8 * 1024;
/// Reads in a row that drop what they read, before others get their turn.
const READS_IN_A_ROW: usize = 32;
/// How long what is left over is still read after the answer. Closed at once, the connection would be
/// reset, and the client might never see the answer.
const LINGER: Duration = Duration::from_secs(2);
const METHOD: &[u8] = b"PUT ";
/// What actix is given in the place of a head that is refused.
const NO_REQUEST: &[u8] = b"\0\r\n\r\n";
/// What is written before the body has come.
const GO_AHEAD: &[u8] = b"HTTP/1.1 100 ";
const END_OF_HEAD: &[u8] = b"\r\n\r\n";

/// A stream that shows its reader at most one `PUT`, and everything else as it is.
pub(super) struct Connection<T> {
    io: T,
    phase: Phase,
    closing: Option<Pin<Box<Sleep>>>,
    /// What came behind the request that is not answered yet.
    behind: BytesMut,
    /// Who waits for the answer, to read on.
    reader: Option<Waker>,
    /// Nothing of an answer was written since the last head. Only then can a refusal of actix's own begin: in the middle of
    /// a document the same bytes are the document's.
    is_fresh: bool,
    /// Why the head was refused.
    reason: Option<&'static str>,
    /// What is written in the place of an answer of actix's own, as far as it is not yet.
    instead: Option<Bytes>,
    send_limit: Duration,
    /// Runs while the client takes nothing of its answer.
    stalled: Option<Pin<Box<Sleep>>>,
}

enum Phase {
    /// The next byte is the first one of a request.
    Between,
    /// The beginning of a head.
    Head(BytesMut),
    /// What has been read already, and how many bytes of the request are to come.
    Counted { ready: Bytes, left: u64, is_put: bool, is_answered: bool },
    /// It is complete and not answered.
    Complete,
    /// The `PUT` is complete; whatever comes is dropped.
    Spent,
    /// Another request, read as it comes until something is answered.
    Open { ready: Bytes },
}

impl<T> Connection<T> {
    /// A connection on which nothing has been read.
    ///
    /// A client that takes nothing of its answer for `send_limit` loses it.
    pub(super) fn new(io: T, send_limit: Duration) -> Self {
        Self {
            io,
            phase: Phase::Between,
            closing: None,
            behind: BytesMut::new(),
            reader: None,
            is_fresh: true,
            reason: None,
            instead: None,
            send_limit,
            stalled: None,
        }
    }
}

impl<T: AsyncRead + Unpin> Connection<T> {
    /// Reads on until it is clear what kind of request this is.
    fn poll_head(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            let mut gathered = match &mut self.phase {
                Phase::Between => BytesMut::new(),
                Phase::Head(gathered) => std::mem::take(gathered),
                Phase::Counted { .. } | Phase::Complete | Phase::Spent | Phase::Open { .. } => {
                    return Poll::Ready(Ok(()));
                }
            };
            let mut is_end = false;
            if self.behind.is_empty() {
                self.phase = Phase::Head(gathered);
                let (count, bytes) = ready!(self.poll_scratch(context))?;
                let Phase::Head(head) = &mut self.phase else { continue };
                gathered = std::mem::take(head);
                gathered.extend_from_slice(&bytes[..count]);
                is_end = count == 0;
            } else {
                gathered.unsplit(self.behind.split());
            }
            // Whoever reads a request passes over these (RFC 9112, 2.2).
            while gathered.starts_with(b"\r\n") {
                gathered.advance(2);
            }
            self.phase = self.judged(gathered, is_end);
        }
    }

    /// What the beginning of a request makes of the connection.
    fn judged(&mut self, mut head: BytesMut, is_end: bool) -> Phase {
        let end = head_end(&head);
        let is_none = !may_be_request(&head) && !head.starts_with(b"\n");
        if is_end || is_none || head.len() > HEAD_LIMIT_BYTES && end.is_none() {
            self.is_fresh = true;
            return Phase::Open { ready: head.freeze() };
        }
        if has_bare_line_feed(&head[..end.unwrap_or(head.len())]) {
            self.reason = Some(refusal::BARE_LINE_FEED);
            self.is_fresh = true;
            return Phase::Open { ready: Bytes::from_static(NO_REQUEST) };
        }
        let Some(end) = end else { return Phase::Head(head) };
        self.is_fresh = true;
        let Some(length) = declared_length(&head[..end]) else {
            return Phase::Open { ready: head.freeze() };
        };
        let here = (head.len() - end) as u64;
        if here > length {
            self.behind = head.split_off(end + usize::try_from(length).unwrap_or(0));
        }
        let is_put = head.starts_with(METHOD);
        let left = length.saturating_sub(here);
        Phase::Counted { ready: head.freeze(), left, is_put, is_answered: false }
    }

    /// Waits for the answer to a complete request, and keeps what comes meanwhile: that the client has gone is news.
    fn poll_behind(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.reader = Some(context.waker().clone());
        while self.behind.len() < HEAD_LIMIT_BYTES {
            let (count, bytes) = ready!(self.poll_scratch(context))?;
            if count == 0 {
                return Poll::Ready(Ok(()));
            }
            self.behind.extend_from_slice(&bytes[..count]);
        }
        Poll::Pending
    }

    fn poll_scratch(&mut self, context: &mut Context<'_>) -> Poll<io::Result<(usize, [u8; SCRATCH_BYTES])>> {
        let mut bytes = [0; SCRATCH_BYTES];
        let mut scratch = ReadBuf::new(&mut bytes);
        ready!(Pin::new(&mut self.io).poll_read(context, &mut scratch))?;
        let count = scratch.filled().len();
        Poll::Ready(Ok((count, bytes)))
    }

    /// Drops what comes; ready at the end of the stream or at a fault of it.
    fn poll_drop(&mut self, context: &mut Context<'_>) -> Poll<()> {
        for _ in 0..READS_IN_A_ROW {
            match ready!(self.poll_scratch(context)) {
                Ok((1.., _)) => {}
                Ok((0, _)) | Err(_) => return Poll::Ready(()),
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Connection<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_head(context))?;
        match &mut this.phase {
            Phase::Open { ready } | Phase::Counted { ready, .. } if !ready.is_empty() => {
                give(ready, buffer);
                Poll::Ready(Ok(()))
            }
            Phase::Counted { left: 0, is_put, is_answered, .. } => {
                this.phase = match (*is_put, *is_answered) {
                    (true, _) => Phase::Spent,
                    (false, true) => Phase::Between,
                    (false, false) => Phase::Complete,
                };
                Pin::new(this).poll_read(context, buffer)
            }
            Phase::Complete => this.poll_behind(context),
            Phase::Counted { left, .. } => poll_counted(&mut this.io, left, context, buffer),
            // The end of the stream is no news: the request is complete and is answered. That the answer
            // may meet nobody does no harm.
            Phase::Spent => {
                let _ended = this.poll_drop(context);
                Poll::Pending
            }
            Phase::Open { .. } | Phase::Between | Phase::Head(_) => {
                Pin::new(&mut this.io).poll_read(context, buffer)
            }
        }
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Connection<T> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        // To who sent nothing at all, nothing is explained.
        let is_begun = !matches!(&this.phase, Phase::Between)
            && !matches!(&this.phase, Phase::Head(head) if head.is_empty());
        if this.instead.is_none() && this.is_fresh && is_begun {
            this.instead = refusal::instead_of(bytes, this.reason);
        }
        let Poll::Ready(written) = this.poll_put(context, bytes) else {
            let limit = this.send_limit;
            let stalled = this.stalled.get_or_insert_with(|| Box::pin(sleep(limit)));
            ready!(stalled.as_mut().poll(context));
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        };
        this.stalled = None;
        let written = written?;
        if !is_go_ahead(bytes) {
            this.answered();
        }
        Poll::Ready(Ok(written))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().io).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.closing.is_none() {
            ready!(Pin::new(&mut this.io).poll_shutdown(context))?;
        }
        if !matches!(this.phase, Phase::Spent) {
            return Poll::Ready(Ok(()));
        }
        let closing = this.closing.get_or_insert_with(|| Box::pin(sleep(LINGER)));
        if closing.as_mut().poll(context).is_ready() {
            return Poll::Ready(Ok(()));
        }
        this.poll_drop(context).map(Ok)
    }
}

fn poll_counted<T: AsyncRead + Unpin>(
    io: &mut T,
    left: &mut u64,
    context: &mut Context<'_>,
    buffer: &mut ReadBuf<'_>,
) -> Poll<io::Result<()>> {
    let most = usize::try_from(*left).unwrap_or(usize::MAX).min(buffer.remaining());
    let mut part = ReadBuf::new(buffer.initialize_unfilled_to(most));
    ready!(Pin::new(io).poll_read(context, &mut part))?;
    let count = part.filled().len();
    buffer.advance(count);
    *left -= count as u64;
    Poll::Ready(Ok(()))
}

fn give(ready: &mut Bytes, buffer: &mut ReadBuf<'_>) {
    let count = ready.len().min(buffer.remaining());
    buffer.put_slice(&ready[..count]);
    ready.advance(count);
}

impl<T> Connection<T> {
    /// Something of the answer was written.
    fn answered(&mut self) {
        self.is_fresh = false;
        match &mut self.phase {
            Phase::Open { ready } if ready.is_empty() => self.phase = Phase::Between,
            Phase::Complete => self.phase = Phase::Between,
            Phase::Counted { is_answered, .. } => *is_answered = true,
            Phase::Between | Phase::Head(_) | Phase::Spent | Phase::Open { .. } => {}
        }
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }
}

impl<T: AsyncWrite + Unpin> Connection<T> {
    /// Writes `bytes`, or all of what stands in their place.
    fn poll_put(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        while let Some(instead) = &mut self.instead {
            if instead.is_empty() {
                self.instead = None;
                return Poll::Ready(Ok(bytes.len()));
            }
            match ready!(Pin::new(&mut self.io).poll_write(context, instead)) {
                Ok(0) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Ok(count) => instead.advance(count),
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        Pin::new(&mut self.io).poll_write(context, bytes)
    }
}

/// Whether nothing is written but that the body may come.
fn is_go_ahead(bytes: &[u8]) -> bool {
    bytes.starts_with(GO_AHEAD) && head_end(bytes).is_none_or(|end| end == bytes.len())
}

/// Whether it begins as requests do, with a method (any token of RFC 9110, 5.6.2): what does not need not be waited for.
fn may_be_request(head: &[u8]) -> bool {
    let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    let first = head.split(|&byte| byte == b' ').next().unwrap_or_default();
    first.strip_suffix(b"\r").unwrap_or(first).iter().all(is_token)
}

fn has_bare_line_feed(head: &[u8]) -> bool {
    memchr::memchr_iter(b'\n', head).any(|at| at == 0 || head[at - 1] != b'\r')
}

/// Where the body begins.
fn head_end(bytes: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, END_OF_HEAD).map(|at| at + END_OF_HEAD.len())
}

/// The length that the head declares, or 0 for no body; none where the body delimits itself, or where the head is for
/// actix to refuse.
fn declared_length(head: &[u8]) -> Option<u64> {
    let mut length = None;
    for line in head.split(|&byte| byte == b'\n') {
        let Some(colon) = line.iter().position(|&byte| byte == b':') else { continue };
        let (name, value) = (&line[..colon], &line[colon + 1..]);
        if name.eq_ignore_ascii_case(b"transfer-encoding") {
            return None;
        }
        if name.eq_ignore_ascii_case(b"content-length") {
            let value: u64 = std::str::from_utf8(value).ok()?.trim().parse().ok()?;
            if length.replace(value).is_some() {
                return None;
            }
        }
    }
    Some(length.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
    use tokio::time::{Instant, timeout};

    use super::*;

    fn pair() -> (DuplexStream, Connection<DuplexStream>) {
        let (client, server) = duplex(1 << 20);
        (client, Connection::new(server, Duration::from_secs(5)))
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_takes_nothing_loses_its_answer() {
        let (mut client, server) = duplex(100);
        let mut connection = Connection::new(server, Duration::from_secs(5));
        let begun = Instant::now();
        let answer = connection.write_all(&[0; 1_000]);
        let reader = async {
            // What is taken gives it new time.
            for _ in 0..3 {
                tokio::time::sleep(Duration::from_secs(4)).await; // paused
                client.read_exact(&mut [0; 50]).await.unwrap();
            }
        };
        let (answer, ()) = tokio::join!(answer, reader);
        assert_eq!(answer.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(begun.elapsed().as_secs(), 17);
    }

    /// What actix would see until it has to wait or the stream ends.
    async fn seen(connection: &mut Connection<DuplexStream>) -> (String, bool) {
        let mut bytes = Vec::new();
        let read = async {
            let mut chunk = [0; 7];
            loop {
                match connection.read(&mut chunk).await.unwrap() {
                    0 => return,
                    count => bytes.extend_from_slice(&chunk[..count]),
                }
            }
        };
        let ended = timeout(Duration::from_millis(50), read).await.is_ok();
        (String::from_utf8(bytes).unwrap(), ended)
    }

    #[tokio::test(start_paused = true)]
    async fn what_follows_the_declared_length_of_a_put_is_dropped() {
        for split in 1..60 {
            let (mut client, mut connection) = pair();
            let request = "PUT /x HTTP/1.1\r\nhost: a\r\nContent-LENGTH: 4\r\n\r\nabcd";
            let sent = format!("{request}efg\r\n\r\nGET / HTTP/1.1\r\n");
            let (first, second) = sent.split_at(split.min(sent.len()));
            client.write_all(first.as_bytes()).await.unwrap();
            let before = seen(&mut connection).await.0;
            client.write_all(second.as_bytes()).await.unwrap();
            drop(client);
            let (after, ended) = seen(&mut connection).await;
            assert_eq!(format!("{before}{after}"), request, "split at {split}");
            assert!(!ended, "the end of the stream is not told before the answer");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn everything_else_passes_as_it_is() {
        for sent in [
            "GET /x HTTP/1.1\r\n\r\n",
            "POST /x HTTP/1.1\r\ncontent-length: 3\r\n\r\na\nb",
            "PUT /x HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\nmore",
            "PUT /x HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nabc",
            "PUT /x HTTP/1.1\r\ncontent-length: -1\r\n\r\nabc",
            "PUT /x HTTP/1.1\r\nhalf a head",
            "PUSH /x HTTP/1.1\r\ncontent-length: 9\r\n\r\nabc",
            "\x16\x03\x01\nno\n\n",
            "",
        ] {
            let (mut client, mut connection) = pair();
            client.write_all(sent.as_bytes()).await.unwrap();
            drop(client);
            assert_eq!(seen(&mut connection).await, (sent.to_owned(), true));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_line_feed_alone_ends_no_line_of_a_head() {
        let refused = String::from_utf8(NO_REQUEST.to_vec()).unwrap();
        for sent in [
            "GET / HTTP/1.1\nhost: a\n\n",
            "GET / HTTP/1.1\r\nhost: a\nx: y\r\n\r\n",
            "PUT / HTTP/1.1\n",
            "post / HTTP/1.1\n",
            "M-SEARCH * HTTP/1.1\r\nhost: a\n\r\n",
            "\r\n\r\nGET / HTTP/1.1\n",
            "\nGET / HTTP/1.1\r\n\r\n",
            "\r\n\nGET / HTTP/1.1\r\n\r\n",
        ] {
            let (mut client, mut connection) = pair();
            client.write_all(sent.as_bytes()).await.unwrap();
            assert_eq!(seen(&mut connection).await.0, refused, "{sent:?}");
        }
        // A body may have them.
        let (mut client, mut connection) = pair();
        let sent = "POST / HTTP/1.1\r\ncontent-length: 3\r\n\r\na\nb";
        client.write_all(sent.as_bytes()).await.unwrap();
        assert_eq!(seen(&mut connection).await.0, sent);
        connection.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await.unwrap();
        client.write_all(b"GET /more\n").await.unwrap();
        assert_eq!(seen(&mut connection).await.0, "");
        connection.write_all(b"HTTP/1.1 204\r\n\r\n").await.unwrap();
        assert_eq!(seen(&mut connection).await.0, refused, "what came behind the body is a head");
    }

    #[tokio::test(start_paused = true)]
    async fn what_comes_behind_a_request_waits_for_its_answer_and_is_looked_at() {
        let (get, put) = ("GET / HTTP/1.1\r\n\r\n", "PUT / HTTP/1.1\r\nContent-Length: 1\r\n\r\n");
        let refused = String::from_utf8(NO_REQUEST.to_vec()).unwrap();
        for (behind, shown) in
            [(format!("{put}abc"), format!("{put}a")), ("GET / HTTP/1.1\n".to_owned(), refused)]
        {
            for answer in ["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 No\r\n\r\n"]
            {
                let (mut client, mut connection) = pair();
                client.write_all(format!("{get}{behind}").as_bytes()).await.unwrap();
                assert_eq!(seen(&mut connection).await, (get.to_owned(), false));
                connection.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await.unwrap();
                assert_eq!(seen(&mut connection).await.0, "", "a go-ahead is no answer");
                connection.write_all(answer.as_bytes()).await.unwrap();
                assert_eq!(seen(&mut connection).await.0, shown, "{answer:?}");
            }
        }
        // Who waits to read is woken by the answer, and told that the client has gone.
        let (mut client, connection) = pair();
        let (mut read, mut write) = tokio::io::split(connection);
        client.write_all(format!("{get}{get}").as_bytes()).await.unwrap();
        let mut bytes = vec![0; get.len()];
        read.read_exact(&mut bytes).await.unwrap();
        let again = tokio::spawn(async move {
            read.read_exact(&mut bytes).await.unwrap();
            read.read(&mut bytes).await.unwrap()
        });
        tokio::task::yield_now().await;
        write.write_all(b"HTTP/1.1 204\r\n\r\n").await.unwrap();
        drop(client);
        assert_eq!(timeout(Duration::from_secs(1), again).await.unwrap().unwrap(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_document_is_written_as_it_is() {
        let refusal = b"HTTP/1.1 400 x\r\nconnection: close\r\n\r\n";
        let (mut client, mut connection) = pair();
        client.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
        seen(&mut connection).await;
        connection.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await.unwrap();
        for piece in [&b"HTTP/1.1 200 OK\r\n\r\n"[..], refusal, refusal] {
            connection.write_all(piece).await.unwrap();
        }
        client.write_all(b"nonsense / HTTP/1.1\r\n\r\n").await.unwrap();
        seen(&mut connection).await;
        connection.write_all(refusal).await.unwrap();
        drop(connection);
        let mut written = String::new();
        client.read_to_string(&mut written).await.unwrap();
        assert_eq!(written.matches("HTTP/1.1 400 x").count(), 2, "{written}");
        assert_eq!(written.matches("problem+json").count(), 1, "{written}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_put_is_found_after_other_requests() {
        let (mut client, mut connection) = pair();
        client.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
        assert_eq!(seen(&mut connection).await.0, "GET / HTTP/1.1\r\n\r\n");
        connection.write_all(b"HTTP/1.1 204\r\n\r\n").await.unwrap();
        client.write_all(b"PUT / HTTP/1.1\r\nContent-Length: 1\r\n\r\nabc").await.unwrap();
        assert!(seen(&mut connection).await.0.ends_with("\r\n\r\na"));
    }

    #[tokio::test(start_paused = true)]
    async fn the_rest_of_a_put_is_read_for_a_while_after_the_answer() {
        let (mut client, mut connection) = pair();
        client.write_all(b"PUT / HTTP/1.1\r\nContent-Length: 1\r\n\r\nabc").await.unwrap();
        seen(&mut connection).await;
        let start = Instant::now();
        connection.shutdown().await.unwrap();
        assert!(start.elapsed() >= LINGER, "the client is still there");
        let (mut client, mut connection) = pair();
        client.write_all(b"PUT / HTTP/1.1\r\nContent-Length: 1\r\n\r\nabc").await.unwrap();
        drop(client);
        seen(&mut connection).await;
        let start = Instant::now();
        connection.shutdown().await.unwrap();
        assert!(start.elapsed() < LINGER, "the client has gone");
    }
}
