//! Sends the operator's commands to the accounts: over the control socket of the running service, or directly in the data
//! folder while none runs.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::{CommandError, runtime};
use crate::accounts::admin::{AdminError, AdminReply, AdminRequest};
use crate::accounts::control::ControlReply;
use crate::accounts::store::AccountStore;
use crate::clock::SystemClock;
use crate::config::Config;
use crate::storage::data_dir::DataDir;
use crate::storage::index::{Index, IndexError, SledIndex};

/// Longest reply that is read: a page of a hundred accounts has about fifty kilobytes.
const REPLY_LIMIT_BYTES: u64 = 1 << 20;

/// Carries out a request, with or without a running service.
///
/// # Errors
/// A sentence for the operator.
pub fn administer(config: &Config, request: &AdminRequest) -> Result<AdminReply, CommandError> {
    let folder = std::path::absolute(&config.storage.data_dir)?;
    let socket = DataDir::at(&folder).control_socket();
    let silent = |cause: std::io::Error| -> CommandError {
        let socket = socket.display();
        format!(
            "the service runs but does not answer on its control socket {socket} ({cause}); look at its log, or stop it and \
             try again"
        )
        .into()
    };
    match UnixStream::connect(&socket) {
        Ok(stream) => {
            let time = Duration::from_millis(config.accounts.control_timeout_ms);
            match ask(stream, request, time).map_err(silent)? {
                ControlReply::Ok(reply) => Ok(reply),
                ControlReply::Error(text) => Err(text.into()),
            }
        }
        // No service runs, it was killed, or the path is too long for a socket; in the last case the index is in use.
        Err(unconnected) => {
            administer_here(config, &folder, request).map_err(|error| match error.downcast_ref() {
                Some(IndexError::InUse(_)) => silent(unconnected),
                _ => error,
            })
        }
    }
}

/// Whether a service is running on the data folder: one listens on its control socket.
pub(super) fn is_running(folder: &DataDir) -> bool {
    UnixStream::connect(folder.control_socket()).is_ok()
}

/// All items of a paged list: `page` reads the page behind the last item so far, until one is empty.
pub(super) fn collect<T>(
    mut page: impl FnMut(Option<&T>) -> Result<Vec<T>, CommandError>,
) -> Result<Vec<T>, CommandError> {
    let mut items = Vec::new();
    loop {
        let more = page(items.last())?;
        if more.is_empty() {
            return Ok(items);
        }
        items.extend(more);
    }
}

/// The error for a reply that does not fit the request.
pub(super) fn unexpected() -> CommandError {
    "the service answered something else; use the same platen for both".into()
}

fn ask(stream: UnixStream, request: &AdminRequest, time: Duration) -> std::io::Result<ControlReply> {
    stream.set_read_timeout(Some(time))?;
    stream.set_write_timeout(Some(time))?;
    let mut line = serde_json::to_vec(request)?;
    line.push(b'\n');
    (&stream).write_all(&line)?;
    let mut reply = Vec::new();
    BufReader::new(stream.take(REPLY_LIMIT_BYTES)).read_until(b'\n', &mut reply)?;
    if reply.is_empty() {
        let reason = "it closed the connection; run the command as the service's user or as root";
        return Err(std::io::Error::new(ErrorKind::UnexpectedEof, reason));
    }
    Ok(serde_json::from_slice(&reply)?)
}

fn administer_here(
    config: &Config,
    folder: &Path,
    request: &AdminRequest,
) -> Result<AdminReply, CommandError> {
    // Only creating an account may create the folder: with a wrong path, any other command would report an empty service.
    if !matches!(request, AdminRequest::CreateAccount { .. }) && DataDir::find(folder)?.is_none() {
        let place = folder.display();
        return Err(format!(
            "there is no data folder at {place}; set storage.data_dir (PLATEN__STORAGE__DATA_DIR) to the service's, or \
             create an account first"
        )
        .into());
    }
    let folder = DataDir::open(folder)?;
    runtime()?.block_on(async {
        let index: Arc<dyn Index> = Arc::new(SledIndex::open(&folder.index(), &config.storage).await?);
        let loaded = AccountStore::load(Arc::clone(&index), Arc::new(SystemClock), &config.accounts).await;
        let outcome = match loaded {
            Ok(mut accounts) => accounts.administer(request.clone()).await,
            Err(error) => Err(AdminError::from(error)),
        };
        index.close().await;
        Ok(outcome?)
    })
}
