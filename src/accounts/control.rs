//! The control socket: the operator's commands reach the running service here, one JSON line each way.
//!
//! The socket has mode 0600 in a folder of mode 0700, and the peer must be the service's own user or
//! root: whoever may ask can read the data folder anyway.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use actix::Addr;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use super::actor::{Accounts, Administer};
use super::admin::{Reply, Request};
use crate::config::AccountsConfig;

/// Longest path of a socket: the kernel's 108 bytes with the zero that ends it.
pub const PATH_LIMIT_BYTES: usize = 107;

/// Why there is no control socket.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// The path does not fit.
    #[error(
        "the control socket's path {} has {bytes} bytes, the system takes {PATH_LIMIT_BYTES}; \
         set storage.data_dir to a shorter path",
        path.display()
    )]
    PathTooLong {
        /// The path.
        path: PathBuf,
        /// Its length.
        bytes: usize,
    },
    /// The file system refuses.
    #[error("the control socket {} cannot be made: {cause}; its folder must belong to the service", path.display())]
    Refused {
        /// The path.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
}

/// What comes back for a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "one at a time, for an operator's command")]
pub enum Answer {
    /// It was done.
    Ok(Reply),
    /// It was not, and why.
    Error(String),
}

/// The served socket; dropped, it is gone.
#[derive(Debug)]
pub struct ControlSocket {
    task: JoinHandle<()>,
    path: PathBuf,
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        self.task.abort();
        if let Err(error) = std::fs::remove_file(&self.path) {
            tracing::warn!(%error, "the control socket could not be removed");
        }
    }
}

/// Checks that a socket can have this path.
///
/// # Errors
/// `PathTooLong`.
pub fn check_path(path: &Path) -> Result<(), ControlError> {
    let bytes = path.as_os_str().len();
    if bytes > PATH_LIMIT_BYTES {
        return Err(ControlError::PathTooLong { path: path.to_owned(), bytes });
    }
    Ok(())
}

/// Serves the socket at `path` until what this returns is dropped. What a killed service left there
/// is replaced: the caller has the index open, so no other service of the folder runs.
///
/// # Errors
/// When the path is too long or the file system refuses.
pub fn serve(
    path: &Path,
    accounts: Addr<Accounts>,
    config: &AccountsConfig,
) -> Result<ControlSocket, ControlError> {
    check_path(path)?;
    let listener = bind(path).map_err(|cause| ControlError::Refused { path: path.to_owned(), cause })?;
    let task = tokio::spawn(accept(listener, accounts, config.clone()));
    Ok(ControlSocket { task, path: path.to_owned() })
}

fn bind(path: &Path) -> std::io::Result<UnixListener> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

async fn accept(listener: UnixListener, accounts: Addr<Accounts>, config: AccountsConfig) {
    let permits = usize::try_from(config.control_connection_limit).unwrap_or(1);
    let connections = Arc::new(Semaphore::new(permits));
    while let Ok(permit) = Arc::clone(&connections).acquire_owned().await {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of descriptors, most likely: asking again at once would only burn the CPU.
                tracing::warn!(%error, "the control socket cannot take a connection");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let (accounts, config) = (accounts.clone(), config.clone());
        tokio::spawn(async move {
            let time = Duration::from_millis(config.control_timeout_ms);
            let conversation = converse(stream, &accounts, config.control_line_limit_bytes);
            match tokio::time::timeout(time, conversation).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::warn!(%error, "a control connection failed"),
                Err(_) => tracing::warn!("a control connection took too long and was closed"),
            }
            drop(permit);
        });
    }
}

/// Answers one request.
async fn converse(stream: UnixStream, accounts: &Addr<Accounts>, line_limit: u64) -> std::io::Result<()> {
    let peer = stream.peer_cred()?.uid();
    if peer != 0 && peer != nix::unistd::geteuid().as_raw() {
        tracing::warn!(peer.uid = peer, "the control socket refused another user");
        return Ok(());
    }
    let mut stream = BufReader::new(stream);
    let mut line = Vec::new();
    (&mut stream).take(line_limit + 1).read_until(b'\n', &mut line).await?;
    let answer = if line.len() as u64 > line_limit {
        Answer::Error(format!("the request is longer than accounts.control_line_limit_bytes, {line_limit}"))
    } else {
        answer(&line, accounts).await
    };
    let mut told = serde_json::to_vec(&answer)?;
    told.push(b'\n');
    stream.write_all(&told).await?;
    stream.shutdown().await
}

async fn answer(line: &[u8], accounts: &Addr<Accounts>) -> Answer {
    let request: Request = match serde_json::from_slice(line) {
        Ok(request) => request,
        Err(error) => {
            return Answer::Error(format!(
                "the request cannot be read ({error}); use the same platen for both"
            ));
        }
    };
    match accounts.send(Administer(request)).await {
        Ok(Ok(reply)) => Answer::Ok(reply),
        Ok(Err(error)) => Answer::Error(error.to_string()),
        Err(error) => Answer::Error(format!("the service is stopping or overloaded ({error}); try again")),
    }
}
