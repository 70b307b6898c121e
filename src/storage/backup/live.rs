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
//!
//! Hazard: what is not deleted fills the disk, and so does a copy on the same disk; with less than
//! `storage.objects_free_limit_bytes` free the service would refuse every job for the sake of a backup. So the service looks at the
//! disk while it holds, and breaks the backup off before that. The command hears of it between two files.

use std::fs::DirBuilder;
use std::io::{self, BufRead as _, BufReader, ErrorKind, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::wire::Frame;
use super::{BackupError, refused};
use crate::config::StorageConfig;
use crate::storage::deletions::Deletions;
use crate::storage::free_bytes;
use crate::storage::index::{ExportedPage, Index as _, SledIndex, WriteBatch};

/// The line that asks for a backup.
pub const REQUEST: &str = r#"{"command":"backup"}"#;
/// Pages of the index on their way.
const PAGES: usize = 4;
/// Entries, and about the bytes, that are written into the copy's index together.
const BATCH: (usize, usize) = (512, 1 << 20);
/// How often the disk is looked at.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
/// How long a command that reads nothing is waited for at the end.
const TELL_LIMIT: Duration = Duration::from_secs(2);

/// Objects on a disk, whose deletions a backup holds.
#[derive(Debug)]
pub struct HeldObjects {
    /// Held for the time of the backup.
    pub deletions: Deletions,
    /// Where they lie.
    pub folder: PathBuf,
}

/// The service's part.
pub struct LiveBackup {
    index: Arc<SledIndex>,
    /// Nothing, where objects live in a bucket, which is not copied.
    objects: Option<HeldObjects>,
    limit: Duration,
    /// With less free on the disk of the objects no job is taken (`storage.objects_free_limit_bytes`).
    free_limit_bytes: u64,
    turn: Semaphore,
}

impl LiveBackup {
    /// Backups of `index` and of `objects`, for as long as `config` allows.
    pub fn new(index: Arc<SledIndex>, objects: Option<HeldObjects>, config: &StorageConfig) -> Self {
        let limit = Duration::from_secs(config.backup_limit_s);
        let free_limit_bytes = config.objects_free_limit_bytes;
        Self { index, objects, limit, free_limit_bytes, turn: Semaphore::new(1) }
    }

    /// Serves one backup to its end.
    ///
    /// # Errors
    /// When the command is gone, the backup took too long, or the disk fills: it is none then, and the command knows.
    pub async fn serve(&self, stream: &mut (impl AsyncRead + AsyncWrite + Unpin + Send)) -> io::Result<()> {
        let Ok(_turn) = self.turn.try_acquire() else {
            return tell(
                stream,
                &Frame::Refused("another backup is being made; wait for its end".to_owned()),
            )
            .await;
        };
        let deadline = Instant::now() + self.limit;
        let done = self.hold(stream, deadline).await;
        match &done {
            Ok(()) => tracing::info!("the backup was made: deletions go on"),
            Err(error) => tracing::warn!(error = %error, "a backup was broken off: deletions go on"),
        }
        done
    }

    async fn hold(
        &self,
        stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
        deadline: Instant,
    ) -> io::Result<()> {
        if let Some(why) = self.short_of_room().await {
            return break_off(stream, why).await;
        }
        let hold = self.unless_broken_off(deadline, async {
            Ok(match &self.objects {
                Some(objects) => Some(objects.deletions.hold().await),
                None => None,
            })
        });
        let hold = match hold.await {
            Ok(hold) => hold,
            Err(why) => return break_off(stream, why).await,
        };
        tracing::info!("a backup is being made: deletions wait");
        // Broken off in the middle of the index, the connection holds half a frame: a reason behind it could not be read.
        self.unless_broken_off(deadline, self.tell_index(stream)).await?;
        match self.unless_broken_off(deadline, until_copied(stream)).await {
            Ok(()) => timeout(TELL_LIMIT, tell(stream, &Frame::Kept)).await?,
            Err(why) => {
                drop(hold);
                break_off(stream, why).await
            }
        }
    }

    /// What `part` gives, if that comes before the end of a backup's time and of the disk's room.
    async fn unless_broken_off<T>(
        &self,
        deadline: Instant,
        part: impl Future<Output = io::Result<T>>,
    ) -> io::Result<T> {
        tokio::select! {
            done = part => done,
            why = self.disk_fills() => Err(why),
            () = sleep_until(deadline) => {
                let limit_s = self.limit.as_secs();
                let why = format!("it took longer than {limit_s} s (storage.backup_limit_s)");
                Err(io::Error::new(ErrorKind::TimedOut, why))
            }
        }
    }

    /// Ends when the disk of the objects is nearly as full as jobs are refused at.
    async fn disk_fills(&self) -> io::Error {
        loop {
            sleep(LOOK_INTERVAL).await;
            if let Some(why) = self.short_of_room().await {
                return why;
            }
        }
    }

    /// Why no deletion may wait, for want of room on the disk of the objects.
    async fn short_of_room(&self) -> Option<io::Error> {
        let folder = self.objects.as_ref()?.folder.clone();
        let shown = folder.display().to_string();
        let free_bytes = spawn_blocking(move || free_bytes(&folder)).await.ok()?.ok()?;
        // A quarter more than jobs need, so that they go on while the command ends.
        let least_bytes = self.free_limit_bytes.saturating_add(self.free_limit_bytes / 4);
        (free_bytes < least_bytes).then(|| {
            let why = format!(
                "{free_bytes} bytes are free on the disk of {shown}; while deletions wait for a backup {least_bytes} must be, a \
                 quarter more than storage.objects_free_limit_bytes, or jobs would be refused: free some space, write the \
                 backup to another disk, or make it while the service is stopped"
            );
            io::Error::new(ErrorKind::StorageFull, why)
        })
    }

    async fn tell_index(&self, stream: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        let (pages, told) = mpsc::channel(PAGES);
        let (exported, written) = tokio::join!(self.index.export(pages), tell_pages(&mut *stream, told));
        written?;
        match exported {
            Ok(()) => tell(stream, &Frame::Complete).await,
            Err(error) => {
                tell(stream, &Frame::Refused(error.to_string())).await?;
                Err(io::Error::other(error))
            }
        }
    }
}

/// Tells the command why there is no backup, if it listens.
async fn break_off(stream: &mut (impl AsyncWrite + Unpin), why: io::Error) -> io::Result<()> {
    let told = Frame::Refused(why.to_string());
    let _ = timeout(TELL_LIMIT, tell(stream, &told)).await;
    Err(why)
}

/// Waits until the command has copied everything.
async fn until_copied(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<()> {
    if stream.read(&mut [0]).await? == 0 {
        let why = "the command ended before its backup was whole";
        return Err(io::Error::new(ErrorKind::UnexpectedEof, why));
    }
    Ok(())
}

/// Owns `pages`: when the connection fails they are dropped, and the export ends.
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
        let (mut batch, mut entries, mut bytes) = (WriteBatch::new(), 0, 0);
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
                Frame::Kept | Frame::Refused(_) => return Err(out_of_turn()),
            }
        }
    }

    /// Whether deletions still wait: what is copied after their end is no part of a backup.
    ///
    /// # Errors
    /// When the service broke the backup off, or ended.
    pub(super) fn check(&mut self) -> Result<(), BackupError> {
        let stream = self.0.get_ref();
        stream.set_nonblocking(true).map_err(|error| broken(&error))?;
        let told = self.0.fill_buf().map(|_| ());
        self.0.get_ref().set_nonblocking(false).map_err(|error| broken(&error))?;
        match told {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(broken(&error)),
            // Before it is asked the service sends nothing but the reason why it broke off.
            Ok(()) => match self.next()? {
                Frame::Entry(..) | Frame::Complete | Frame::Kept | Frame::Refused(_) => Err(out_of_turn()),
            },
        }
    }

    /// Everything is copied: asks whether nothing was deleted until now, and lets deletions go on.
    ///
    /// # Errors
    /// When the service ended meanwhile, or waited no longer.
    pub(super) fn end(mut self) -> Result<(), BackupError> {
        // A service that waits no longer does not read this, and has sent the reason.
        let asked = self.0.get_mut().write_all(b"\n");
        match self.next()? {
            Frame::Kept => asked.map_err(|error| broken(&error)),
            Frame::Entry(..) | Frame::Complete | Frame::Refused(_) => Err(out_of_turn()),
        }
    }

    fn next(&mut self) -> Result<Frame, BackupError> {
        match Frame::read(&mut self.0).map_err(|error| broken(&error))? {
            Frame::Refused(why) => Err(BackupError::Broken(why)),
            frame @ (Frame::Entry(..) | Frame::Complete | Frame::Kept) => Ok(frame),
        }
    }
}

fn out_of_turn() -> BackupError {
    BackupError::Broken("it spoke out of turn".to_owned())
}

fn broken(error: &io::Error) -> BackupError {
    use ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    BackupError::Broken(if matches!(error.kind(), UnexpectedEof | BrokenPipe | ConnectionReset) {
        "it closed the connection: it stopped, its log says why it waited no longer (storage.backup_limit_s, a disk that fills), or this user \
         may not ask it (run the command as the service's user or as root)"
            .to_owned()
    } else {
        error.to_string()
    })
}
