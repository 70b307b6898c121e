//! `platen doctor`: what is installed, what a missing part disables, what installs it. One file a part; each makes findings
//! (`report.rs`), and only this file calls them.

mod browser;
mod engine;
mod engines;
mod fonts;
mod report;
mod running;
mod store;
mod system;

use std::process::ExitCode;

use clap::Args;

use self::report::Finding;
use super::{CommandError, print_to_stdout};
use crate::config::Config;
use crate::engines::catalog::Catalog;
use crate::engines::plan::Plan;
use crate::engines::{all, can_confine_files, libreoffice, page};
use crate::telemetry::metrics::Metrics;
use crate::workers::Starter;

/// Arguments of `platen doctor`.
#[derive(Debug, Args)]
pub struct DoctorArguments {
    /// Print what can become what and end.
    #[arg(long, conflicts_with_all = ["running", "json"])]
    pub matrix: bool,
    /// Ask the running service whether it is ready, and look at nothing else.
    #[arg(long)]
    pub running: bool,
    /// Print the findings as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Prints the findings; fails when something is missing that documents need.
///
/// # Errors
/// When stdout cannot be written, or no child can be started at all.
pub fn run(config: &Config, arguments: &DoctorArguments) -> Result<ExitCode, CommandError> {
    if arguments.matrix {
        let starter = Starter::new(std::env::current_exe()?)?;
        let catalog = actix::System::new().block_on(catalog(config, &starter));
        let chromium = browser::lack(&config.browser);
        let chromium_lack = |plan: &Plan| chromium.clone().filter(|_| page::needs_browser(plan));
        print_to_stdout(catalog.matrix_here(chromium_lack).trim_end())?;
        return Ok(ExitCode::SUCCESS);
    }
    let findings = if arguments.running { vec![running::finding(&config.http)] } else { examine(config)? };
    print_to_stdout(&if arguments.json { report::json(&findings)? } else { report::text(&findings) })?;
    Ok(if report::is_good(&findings) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The engines of this machine, with the versions of their programs.
async fn catalog(config: &Config, starter: &Starter) -> Catalog {
    let catalog = Catalog::new(all(), can_confine_files(config), Metrics::new().engines);
    catalog.ask_versions(starter).await;
    catalog
}

/// Tries each part as the service would use it: Chromium is started, a template is assembled.
fn examine(config: &Config) -> Result<Vec<Finding>, CommandError> {
    let starter = Starter::new(std::env::current_exe()?)?;
    let mut findings = actix::System::new().block_on(async {
        let mut found = browser::findings(&starter, &config.browser).await;
        found.push(engine::finding(&starter, &config.assemble).await);
        found.extend(fonts::findings(&starter, &config.browser).await);
        let catalog = catalog(config, &starter).await;
        found.extend(fonts::of_office(&starter, &catalog).await);
        found.extend(engines::findings(&catalog));
        found.extend(engines::extras(&catalog));
        found.extend(engines::old_libreoffice(libreoffice::version()));
        found.extend(engines::slots(&catalog, &config.engines));
        found.extend(store::findings(config).await);
        found
    });
    findings.extend(system::findings(config));
    Ok(findings)
}
