//! The control socket, over which the operator's commands reach the running service: one JSON line each way, and a protocol
//! of its own for a backup (`storage/backup`).
//!
//! Hazard: whoever may write to it makes tokens for any account. So it has mode 0600 in a folder of mode 0700, and the peer
//! must be the service's own user or root, who can read the data folder anyway.

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
use super::admin::{AdminReply, AdminRequest};
use crate::config::AccountsConfig;
use crate::storage::backup::{self, LiveBackup};

/// Longest path of a socket: the kernel's 108 bytes with the zero that ends it.
pub const PATH_LIMIT_BYTES: usize = 107;

/// Why there is no control socket, in a sentence with the remedy.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ControlError(String);

/// What comes back for a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "one at a time, for an operator's command")]
pub enum ControlReply {
    /// It was done.
    Ok(AdminReply),
    /// It was not, and why.
    Error(String),
}

/// A socket that is served until this is dropped.
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
/// When the path is too long.
pub fn check_path(path: &Path) -> Result<(), ControlError> {
    let bytes = path.as_os_str().len();
    if bytes > PATH_LIMIT_BYTES {
        return Err(ControlError(format!(
            "the control socket's path {} has {bytes} bytes, the system takes {PATH_LIMIT_BYTES}; set storage.data_dir to \
             a shorter path",
            path.display()
        )));
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
    (accounts, backups): (Addr<Accounts>, Arc<LiveBackup>),
    config: &AccountsConfig,
) -> Result<ControlSocket, ControlError> {
    check_path(path)?;
    let listener = bind(path).map_err(|cause| {
        let path = path.display();
        ControlError(format!(
            "the control socket {path} cannot be made: {cause}; its folder must belong to the service"
        ))
    })?;
    let context = Arc::new(ControlContext { accounts, backups, config: config.clone() });
    let task = tokio::spawn(accept(listener, context));
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

/// What every connection is served with.
struct ControlContext {
    accounts: Addr<Accounts>,
    backups: Arc<LiveBackup>,
    config: AccountsConfig,
}

async fn accept(listener: UnixListener, context: Arc<ControlContext>) {
    let permits = usize::try_from(context.config.control_connection_limit).unwrap_or(1);
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
        let context = Arc::clone(&context);
        tokio::spawn(async move {
            let time = Duration::from_millis(context.config.control_timeout_ms);
            match tokio::time::timeout(time, context.serve_one(stream)).await {
                Ok(Ok(None)) => {}
                // A backup has a time limit of its own and logs its end.
                Ok(Ok(Some(mut stream))) => drop(context.backups.serve(&mut stream).await),
                Ok(Err(error)) => tracing::warn!(%error, "a control connection failed"),
                Err(_) => tracing::warn!("a control connection took too long and was closed"),
            }
            drop(permit);
        });
    }
}

impl ControlContext {
    /// Answers one request; returns the connection where the request is for a backup.
    async fn serve_one(&self, stream: UnixStream) -> std::io::Result<Option<BufReader<UnixStream>>> {
        let peer = stream.peer_cred()?.uid();
        if peer != 0 && peer != nix::unistd::geteuid().as_raw() {
            tracing::warn!(peer.uid = peer, "the control socket refused another user");
            return Ok(None);
        }
        let mut stream = BufReader::new(stream);
        let mut line = Vec::new();
        let line_limit = self.config.control_line_limit_bytes;
        (&mut stream).take(line_limit + 1).read_until(b'\n', &mut line).await?;
        if line.is_empty() {
            // A connection that only tests whether a service runs.
            return Ok(None);
        }
        let reply = if line.len() as u64 > line_limit {
            ControlReply::Error(format!(
                "the request is longer than accounts.control_line_limit_bytes, {line_limit}"
            ))
        } else if line.trim_ascii() == backup::REQUEST.as_bytes() {
            return Ok(Some(stream));
        } else {
            reply_to(&line, &self.accounts).await
        };
        let mut reply = serde_json::to_vec(&reply)?;
        reply.push(b'\n');
        stream.write_all(&reply).await?;
        stream.shutdown().await?;
        Ok(None)
    }
}

async fn reply_to(line: &[u8], accounts: &Addr<Accounts>) -> ControlReply {
    let request: AdminRequest = match serde_json::from_slice(line) {
        Ok(request) => request,
        Err(error) => {
            return ControlReply::Error(format!(
                "the request cannot be read ({error}); use the same platen for both"
            ));
        }
    };
    match accounts.send(Administer(request)).await {
        Ok(Ok(reply)) => ControlReply::Ok(reply),
        Ok(Err(error)) => ControlReply::Error(error.to_string()),
        Err(error) => {
            ControlReply::Error(format!("the service is stopping or overloaded ({error}); try again"))
        }
    }
}
