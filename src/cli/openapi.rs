//! `platen openapi`: the OpenAPI document, for those who generate clients.

use std::process::ExitCode;

use super::{CommandError, say};
use crate::config::Config;
use crate::http;

/// Prints the document; its server is `http.public_url`, or the same host when that is not set.
///
/// # Errors
/// When stdout cannot be written.
pub fn run(config: &Config) -> Result<ExitCode, CommandError> {
    let document = http::openapi(config.http.public_url.trim_end_matches('/'));
    say(&document.to_pretty_json()?)?;
    Ok(ExitCode::SUCCESS)
}
