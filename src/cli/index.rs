//! `platen index rebuild`: writes the templates of the index anew from the object store.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Subcommand};

use super::operator::is_running;
use super::{CommandError, data_folder, print_to_stdout};
use crate::accounts::AccountStore;
use crate::app;
use crate::clock::{Clock as _, SystemClock};
use crate::config::Config;
use crate::storage::data_dir::DataDir;
use crate::storage::index::{Index, IndexError, SledIndex};
use crate::templates::repair::index_check;
use crate::templates::repair::rebuild::{self, Rebuilt};

/// Arguments of `platen index`.
#[derive(Debug, Args)]
pub struct IndexArguments {
    #[command(subcommand)]
    command: IndexCommand,
}

#[derive(Debug, Subcommand)]
enum IndexCommand {
    /// Make what the index says of templates anew from the stored templates, while no service runs
    Rebuild(RebuildArguments),
}

#[derive(Debug, Args)]
struct RebuildArguments {
    /// Move an index that cannot be opened aside and begin a new one: jobs, accounts and tokens are lost with it
    #[arg(long)]
    discard_damaged: bool,
}

/// Carries out `platen index`.
///
/// # Errors
/// When a service uses the data folder, or index or store cannot be used.
pub fn run(config: &Config, arguments: &IndexArguments) -> Result<ExitCode, CommandError> {
    let IndexCommand::Rebuild(arguments) = &arguments.command;
    let folder = data_folder(config)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let lines = runtime.block_on(async {
        let (index, aside) = open(&folder, config, arguments.discard_damaged).await?;
        let lines = rebuild(Arc::clone(&index), &folder, config).await;
        index.close().await;
        let moved = aside.map(|aside| {
            format!("the damaged index is in {}; jobs, accounts and tokens begin anew", aside.display())
        });
        lines.map(|lines| moved.into_iter().chain(lines).collect::<Vec<_>>())
    });
    print_to_stdout(&lines?.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// Opens and locks the index. A damaged one that may be discarded is moved aside and replaced by a new one; the path is where
/// the old one is then.
async fn open(
    folder: &DataDir,
    config: &Config,
    discard: bool,
) -> Result<(Arc<dyn Index>, Option<PathBuf>), CommandError> {
    let path = folder.index();
    match SledIndex::open(&path, &config.storage).await {
        Ok(index) => {
            folder.remove_new_index()?;
            Ok((Arc::new(index), None))
        }
        Err(IndexError::InUse(_)) => Err(in_use()),
        Err(IndexError::Damaged { .. }) if discard => {
            // Opening a damaged index can fail before its lock is tried, so ask whether a service is running.
            if is_running(folder) {
                return Err(in_use());
            }
            // Mark the new index as unchecked before it is moved into place: if this process dies in between, no service starts
            // on an index without templates and deletes their objects as orphans.
            let new = SledIndex::open(&folder.new_index()?, &config.storage).await?;
            let marked = index_check::begin(&new).await;
            new.close().await;
            marked?;
            let aside = folder.replace_index(SystemClock.now())?;
            Ok((Arc::new(SledIndex::open(&path, &config.storage).await?), Some(aside)))
        }
        Err(error) => Err(error.into()),
    }
}

async fn rebuild(
    index: Arc<dyn Index>,
    folder: &DataDir,
    config: &Config,
) -> Result<Vec<String>, CommandError> {
    let store = app::store_taken_over(config, folder, index.as_ref()).await?;
    let rebuilt = rebuild::rebuild(Arc::clone(&index), store).await?;
    let accounts = AccountStore::load(index, Arc::new(SystemClock), &config.accounts).await?;
    Ok(report(&rebuilt, &accounts))
}

fn report(rebuilt: &Rebuilt, accounts: &AccountStore) -> Vec<String> {
    let Rebuilt { saved, unfinished, damaged, owners } = rebuilt;
    let mut lines = vec![format!(
        "templates in the index: {saved} saved, {unfinished} unfinished; damaged, with nothing of them deleted: {}",
        damaged.len()
    )];
    lines.extend(damaged.iter().map(|damaged| {
        format!("damaged: template {} of account {}: {}", damaged.template, damaged.account, damaged.cause)
    }));
    let unknown = owners.iter().filter(|(account, _)| !accounts.knows(**account));
    lines.extend(unknown.map(|(account, templates)| {
        format!(
            "account {account} is not in the index and has {templates} templates; to give them back: \
             platen account create NAME --id {account}"
        )
    }));
    lines
}

fn in_use() -> CommandError {
    "a service uses the data folder; stop it first".into()
}
