//! `platen token`: makes, lists and revokes access tokens.

use std::io::Write;

use clap::{Args, Subcommand};

use super::CommandError;
use super::operator::{administer, collect, unexpected};
use crate::accounts::admin::{AdminReply, AdminRequest, Expiry, TokenView};
use crate::accounts::subscription::parse_moment;
use crate::clock::Timestamp;
use crate::config::Config;
use crate::domain::ids::TokenId;

const HOUR_MS: u64 = 3_600_000;
/// Longest lifetime of a token: a hundred years.
const HOURS_LIMIT: u64 = 36_500 * 24;

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
        /// What the token is called in lists
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// When it ends: after some time (`30d`, `12h`), as a date begins (`2026-12-31`, in UTC) or at a moment of RFC 3339
        #[arg(long, value_name = "WHEN", value_parser = parse_expiry)]
        expires: Option<Expiry>,
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

/// Carries out `platen token` and prints the result to `out`; `create` prints the token alone, for scripts.
///
/// # Errors
/// A sentence for the operator; the program ends with a failure then.
pub fn run(arguments: TokenArgs, config: &Config, out: &mut dyn Write) -> Result<(), CommandError> {
    match arguments.command {
        TokenCommand::Create { account, name, expires } => {
            let request = AdminRequest::CreateToken { account, name, expiry: expires };
            let AdminReply::Token { text, .. } = administer(config, &request)? else {
                return Err(unexpected());
            };
            writeln!(out, "{text}")?;
        }
        TokenCommand::List { account } => {
            let views = collect(|last: Option<&TokenView>| {
                let after = last.map(|view| view.id);
                tokens(config, &AdminRequest::ListTokens { account: account.clone(), after })
            })?;
            for view in views {
                writeln!(out, "{}", line(&view))?;
            }
        }
        TokenCommand::Revoke { id } => {
            for view in tokens(config, &AdminRequest::RevokeToken { id })? {
                writeln!(out, "{}", line(&view))?;
            }
        }
    }
    Ok(())
}

fn tokens(config: &Config, request: &AdminRequest) -> Result<Vec<TokenView>, CommandError> {
    let AdminReply::Tokens(page) = administer(config, request)? else { return Err(unexpected()) };
    Ok(page)
}

fn line(view: &TokenView) -> String {
    let status = match view.revoked_at {
        Some(moment) => format!("revoked {}", moment.rfc3339()),
        None if view.is_expired => "expired".to_owned(),
        None => "active".to_owned(),
    };
    let name = view.name.as_deref().map(|name| format!("  name={name}")).unwrap_or_default();
    let or_never = |moment: Option<Timestamp>| moment.map_or_else(|| "never".to_owned(), Timestamp::rfc3339);
    format!(
        "{}  account={}{name}  ends-in={}  created {}  expires {}  last-used {}  {status}",
        view.id,
        view.account,
        view.last_chars,
        view.created_at.rfc3339(),
        or_never(view.expires_at),
        or_never(view.last_used_at),
    )
}

fn parse_expiry(text: &str) -> Result<Expiry, String> {
    let remedy = || {
        "give a time like 30d or 12h (at most 36500d), a date like 2026-12-31, or a moment of RFC 3339"
            .to_owned()
    };
    let after = [("d", 24), ("h", 1)].into_iter().find_map(|(unit, hours)| {
        let count: u64 = text.strip_suffix(unit)?.parse().ok()?;
        Some(count.saturating_mul(hours)).filter(|hours| (1..=HOURS_LIMIT).contains(hours))
    });
    match after {
        Some(hours) => Ok(Expiry::In(hours * HOUR_MS)),
        None => parse_moment(text).map(Expiry::At).ok_or_else(remedy),
    }
}
