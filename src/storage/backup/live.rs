//! A backup of a running service: the service's part and the command's.
//!
//! ```text
//! command                                service
//!   {"command":"backup"}          →      holds deletions, waits for those under way
//!   (writes them into a new index) ←     every entry of the index as it was at one moment, then `Complete`
//!   (copies objects and all else)
//!   one byte                      →
//!   (writes the file `version`)   ←      `HoldConfirmed`: nothing was deleted until now; and lets deletions go on
//! ```
//!
//! Every object that the index names at its moment is complete by then, for objects are written before their records; and none
//! is deleted before `HoldConfirmed`. The hold lasts as long as the connection: when the command ends, however it ends, the
//! kernel closes it, and deletions go on. A command that hangs is cut off after `storage.backup_limit_s`.
//!
//! Hazard: held deletions fill the disk, and so does a copy on the same disk; with less than
//! `storage.objects_free_limit_bytes` free the service would refuse every job because of a backup. So the service measures
//! the free space while it holds, and breaks the backup off before that. The command checks for it between two files.

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
use crate::storage::deletions::DeletionGate;
use crate::storage::free_bytes;
use crate::storage::index::{ExportedPage, Index as _, SledIndex, WriteBatch};

/// The command's request.
pub const REQUEST: &str = r#"{"command":"backup"}"#;
/// Pages of the index buffered between export and connection.
const PAGES: usize = 4;
/// Most entries, and about the most bytes, in one batch for the copy's index.
const BATCH: (usize, usize) = (512, 1 << 20);
/// Pause between two measurements of the free space while a backup holds deletions. Held deletions may fill the disk, so the
/// pause is short enough that the backup is broken off before jobs are refused.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Longest time to send the last frame to a command that may not read.
const SEND_LIMIT: Duration = Duration::from_secs(2);

/// Objects on a disk, whose deletions a backup holds.
#[derive(Debug)]
pub struct HeldObjects {
    /// Held for the time of the backup.
    pub deletions: DeletionGate,
    /// Their folder.
    pub folder: PathBuf,
}

