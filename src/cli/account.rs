//! `platen account`: makes, lists and changes accounts.

use std::io::{IsTerminal as _, Write};

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, Subcommand};
use strum::VariantNames as _;

use super::operator::{administer, collect, is_running, unexpected};
use super::{CommandError, print_to_stderr};
use crate::accounts::admin::{
    AccountLimit, AccountSettings, AccountView, AdminReply, AdminRequest, Documents, Renewal,
};
use crate::accounts::subscription::{Status, parse_moment};
use crate::app::{self, DeletedData};
use crate::clock::Timestamp;
use crate::config::Config;
use crate::domain::ids::AccountId;
use crate::storage::data_dir::DataDir;

/// Arguments of `platen account`.
#[derive(Debug, Args)]
pub struct AccountArgs {
    #[command(subcommand)]
    command: AccountCommand,
}

#[derive(Debug, Subcommand)]
enum AccountCommand {
    /// Make an account: active and unlimited unless told otherwise
    Create(CreateArgs),
    /// List the accounts with what they have used
    List,
    /// Change an account; what is not given stays
    Set(SetArgs),
    /// Delete an account with its jobs, documents, templates and tokens
    Delete(DeleteArgs),
}

#[derive(Debug, Args)]
struct DeleteArgs {
    /// Its name
    name: String,
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

#[derive(Debug, Args)]
struct CreateArgs {
    /// Its name
    name: String,
    /// Its plan, a word of your own
    #[arg(long)]
    plan: Option<String>,
    /// Documents in a calendar month, counted from the day of its creation
    #[arg(long, value_name = "N")]
    documents_per_month: Option<u64>,
    /// The id of an account that the index has lost (`platen index rebuild` names it): its templates are this
    /// one's
    #[arg(long, value_name = "UUID")]
    id: Option<AccountId>,
}

#[derive(Debug, Args)]
struct SetArgs {
    /// Its name
    name: String,
    /// Its plan, a word of your own
    #[arg(long)]
    plan: Option<String>,
    /// Documents in a month: a number or `unlimited`
    #[arg(long, value_name = "N|unlimited", value_parser = parse_documents)]
    documents_per_month: Option<Documents>,
    /// Whether the subscription is good
    #[arg(
        long,
        value_parser = PossibleValuesParser::new(Status::VARIANTS).try_map(|name| name.parse::<Status>())
    )]
    status: Option<Status>,
    /// Until when the subscription is paid for, and from which day of a month on documents are counted anew:
    /// `2026-01-31`, a moment of RFC 3339, or `never`. What is counted at the moment stays counted until the next such
    /// day of a month (`counted-until` in `account list`)
    #[arg(long, value_name = "DATE", value_parser = parse_renewal)]
    renews_at: Option<Renewal>,
    /// Bytes that it may have stored: a number, `unlimited`, or `default` for `accounts.stored_bytes_limit`
    #[arg(long, value_name = "N|unlimited|default", value_parser = parse_bound)]
    stored_bytes_limit: Option<AccountLimit>,
    /// Jobs that may be initialized and not started: a number, `unlimited`, or `default` for
    /// `accounts.open_jobs_limit`
    #[arg(long, value_name = "N|unlimited|default", value_parser = parse_bound)]
    open_jobs_limit: Option<AccountLimit>,
}

/// Carries out `platen account` and prints the result to `out`.
///
/// # Errors
/// A sentence for the operator; the program ends with a failure then.
pub fn run(arguments: AccountArgs, config: &Config, out: &mut dyn Write) -> Result<(), CommandError> {
    match arguments.command {
        AccountCommand::Create(CreateArgs { name, plan, documents_per_month, id }) => {
            let request = AdminRequest::CreateAccount { name, plan, documents_per_month, id };
            let view = expect_account(administer(config, &request)?)?;
            writeln!(out, "created account {}", line(&view))?;
        }
        AccountCommand::Set(arguments) => {
            let request = set_request(arguments);
            let view = expect_account(administer(config, &request)?)?;
            writeln!(out, "account {}", line(&view))?;
        }
        AccountCommand::Delete(DeleteArgs { name, yes }) => {
            if !yes {
                confirm(&name)?;
            }
            let view = expect_account(administer(config, &AdminRequest::DeleteAccount { name })?)?;
            writeln!(out, "deleted account {}", line(&view))?;
            writeln!(out, "{}", delete_data(config)?)?;
        }
        AccountCommand::List => {
            let views = collect(|last: Option<&AccountView>| {
                let after = last.map(|view| view.account.name.clone());
                let reply = administer(config, &AdminRequest::ListAccounts { after })?;
                let AdminReply::Accounts(page) = reply else { return Err(unexpected()) };
                Ok(page)
            })?;
            for view in views {
                writeln!(out, "{}", line(&view))?;
            }
        }
    }
    Ok(())
}

