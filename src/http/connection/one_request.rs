//! One client's connection: what a `PUT` sends beyond the body it declared is dropped, not read as a request.
//!
//! One published client declares the number of characters where the number of bytes is meant, so the end of every upload that
//! is not ASCII is left over. actix takes it for the next request, finds that it is none, and with
//! `h1_allow_half_closed(false)` ends the connection before the upload is answered. So the bytes of a `PUT` are counted here,
//! below actix: it sees the request and its body, and nothing after. (`request.rs` closes the connection after every `PUT`.)
//!
//! Hazard: request smuggling. actix takes a line feed alone as the end of a line in a head; a proxy in front may not, and
//! would see other requests than we do. So such a head is refused here. To examine every head, actix is given one request at
//! a time: pipelined bytes behind its body are kept until it is answered.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use super::body_end::BodyEnd;
use super::head::{declared_end, has_bare_line_feed, has_long_name, head_end, may_be_request};
use super::refusal;

/// Longer heads are not examined: actix refuses them (its limit is 128 KiB).
const HEAD_LIMIT_BYTES: usize = 128 * 1024;
/// Bytes of one read where they are dropped or examined.
const SCRATCH_BYTES: usize = 8 * 1024;
/// Reads that may drop their bytes in a row before the task yields.
const READS_IN_A_ROW: usize = 32;
/// How long left-over bytes are still read after the answer. Closed at once, the connection would be reset and the client might
/// never see the answer.
const LINGER: Duration = Duration::from_secs(2);
const METHOD: &[u8] = b"PUT ";
/// Given to actix in place of a refused head.
const NO_REQUEST: &[u8] = b"\0\r\n\r\n";
/// The interim answer before a body.
const GO_AHEAD: &[u8] = b"HTTP/1.1 100 ";

/// The stream that actix reads: one request at a time, as it was sent. After a `PUT` it ends: what the client sends behind the
/// declared body is read from the socket and dropped.
pub(in crate::http) struct Connection<T> {
    io: T,
    phase: Phase,
    closing: Option<Pin<Box<Sleep>>>,
    /// What was sent behind the request that is not answered yet.
    pipelined: BytesMut,
    /// Wakes the reader when the answer has begun.
    reader: Option<Waker>,
    /// Nothing of an answer was written since the last head. Only then can a refusal by actix begin: later the same
    /// bytes may be part of a document.
    is_unanswered: bool,
    /// Why the request was refused.
    reason: Option<&'static str>,
    /// What is left to write of the answer that replaces a refusal by actix.
    replacement: Option<Bytes>,
    send_limit: Duration,
    /// Runs while the client reads nothing of its answer.
    stalled: Option<Pin<Box<Sleep>>>,
}

enum Phase {
    /// The next byte is the first one of a request.
    Between,
    /// The beginning of a head.
    Head(BytesMut),
    /// What has been read already, and what of the body is to come.
    Counted { ready: Bytes, left: BodyEnd, is_put: bool, is_answered: bool },
    /// The request is complete and not answered yet.
    Complete,
    /// The `PUT` is complete; whatever comes is dropped.
    Spent,
    /// What actix refuses, read as it comes until something is answered.
    Open { ready: Bytes },
}

impl<T> Connection<T> {
    /// A connection on which nothing has been read.
    ///
    /// A client that reads nothing of its answer for `send_limit` is disconnected.
    pub(in crate::http) fn new(io: T, send_limit: Duration) -> Self {
        Self {
            io,
            phase: Phase::Between,
            closing: None,
            pipelined: BytesMut::new(),
            reader: None,
            is_unanswered: true,
            reason: None,
            replacement: None,
            send_limit,
            stalled: None,
        }
    }

    pub(in crate::http) fn io(&self) -> &T {
        &self.io
    }

