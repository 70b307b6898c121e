//! `platen token`: makes, lists and revokes access tokens.

use std::io::Write;

use clap::{Args, Subcommand};

use super::operator::{CommandError, administer, collect, unexpected};
use crate::accounts::admin::{Reply, Request, TokenView};
use crate::config::Config;
use crate::domain::ids::TokenId;

/// Arguments of `platen token`.
#[derive(Debug, Args)]
pub struct TokenArgs {
    #[command(subcommand)]
    command: TokenCommand,
}

#[derive(Debug, Subcommand)]
enum TokenCommand {
    /// Make a token and print it: this is the only time it is shown
    Create {
        /// The account it opens
        #[arg(long, value_name = "NAME")]
        account: String,
    },
    /// List the tokens
    List {
        /// Only those of this account
        #[arg(long, value_name = "NAME")]
        account: Option<String>,
    },
    /// Make a token worthless at once
    Revoke {
        /// The token's id, as `platen token list` shows it
        id: TokenId,
    },
}

/// Carries out `platen token` and tells on `out` what was done; `create` prints the token alone.
///
/// # Errors
/// A sentence for the operator; the program ends with a failure then.
pub fn run(arguments: TokenArgs, config: &Config, out: &mut dyn Write) -> Result<(), CommandError> {
    match arguments.command {
        TokenCommand::Create { account } => match administer(config, &Request::CreateToken { account })? {
            Reply::Token { text, .. } => writeln!(out, "{text}")?,
            Reply::Account(_) | Reply::Accounts(_) | Reply::Tokens(_) => return Err(unexpected()),
        },
        TokenCommand::List { account } => {
            let views = collect(|last: Option<&TokenView>| {
                let after = last.map(|view| view.id);
                tokens(config, &Request::ListTokens { account: account.clone(), after })
            })?;
            for view in views {
                writeln!(out, "{}", line(&view))?;
            }
        }
        TokenCommand::Revoke { id } => {
            for view in tokens(config, &Request::RevokeToken { id })? {
                writeln!(out, "{}", line(&view))?;
            }
        }
    }
    Ok(())
}

fn tokens(config: &Config, request: &Request) -> Result<Vec<TokenView>, CommandError> {
    match administer(config, request)? {
        Reply::Tokens(page) => Ok(page),
        Reply::Account(_) | Reply::Accounts(_) | Reply::Token { .. } => Err(unexpected()),
    }
}

fn line(view: &TokenView) -> String {
    let status = match view.revoked_at {
        Some(moment) => format!("revoked {}", moment.rfc3339()),
        None => "active".to_owned(),
    };
    let created = view.created_at.rfc3339();
    format!("{}  account={}  ends-in={}  created {created}  {status}", view.id, view.account, view.last_chars)
}
