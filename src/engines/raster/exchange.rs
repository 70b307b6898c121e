//! What passes between the service and a child that makes pictures: the document in chunks, the pictures in parts.

use std::io;
use std::sync::PoisonError;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use tokio::sync::Mutex;

use crate::engines::error::EngineError;
use crate::engines::runner::Sink;
use crate::workers::raster::DOCUMENT;
use crate::workers::{Asked, FileSource, Refused};

/// One document on its way to a child, and what comes of it on its way to where it goes.
pub(super) struct DocumentExchange {
    chunks: Mutex<BoxStream<'static, io::Result<Bytes>>>,
    sink: Mutex<Sink>,
    /// Why a part could not be taken.
    fault: std::sync::Mutex<Option<EngineError>>,
}

impl DocumentExchange {
    pub(super) fn new(chunks: BoxStream<'static, io::Result<Bytes>>, sink: Sink) -> Self {
        Self { chunks: Mutex::new(chunks), sink: Mutex::new(sink), fault: std::sync::Mutex::default() }
    }

    /// All that was taken.
    ///
    /// # Errors
    /// When some of it could not be.
    pub(super) fn end(self) -> Result<Sink, EngineError> {
        match self.fault.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(fault) => Err(fault),
            None => Ok(self.sink.into_inner()),
        }
    }
}

#[async_trait]
impl FileSource for DocumentExchange {
    async fn file(&self, name: &str) -> Result<Asked, String> {
        if name != DOCUMENT {
            return Err(format!("there is no '{name}'"));
        }
        let content = match self.chunks.lock().await.next().await {
            Some(Ok(chunk)) => chunk,
            Some(Err(error)) => return Err(format!("the document cannot be read: {error}")),
            None => Bytes::new(),
        };
        Ok(Asked { content, made: None })
    }

    async fn take(&self, part: Bytes) -> Result<(), Refused> {
        let taken = self.sink.lock().await.write(part).await;
        taken.map_err(|fault| {
            *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
            Refused
        })
    }
}
