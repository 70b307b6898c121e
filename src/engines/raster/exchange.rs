//! Streams the document to a child in chunks, and its pictures back in parts, so that neither is held in memory.

use std::io;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use tokio::sync::Mutex;

use crate::engines::error::EngineError;
use crate::engines::runner::Sink;
use crate::workers::raster::DOCUMENT;
use crate::workers::{FileSource, PartRefused, SuppliedFile};

/// A document for a child, and the sink for its output.
pub(super) struct DocumentExchange {
    chunks: Mutex<BoxStream<'static, io::Result<Bytes>>>,
    sink: Mutex<Sink>,
    /// Why a part could not be written into the sink.
    error: parking_lot::Mutex<Option<EngineError>>,
}

impl DocumentExchange {
    pub(super) fn new(chunks: BoxStream<'static, io::Result<Bytes>>, sink: Sink) -> Self {
        Self { chunks: Mutex::new(chunks), sink: Mutex::new(sink), error: parking_lot::Mutex::default() }
    }

    /// The sink with all parts.
    ///
    /// # Errors
    /// When a part could not be written.
    pub(super) fn end(self) -> Result<Sink, EngineError> {
        match self.error.into_inner() {
            Some(error) => Err(error),
            None => Ok(self.sink.into_inner()),
        }
    }
}

#[async_trait]
impl FileSource for DocumentExchange {
    async fn file(&self, name: &str) -> Result<SuppliedFile, String> {
        if name != DOCUMENT {
            return Err(format!("there is no '{name}'"));
        }
        let content = match self.chunks.lock().await.next().await {
            Some(Ok(chunk)) => chunk,
            Some(Err(error)) => return Err(format!("the document cannot be read: {error}")),
            None => Bytes::new(),
        };
        Ok(SuppliedFile { content, made: None })
    }

    async fn take(&self, part: Bytes) -> Result<(), PartRefused> {
        let taken = self.sink.lock().await.write(part).await;
        taken.map_err(|error| {
            *self.error.lock() = Some(error);
            PartRefused
        })
    }
}
