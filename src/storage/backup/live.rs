//! A backup beside a running service: the service's part and the command's.
//!
//! ```text
//! command                                service
//!   {"command":"backup"}          →      holds deletions, waits for those under way
//!   (writes them into a new index) ←     every entry of the index as it was at one moment, then `Complete`
//!   (copies objects and all else)
//!   one byte                      →
//!   (writes the file `version`)   ←      `Kept`: nothing was deleted until now; and lets deletions go on
//! ```
//!
//! What the index named at its moment was there and whole before it, for objects are written first; and nothing of it
//! is deleted before `Kept`. The hold hangs on the connection: when the command ends, however it ends, the kernel
//! closes that, and deletions go on. A command that neither works nor ends has `storage.backup_limit_s`.

use std::fs::DirBuilder;
use std::io::{self, BufReader, ErrorKind, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Semaphore, mpsc};

use super::wire::Frame;
use super::{BackupError, refused};
use crate::config::StorageConfig;
use crate::storage::held::Deletions;
use crate::storage::index::{Change, ExportedPage, Index as _, SledIndex};

/// The line that asks for a backup.
pub const REQUEST: &str = r#"{"command":"backup"}"#;
/// Pages of the index on their way.
const PAGES: usize = 4;
/// Entries, and about the bytes, that are written into the copy's index together.
const BATCH: (usize, usize) = (512, 1 << 20);

/// The service's part.
pub struct LiveBackup {
    index: Arc<SledIndex>,
    /// Nothing, where objects live in a bucket, which is not copied.
    deletions: Option<Deletions>,
    limit: Duration,
    turn: Semaphore,
}

impl std::fmt::Debug for LiveBackup {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("LiveBackup")
    }
}

impl LiveBackup {
    /// Backups of `index` and of objects whose `deletions` wait, for as long as `config` allows.
    #[must_use]
    pub fn new(index: Arc<SledIndex>, deletions: Option<Deletions>, config: &StorageConfig) -> Self {
        let limit = Duration::from_secs(config.backup_limit_s);
        Self { index, deletions, limit, turn: Semaphore::new(1) }
    }

    /// Serves one backup to its end.
    ///
    /// # Errors
    /// When the command is gone, or the backup took too long: it is none then, and the command knows.
    pub async fn serve(&self, stream: &mut (impl AsyncRead + AsyncWrite + Unpin + Send)) -> io::Result<()> {
        let Ok(_turn) = self.turn.try_acquire() else {
            return tell(
                stream,
                &Frame::Refused("another backup is being made; wait for its end".to_owned()),
            )
            .await;
        };
        let hold = async {
            match &self.deletions {
                Some(deletions) => Some(deletions.hold().await),
                None => None,
            }
        };
        let backup = async {
            let _hold = hold.await;
            tracing::info!("a backup is being made: deletions wait");
            self.converse(stream).await
        };
        let done = tokio::time::timeout(self.limit, backup).await.unwrap_or_else(|_| {
            let limit_s = self.limit.as_secs();
            Err(io::Error::new(
                ErrorKind::TimedOut,
                format!("it took longer than {limit_s} s (storage.backup_limit_s)"),
            ))
        });
        match &done {
            Ok(()) => tracing::info!("the backup was made: deletions go on"),
            Err(error) => tracing::warn!(error = %error, "a backup was broken off: deletions go on"),
        }
        done
    }