/// Asks at the terminal for the name once more.
fn confirm(name: &str) -> Result<(), CommandError> {
    let what =
        format!("this deletes account '{name}' with its jobs, documents, templates and tokens for good");
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Err(format!("{what}; repeat the command with --yes").into());
    }
    print_to_stderr(&format!("{what}. Type its name to go on:"));
    let mut typed = String::new();
    stdin.read_line(&mut typed)?;
    if typed.trim() == name {
        return Ok(());
    }
    Err("that is another name; nothing was deleted".into())
}

/// Deletes the data of the deleted account here, unless a running service is already doing so. Returns a line about it.
fn delete_data(config: &Config) -> Result<String, CommandError> {
    let folder = std::path::absolute(&config.storage.data_dir)?;
    if is_running(&DataDir::at(&folder)) {
        return Ok("what it had is being erased by the service".to_owned());
    }
    let deleted = actix::System::new().block_on(app::delete_account_data(config));
    let DeletedData { jobs, templates } = deleted
        .map_err(|error| format!("{error}; the account is gone, and the next start erases what it had"))?;
    Ok(format!("erased {jobs} jobs and {templates} templates"))
}

fn set_request(arguments: SetArgs) -> AdminRequest {
    let settings = AccountSettings {
        plan: arguments.plan,
        status: arguments.status,
        documents: arguments.documents_per_month,
        renewal: arguments.renews_at,
        stored_bytes: arguments.stored_bytes_limit,
        open_jobs: arguments.open_jobs_limit,
    };
    AdminRequest::SetAccount { name: arguments.name, settings }
}

fn expect_account(reply: AdminReply) -> Result<AccountView, CommandError> {
    let AdminReply::Account(view) = reply else { return Err(unexpected()) };
    Ok(view)
}

fn line(view: &AccountView) -> String {
    let AccountView { account, used, period_ends_at, active_tokens, stored_bytes, open_jobs, .. } = view;
    let limit = limit_text(account.documents_per_month);
    let (stored_limit, open_limit) = (limit_text(view.stored_bytes_limit), limit_text(view.open_jobs_limit));
    let renews = account.renews_at.map_or_else(|| "never".to_owned(), Timestamp::rfc3339);
    format!(
        "{}  plan={}  status={}  documents={used}/{limit}  counted-until={}  renews-at={renews}  tokens={active_tokens}  \
         stored-bytes={stored_bytes}/{stored_limit}{}  open-jobs={open_jobs}/{open_limit}{}",
        account.name,
        account.plan,
        account.status.name(),
        period_ends_at.rfc3339(),
        own_limit_mark(account.stored_bytes_limit),
        own_limit_mark(account.open_jobs_limit),
    )
}

fn limit_text(limit: Option<u64>) -> String {
    limit.map_or_else(|| "unlimited".to_owned(), |limit| limit.to_string())
}

/// Marks a limit that is the account's own and not the configuration's.
fn own_limit_mark(limit: Option<u64>) -> &'static str {
    if limit.is_some() { " (own)" } else { "" }
}

fn parse_bound(text: &str) -> Result<AccountLimit, String> {
    match text {
        "default" => Ok(AccountLimit::Default),
        "unlimited" => Ok(AccountLimit::Unlimited),
        _ => match text.parse() {
            Ok(0) | Err(_) => Err("give a number from 1, 'unlimited' or 'default'".to_owned()),
            Ok(limit) => Ok(AccountLimit::Limit(limit)),
        },
    }
}

fn parse_documents(text: &str) -> Result<Documents, String> {
    if text == "unlimited" {
        return Ok(Documents::Unlimited);
    }
    text.parse().map(Documents::Limit).map_err(|_| "give a number or 'unlimited'".to_owned())
}

fn parse_renewal(text: &str) -> Result<Renewal, String> {
    if text == "never" {
        return Ok(Renewal::Never);
    }
    let moment = parse_moment(text);
    moment
        .map(Renewal::At)
        .ok_or_else(|| "give a date like 2026-01-31, a moment of RFC 3339, or 'never'".to_owned())
}