    /// To be called when a part of an answer was written.
    fn answered(&mut self) {
        self.is_unanswered = false;
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
            if self.pipelined.is_empty() {
                self.phase = Phase::Head(gathered);
                let (count, bytes) = ready!(self.poll_scratch(context))?;
                let Phase::Head(head) = &mut self.phase else { continue };
                gathered = std::mem::take(head);
                gathered.extend_from_slice(&bytes[..count]);
                is_end = count == 0;
            } else {
                gathered.unsplit(self.pipelined.split());
            }
            // Empty lines before a request are skipped (RFC 9112, 2.2).
            while gathered.starts_with(b"\r\n") {
                gathered.advance(2);
            }
            self.phase = self.classify(gathered, is_end);
        }
    }

    /// Decides by the beginning of a request how it is passed on.
    fn classify(&mut self, mut head: BytesMut, is_end: bool) -> Phase {
        let end = head_end(&head);
        let is_none = !may_be_request(&head) && !head.starts_with(b"\n");
        if is_end || is_none || head.len() > HEAD_LIMIT_BYTES && end.is_none() {
            self.is_unanswered = true;
            return Phase::Open { ready: head.freeze() };
        }
        let seen = &head[..end.unwrap_or(head.len())];
        if has_bare_line_feed(seen) {
            return self.refuse(refusal::BARE_LINE_FEED);
        }
        if has_long_name(seen) {
            return self.refuse(refusal::LONG_NAME);
        }
        let Some(end) = end else { return Phase::Head(head) };
        self.is_unanswered = true;
        let Some(mut left) = declared_end(&head[..end]) else {
            return Phase::Open { ready: head.freeze() };
        };
        let here = left.take(&head[end..]);
        if left == BodyEnd::UNREADABLE {
            // Chunks that come later go to actix, which closes the connection without an answer.
            return self.refuse(refusal::UNREADABLE_CHUNKS);
        }
        self.pipelined = head.split_off(end + here);
        let is_put = head.starts_with(METHOD);
        Phase::Counted { ready: head.freeze(), left, is_put, is_answered: false }
    }

    fn refuse(&mut self, reason: &'static str) -> Phase {
        self.reason = Some(reason);
        self.is_unanswered = true;
        Phase::Open { ready: Bytes::from_static(NO_REQUEST) }
    }

    /// Waits for the answer to a complete request, and keeps what comes meanwhile. It reads on so that actix learns
    /// when the client has gone.
    fn poll_pipelined(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.reader = Some(context.waker().clone());
        while self.pipelined.len() < HEAD_LIMIT_BYTES {
            let (count, bytes) = ready!(self.poll_scratch(context))?;
            if count == 0 {
                return Poll::Ready(Ok(()));
            }
            self.pipelined.extend_from_slice(&bytes[..count]);
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

    /// Drops what comes; ready at the end of the stream or at an error.
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
                copy_ready(ready, buffer);
                Poll::Ready(Ok(()))
            }
            Phase::Counted { left, is_put, is_answered, .. } if left.is_reached() => {
                this.phase = match (*is_put, *is_answered) {
                    (true, _) => Phase::Spent,
                    (false, true) => Phase::Between,
                    (false, false) => Phase::Complete,
                };
                Pin::new(this).poll_read(context, buffer)
            }
            Phase::Complete => this.poll_pipelined(context),
            Phase::Counted { left, .. } => {
                poll_counted((&mut this.io, &mut this.pipelined), left, context, buffer)
            }
            // The end of the stream is not reported: the request is complete and gets its answer, even if the client
            // has gone.
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
        // A client that sent nothing gets no answer.
        let is_begun = !matches!(&this.phase, Phase::Between)
            && !matches!(&this.phase, Phase::Head(head) if head.is_empty());
        if this.replacement.is_none() && this.is_unanswered && is_begun {
            this.replacement = refusal::replacement_for(bytes, this.reason);
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

/// Reads on in a body; what comes behind its end is kept.
fn poll_counted<T: AsyncRead + Unpin>(
    (io, pipelined): (&mut T, &mut BytesMut),
    left: &mut BodyEnd,
    context: &mut Context<'_>,
    buffer: &mut ReadBuf<'_>,
) -> Poll<io::Result<()>> {
    let mut part = ReadBuf::new(buffer.initialize_unfilled());
    ready!(Pin::new(io).poll_read(context, &mut part))?;
    let count = left.take(part.filled());
    pipelined.extend_from_slice(&part.filled()[count..]);
    buffer.advance(count);
    Poll::Ready(Ok(()))
}

fn copy_ready(ready: &mut Bytes, buffer: &mut ReadBuf<'_>) {
    let count = ready.len().min(buffer.remaining());
    buffer.put_slice(&ready[..count]);
    ready.advance(count);
}

impl<T: AsyncWrite + Unpin> Connection<T> {
    /// Writes `bytes`, or all of what replaces them.
    fn poll_put(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        while let Some(replacement) = &mut self.replacement {
            if replacement.is_empty() {
                self.replacement = None;
                return Poll::Ready(Ok(bytes.len()));
            }
            match ready!(Pin::new(&mut self.io).poll_write(context, replacement)) {
                Ok(0) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Ok(count) => replacement.advance(count),
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        Pin::new(&mut self.io).poll_write(context, bytes)
    }
}

/// Whether `bytes` are the interim answer (100) and nothing else.
fn is_go_ahead(bytes: &[u8]) -> bool {
    bytes.starts_with(GO_AHEAD) && head_end(bytes).is_none_or(|end| end == bytes.len())
}

#[cfg(test)]
mod tests;