    async fn converse(&self, stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> io::Result<()> {
        let (pages, told) = mpsc::channel(PAGES);
        let (exported, written) = tokio::join!(self.index.export(pages), tell_pages(&mut *stream, told));
        written?;
        if let Err(error) = exported {
            return tell(stream, &Frame::Refused(error.to_string())).await;
        }
        tell(stream, &Frame::Complete).await?;
        if stream.read(&mut [0]).await? == 0 {
            return Err(io::Error::new(
                ErrorKind::UnexpectedEof,
                "the command ended before its backup was whole",
            ));
        }
        tell(stream, &Frame::Kept).await
    }
}

/// Takes the pages with it: where nobody reads them any more, the export ends.
async fn tell_pages(
    stream: &mut (impl AsyncWrite + Unpin),
    mut pages: mpsc::Receiver<ExportedPage>,
) -> io::Result<()> {
    while let Some(page) = pages.recv().await {
        let mut bytes = Vec::new();
        for (key, found) in page {
            Frame::Entry(key, found).append_to(&mut bytes);
        }
        stream.write_all(&bytes).await?;
    }
    stream.flush().await
}

async fn tell(stream: &mut (impl AsyncWrite + Unpin), frame: &Frame) -> io::Result<()> {
    let mut bytes = Vec::new();
    frame.append_to(&mut bytes);
    stream.write_all(&bytes).await?;
    stream.flush().await
}

/// The command's part: a service that holds deletions for as long as this is there.
pub struct LiveSource(BufReader<UnixStream>);

impl LiveSource {
    /// Asks the service behind `socket`, if one is there.
    ///
    /// # Errors
    /// When it cannot be asked.
    pub fn connect(socket: &Path) -> io::Result<Option<Self>> {
        let Ok(mut stream) = UnixStream::connect(socket) else { return Ok(None) };
        writeln!(stream, "{REQUEST}")?;
        Ok(Some(Self(BufReader::new(stream))))
    }

    /// Writes the service's index into the new folder `to`.
    ///
    /// # Errors
    /// When the service refuses or ends, or the index cannot be written.
    pub(super) async fn index_into(&mut self, to: &Path, config: &StorageConfig) -> Result<(), BackupError> {
        DirBuilder::new().mode(0o700).create(to).map_err(refused(to))?;
        let index = SledIndex::open(to, config).await?;
        let written = self.write_index(&index).await;
        index.close().await;
        written
    }

    async fn write_index(&mut self, index: &SledIndex) -> Result<(), BackupError> {
        let (mut batch, mut entries, mut bytes) = (Change::new(), 0, 0);
        loop {
            match self.next()? {
                Frame::Entry(key, found) => {
                    let change = found.change(key);
                    (entries, bytes) = (entries + 1, bytes + change.bytes());
                    batch = batch.and(change);
                    if entries >= BATCH.0 || bytes >= BATCH.1 as u64 {
                        index.write_unsynced(std::mem::take(&mut batch)).await?;
                        (entries, bytes) = (0, 0);
                    }
                }
                Frame::Complete => {
                    index.write_unsynced(batch).await?;
                    return Ok(index.sync().await?);
                }
                Frame::Kept | Frame::Refused(_) => {
                    return Err(BackupError::Broken("it spoke out of turn".to_owned()));
                }
            }
        }
    }

    /// Everything is copied: asks whether nothing was deleted until now, and lets deletions go on.
    ///
    /// # Errors
    /// When the service ended meanwhile, or waited no longer.
    pub(super) fn end(mut self) -> Result<(), BackupError> {
        self.0.get_mut().write_all(b"\n").map_err(|error| broken(&error))?;
        match self.next()? {
            Frame::Kept => Ok(()),
            Frame::Entry(..) | Frame::Complete | Frame::Refused(_) => {
                Err(BackupError::Broken("it spoke out of turn".to_owned()))
            }
        }
    }

    fn next(&mut self) -> Result<Frame, BackupError> {
        match Frame::read(&mut self.0).map_err(|error| broken(&error))? {
            Frame::Refused(why) => Err(BackupError::Broken(why)),
            frame @ (Frame::Entry(..) | Frame::Complete | Frame::Kept) => Ok(frame),
        }
    }
}

fn broken(error: &io::Error) -> BackupError {
    use ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    BackupError::Broken(if matches!(error.kind(), UnexpectedEof | BrokenPipe | ConnectionReset) {
        "it closed the connection: it stopped, it waited longer than storage.backup_limit_s, or this user may not ask it \
         (run the command as the service's user or as root)"
            .to_owned()
    } else {
        error.to_string()
    })
}