/// The service's part.
pub struct LiveBackup {
    index: Arc<SledIndex>,
    /// `None` if objects are in a bucket, which is not copied.
    objects: Option<HeldObjects>,
    limit: Duration,
    /// With less free on the disk of the objects, jobs are refused (`storage.objects_free_limit_bytes`).
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
    /// When the command is gone, the backup took too long, or the disk fills. Then there is no backup, and the command gets the
    /// reason if it still reads.
    pub async fn serve(&self, stream: &mut (impl AsyncRead + AsyncWrite + Unpin + Send)) -> io::Result<()> {
        let Ok(_turn) = self.turn.try_acquire() else {
            return send(
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
        if let Some(why) = self.lack_of_space().await {
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
        // No reason is sent if this is broken off: the connection may hold half a frame, behind which it could not be parsed.
        self.unless_broken_off(deadline, self.send_index(stream)).await?;
        match self.unless_broken_off(deadline, until_copied(stream)).await {
            Ok(()) => timeout(SEND_LIMIT, send(stream, &Frame::HoldConfirmed)).await?,
            Err(why) => {
                drop(hold);
                break_off(stream, why).await
            }
        }
    }

    /// Awaits `part`; an error if the deadline passes or the disk fills first.
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

    /// Returns when the disk of the objects is nearly so full that jobs would be refused.
    async fn disk_fills(&self) -> io::Error {
        loop {
            sleep(POLL_INTERVAL).await;
            if let Some(why) = self.lack_of_space().await {
                return why;
            }
        }
    }

    /// An error if there is too little space on the disk of the objects for holding deletions.
    async fn lack_of_space(&self) -> Option<io::Error> {
        let folder = self.objects.as_ref()?.folder.clone();
        let shown = folder.display().to_string();
        let free_bytes = spawn_blocking(move || free_bytes(&folder)).await.ok()?.ok()?;
        // A quarter more than jobs need, so that they are still accepted while the backup is broken off.
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

    async fn send_index(&self, stream: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        let (sender, pages) = mpsc::channel(PAGES);
        let (exported, written) = tokio::join!(self.index.export(sender), send_pages(&mut *stream, pages));
        written?;
        match exported {
            Ok(()) => send(stream, &Frame::Complete).await,
            Err(error) => {
                send(stream, &Frame::Refused(error.to_string())).await?;
                Err(io::Error::other(error))
            }
        }
    }
}

/// Sends the reason to the command, if it still reads, and returns it as the error.
async fn break_off(stream: &mut (impl AsyncWrite + Unpin), why: io::Error) -> io::Result<()> {
    let frame = Frame::Refused(why.to_string());
    let _ = timeout(SEND_LIMIT, send(stream, &frame)).await;
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

/// Sends the pages. Owns the receiver, so that a failed connection drops it, which ends the export.
async fn send_pages(
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

async fn send(stream: &mut (impl AsyncWrite + Unpin), frame: &Frame) -> io::Result<()> {
    let mut bytes = Vec::new();
    frame.append_to(&mut bytes);
    stream.write_all(&bytes).await?;
    stream.flush().await
}

/// The command's part: the connection to a service, which holds deletions while this lives.
pub struct LiveSource(BufReader<UnixStream>);

impl LiveSource {
    /// Sends the request to the service behind `socket`; `None` if none runs.
    ///
    /// # Errors
    /// When the request cannot be sent.
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
                    let entry = found.batch(key);
                    (entries, bytes) = (entries + 1, bytes + entry.bytes());
                    batch = batch.and(entry);
                    if entries >= BATCH.0 || bytes >= BATCH.1 as u64 {
                        index.write_unsynced(std::mem::take(&mut batch)).await?;
                        (entries, bytes) = (0, 0);
                    }
                }
                Frame::Complete => {
                    index.write_unsynced(batch).await?;
                    return Ok(index.sync().await?);
                }
                Frame::HoldConfirmed | Frame::Refused(_) => return Err(out_of_turn()),
            }
        }
    }

    /// Checks that deletions are still held: objects copied after the hold has ended may not fit the index.
    ///
    /// # Errors
    /// When the service broke the backup off, or ended.
    pub(super) fn check(&mut self) -> Result<(), BackupError> {
        let stream = self.0.get_ref();
        stream.set_nonblocking(true).map_err(|error| aborted(&error))?;
        let sent = self.0.fill_buf().map(|_| ());
        self.0.get_ref().set_nonblocking(false).map_err(|error| aborted(&error))?;
        match sent {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(aborted(&error)),
            // Between `Complete` and `end` the service sends only a reason for breaking off.
            Ok(()) => match self.next()? {
                Frame::Entry(..) | Frame::Complete | Frame::HoldConfirmed | Frame::Refused(_) => {
                    Err(out_of_turn())
                }
            },
        }
    }

    /// Reports that everything is copied, waits for `HoldConfirmed`, and lets deletions go on.
    ///
    /// # Errors
    /// When the service has ended, or broken the backup off.
    pub(super) fn end(mut self) -> Result<(), BackupError> {
        // A service that broke the backup off does not read this, but has sent the reason, which is read next.
        let asked = self.0.get_mut().write_all(b"\n");
        match self.next()? {
            Frame::HoldConfirmed => asked.map_err(|error| aborted(&error)),
            Frame::Entry(..) | Frame::Complete | Frame::Refused(_) => Err(out_of_turn()),
        }
    }

    fn next(&mut self) -> Result<Frame, BackupError> {
        match Frame::read(&mut self.0).map_err(|error| aborted(&error))? {
            Frame::Refused(why) => Err(BackupError::Aborted(why)),
            frame @ (Frame::Entry(..) | Frame::Complete | Frame::HoldConfirmed) => Ok(frame),
        }
    }
}

fn out_of_turn() -> BackupError {
    BackupError::Aborted("it spoke out of turn".to_owned())
}

fn aborted(error: &io::Error) -> BackupError {
    use ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    BackupError::Aborted(if matches!(error.kind(), UnexpectedEof | BrokenPipe | ConnectionReset) {
        "it closed the connection: it stopped, its log says why it waited no longer (storage.backup_limit_s, a disk that fills), or this user \
         may not ask it (run the command as the service's user or as root)"
            .to_owned()
    } else {
        error.to_string()
    })
}
