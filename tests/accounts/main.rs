//! Accounts through the actor that a service runs and through the commands of its operator.

#![expect(clippy::unwrap_used, clippy::panic, reason = "what these helpers demand is what the tests assert")]

mod commands;
mod quota;
mod stalled;
mod tokens;

use std::path::PathBuf;
use std::sync::Arc;

use actix::{Actor, Addr};
use clap::Parser;
use platen::accounts::actor::{Accounts, Administer, Authenticate};
use platen::accounts::admin::{AccountSettings, AdminError, AdminReply, AdminRequest, Documents, Renewal};
use platen::accounts::control::{self, ControlSocket};
use platen::accounts::subscription::{Status, parse_moment};
use platen::accounts::{AccountStore, DocumentReturns};
use platen::cli::CommandError;
use platen::cli::account::AccountArgs;
use platen::cli::token::TokenArgs;
use platen::clock::{Clock, FixedClock};
use platen::config::Config;
use platen::domain::ids::AccountId;
use platen::problem::Problem;
use platen::storage::backup::LiveBackup;
use platen::storage::data_dir::DataDir;
use platen::storage::index::{Index, SledIndex};
use tempfile::TempDir;

/// A data folder and the settings that name it.
struct DataFolder {
    config: Config,
    _root: TempDir,
}

/// The accounts part of a service.
struct TestService {
    accounts: Addr<Accounts>,
    document_returns: DocumentReturns,
    backups: Arc<LiveBackup>,
    index: Arc<dyn Index>,
    clock: Arc<FixedClock>,
    socket: ControlSocket,
}

#[derive(Parser)]
struct AccountLine {
    #[command(flatten)]
    arguments: AccountArgs,
}

#[derive(Parser)]
struct TokenLine {
    #[command(flatten)]
    arguments: TokenArgs,
}

impl DataFolder {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        config.storage.data_dir = root.path().join("data").display().to_string();
        Self { config, _root: root }
    }

    fn socket(&self) -> PathBuf {
        DataDir::at(self.config.storage.data_dir.as_ref()).control_socket()
    }

    async fn service(&self) -> TestService {
        let folder = DataDir::open(self.config.storage.data_dir.as_ref()).unwrap();
        let opened = Arc::new(SledIndex::open(&folder.index(), &self.config.storage).await.unwrap());
        let backups = Arc::new(LiveBackup::new(opened.clone(), None, &self.config.storage));
        let index: Arc<dyn Index> = opened;
        let clock = Arc::new(FixedClock::at(parse_moment("2026-01-10").unwrap()));
        let time: Arc<dyn Clock> = clock.clone();
        let store = AccountStore::load(Arc::clone(&index), time, &self.config.accounts).await.unwrap();
        let document_returns = store.document_returns();
        let accounts = Accounts::new(store, self.config.accounts.mailbox_limit).start();
        let served = (accounts.clone(), backups.clone());
        let socket = control::serve(&folder.control_socket(), served, &self.config.accounts).unwrap();
        TestService { accounts, document_returns, backups, index, clock, socket }
    }

    /// A command as it is typed: what it prints, or its error.
    async fn command(&self, line: &str) -> Result<String, String> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let config = self.config.clone();
        let message = |error: CommandError| error.to_string();
        let run = move || -> Result<String, String> {
            let mut out = Vec::new();
            let refused = |error: clap::Error| error.to_string();
            if words[0] == "account" {
                let arguments = AccountLine::try_parse_from(words).map_err(refused)?.arguments;
                platen::cli::account::run(arguments, &config, &mut out).map_err(message)?;
            } else {
                let arguments = TokenLine::try_parse_from(words).map_err(refused)?.arguments;
                platen::cli::token::run(arguments, &config, &mut out).map_err(message)?;
            }
            Ok(String::from_utf8(out).unwrap())
        };
        tokio::task::spawn_blocking(run).await.unwrap()
    }
}

impl TestService {
    async fn stop(self) {
        drop(self.socket);
        self.index.close().await;
    }

    async fn authenticate(&self, token: &str) -> Result<AccountId, Problem> {
        self.accounts.send(Authenticate { token: token.to_owned() }).await.unwrap()
    }

    async fn administer(&self, request: AdminRequest) -> Result<AdminReply, AdminError> {
        self.accounts.send(Administer(request)).await.unwrap()
    }

    /// A new account with a token of its own: the account's id and the token.
    async fn account(&self, name: &str, documents_per_month: Option<u64>) -> (AccountId, String) {
        let request =
            AdminRequest::CreateAccount { name: name.to_owned(), plan: None, documents_per_month, id: None };
        self.administer(request).await.unwrap();
        let reply = self
            .administer(AdminRequest::CreateToken { account: name.to_owned(), name: None, expiry: None })
            .await
            .unwrap();
        let AdminReply::Token { text, .. } = reply else { panic!("{reply:?}") };
        (self.authenticate(&text).await.unwrap(), text)
    }

    async fn set(&self, name: &str, settings: AccountSettings) {
        self.administer(AdminRequest::SetAccount { name: name.to_owned(), settings }).await.unwrap();
    }

    async fn used(&self, name: &str) -> u64 {
        let reply = self.administer(AdminRequest::ListAccounts { after: None }).await.unwrap();
        let AdminReply::Accounts(views) = reply else { panic!("{reply:?}") };
        views.iter().find(|view| view.account.name == name).unwrap().used
    }
}

fn status(status: Status) -> AccountSettings {
    AccountSettings { status: Some(status), ..AccountSettings::default() }
}

fn renewal(date: &str) -> AccountSettings {
    AccountSettings { renewal: Some(Renewal::At(parse_moment(date).unwrap())), ..AccountSettings::default() }
}

fn documents(limit: u64) -> AccountSettings {
    AccountSettings { documents: Some(Documents::Limit(limit)), ..AccountSettings::default() }
}
