//! `platen backup` and `platen restore`: copy the data folder, and copy it back.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::{CommandError, data_folder, print_to_stdout, runtime};
use crate::config::{Config, Objects, S3Config};
use crate::storage::backup::{self, LiveSource};
use crate::storage::data_dir::DataDir;
use crate::storage::index::{Index as _, IndexError, SledIndex};
use crate::templates::repair::index_check;

/// Arguments of `platen backup`.
#[derive(Debug, Args)]
pub struct BackupArguments {
    /// A folder that is not there yet, or an empty one.
    folder: PathBuf,
}

/// Arguments of `platen restore`.
#[derive(Debug, Args)]
pub struct RestoreArguments {
    /// A folder that `platen backup` wrote.
    folder: PathBuf,
}

/// Copies the data folder, beside the service that uses it or while none does.
///
/// # Errors
/// When the copy cannot be made.
pub fn backup(config: &Config, arguments: &BackupArguments) -> Result<ExitCode, CommandError> {
    let folder = data_folder(config)?;
    let files = runtime()?.block_on(async {
        if let Some(source) = LiveSource::connect(&folder.control_socket())? {
            let copied = backup::backup_live(folder.path(), &arguments.folder, source, &config.storage);
            return copied.await.map_err(CommandError::from);
        }
        // Opening the index locks the folder, so no other process writes to it meanwhile.
        let index = SledIndex::open(&folder.index(), &config.storage).await.map_err(in_use)?;
        let copied = backup::backup(folder.path(), &arguments.folder);
        index.close().await;
        copied.map_err(CommandError::from)
    })?;
    print_to_stdout(&format!(
        "{files} files of {} are in {}",
        folder.path().display(),
        arguments.folder.display()
    ))?;
    print_bucket_notice(
        config,
        "is not in this copy: keep versions or a replica of the bucket as old as it",
    )?;
    Ok(ExitCode::SUCCESS)
}

/// Copies a backup into the data folder, which must be empty.
///
/// # Errors
/// When it is not empty, or the copy cannot be made.
pub fn restore(config: &Config, arguments: &RestoreArguments) -> Result<ExitCode, CommandError> {
    let data = Path::new(&config.storage.data_dir);
    let files = backup::restore(&arguments.folder, data, || mark_index_unchecked(config, data))?;
    DataDir::open(data)?;
    print_to_stdout(&format!("{files} files of {} are in {}", arguments.folder.display(), data.display()))?;
    let what = "did not come back by this: it must be there, as old as the copy or younger; now run `platen index rebuild`";
    print_bucket_notice(config, what)?;
    Ok(ExitCode::SUCCESS)
}

/// Marks the index of a copy as unchecked where objects are in a bucket. Hazard: the bucket may hold templates that are younger
/// than the copy, and a service would delete them as orphans; with the mark it does not start before `index rebuild`.
fn mark_index_unchecked(config: &Config, data: &Path) -> Result<(), CommandError> {
    if config.storage.objects != Objects::S3 {
        return Ok(());
    }
    runtime()?.block_on(async {
        let index = SledIndex::open(&DataDir::at(data).index(), &config.storage).await?;
        let marked = index_check::begin(&index).await;
        index.close().await;
        Ok(marked?)
    })
}

/// Prints that the objects are not in the copy, where they are in a bucket.
fn print_bucket_notice(config: &Config, what: &str) -> std::io::Result<()> {
    if config.storage.objects != Objects::S3 {
        return Ok(());
    }
    let S3Config { bucket, prefix, .. } = &config.s3;
    print_to_stdout(&format!(
        "what lies in the bucket '{bucket}' below '{prefix}' (documents and templates) {what}"
    ))
}

fn in_use(error: IndexError) -> CommandError {
    if matches!(error, IndexError::InUse(_)) {
        return "a service uses the data folder and does not answer on its control socket; look at its log, or stop it \
                first"
            .into();
    }
    error.into()
}
