//! `platen serve`: runs the service until a signal stops it.

use std::process::ExitCode;

use clap::Args;

use super::{CommandError, print_to_stdout};
use crate::app::App;
use crate::config::Config;
use crate::telemetry;

/// Arguments of `platen serve`.
#[derive(Debug, Args)]
pub struct ServeArguments {
    /// Print the effective configuration, each value with where it is from, and end.
    #[arg(long)]
    pub print_config: bool,
}

/// Serves until SIGINT or SIGTERM. Prints its addresses on stdout once it listens.
///
/// # Errors
/// When the service cannot start.
pub fn run(config: Config) -> Result<ExitCode, CommandError> {
    lok::give_back_large_pieces();
    telemetry::install(&config.log);
    actix::System::new().block_on(async move {
        let app = App::build(config, std::env::current_exe()?).await?;
        let mut lines = vec![format!("listening on {}", app.address())];
        lines.extend(app.metrics_address().map(|address| format!("metrics on {address}")));
        if app.public_url() != app.address() {
            lines.push(format!("addresses are handed out below {}", app.public_url()));
        }
        print_to_stdout(&lines.join("\n"))?;
        app.run_until_stopped().await?;
        Ok(ExitCode::SUCCESS)
    })
}
