//! `platen render`: one document without a server, through the same pipeline.

mod linked_files;
mod options;
mod output;
mod progress;
mod source;

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use actix::{Addr, Arbiter};
use bytes::Bytes;
use clap::Args;

use super::file_or_stdio::FileOrStdio;
use super::{CommandError, print_to_stderr, print_to_stdout};
use crate::app::{EngineResources, Engines};
use crate::browser::{BrowserPool, GetPoolStatus, ShutDown};
use crate::config::{Config, Start};
use crate::domain::format_opts::{self, OptionLimits, PageOptions, Reading};
use crate::domain::ids::{AccountId, JobId};
use crate::domain::kinds::{FileKind, Target, TemplateKind};
use crate::engines::catalog::{Catalog, PlanError};
use crate::engines::plan::Plan;
use crate::engines::{self, can_confine_files, page};
use crate::outbound::{Outbound, SystemResolver};
use crate::pipeline::{self, InlineInputs, InputSet, RunInput};
use crate::storage::disk::DiskStore;
use crate::storage::{ObjectStore, StorageKey};
use crate::telemetry::{self, metrics::Metrics};
use options::OptionArguments;
use source::Source;

/// Pause between two requests for the pool's status while its browser starts. The pool does not report a failed start by
/// itself, and the command ends as soon as it sees one.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Arguments of `platen render`. Of FILE, --data and --opts one may be `-`, for stdin.
#[derive(Debug, Args)]
pub struct RenderArguments {
    /// The template: a page, an Office file, LaTeX, a zip archive, or a folder with index.html, index.docx or index.tex.
    /// Files that a page or a LaTeX source names are found beside it, in its folder and below
    #[arg(value_name = "FILE")]
    file: FileOrStdio,
    /// The template's kind: html, ejs, framework, latex, docx, xlsx, pptx; where its extension does not say so
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// The JSON data; `{}` when there is none
    #[arg(long, value_name = "FILE")]
    data: Option<FileOrStdio>,
    /// Where the document goes; its extension is the target. `-` for stdout, with --target. Else the template's name with
    /// the target's extension, in the present folder
    #[arg(short, long, value_name = "FILE", allow_hyphen_values = true)]
    output: Option<FileOrStdio>,
    /// What becomes of it: pdf, png, jpg (jpeg), html, docx, xlsx, pptx; where the output's extension does not say so.
    /// pdf where nothing does
    #[arg(long, value_name = "TARGET")]
    target: Option<String>,
    #[command(flatten)]
    options: OptionArguments,
    /// Show the document with the desktop's program for it
    #[arg(long)]
    open: bool,
}

/// Renders one document; prints its path, warnings go to stderr.
///
/// # Errors
/// When an argument is wrong, a file cannot be read or written, or the render fails.
pub fn run(mut config: Config, arguments: &RenderArguments) -> Result<ExitCode, CommandError> {
    // Most documents do not need LibreOffice, and its start takes seconds.
    config.office.start = Start::Lazy;
    telemetry::install(&config.log.of_command());
    let metrics = Metrics::new();
    let catalog = Arc::new(Catalog::new(engines::all(), can_confine_files(&config), metrics.engines.clone()));
    let (input, plan) = input_of(arguments, &config, &catalog)?;
    // One Chromium for pages with and without script. It starts at once if the plan is sure to need it, else with the first page.
    config.browser.start = if page::needs_browser(&plan) { Start::Eager } else { Start::Lazy };
    (config.browser.processes, config.browser.static_processes) = (1, 0);
    output::check(arguments, input.target)?;
    let context = RenderContext { catalog, metrics };
    let rendered = actix::System::new().block_on(progress::shown(render(config, input, context)));
    let (kind, document) = rendered?;
    let output = output::destination(arguments, kind)?;
    output.write(&document)?;
    if let FileOrStdio::File(path) = &output {
        print_to_stdout(&output.to_string())?;
        if arguments.open {
            output::open(path);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn input_of(
    arguments: &RenderArguments,
    config: &Config,
    catalog: &Catalog,
) -> Result<(RunInput, Plan), CommandError> {
    let sources = [Some(&arguments.file), arguments.data.as_ref()];
    let streams = sources.into_iter().flatten().filter(|&source| *source == FileOrStdio::Stream).count();
    if streams + usize::from(arguments.options.are_streamed()) > 1 {
        return Err("stdin can be read once: of FILE, --data and --opts one may be '-'".into());
    }
    let Source { kind, template } = source::read(arguments, config)?;
    let target = output::target(arguments, kind, catalog)?;
    let limit_bytes = config.http.upload_limit_bytes;
    let data = arguments.data.as_ref().map(|data| data.read(limit_bytes)).transpose()?;
    let options = arguments.options.object(config)?;
    let reading = options.map(|options| format_opts::read(&options, &OptionLimits::of(&config.browser)));
    let reading = reading.unwrap_or_default();
    let plan = plan(catalog, (kind, target), &reading.options)?;
    for warning in reading.warnings((kind, target), |key| plan.heeds(key)) {
        print_to_stderr(&format!("warning: {warning}"));
    }
    refuse_errors(&reading)?;
    let account = AccountId::generate();
    let input = RunInput {
        account,
        meter: account.into(),
        job: JobId::generate(),
        kind,
        target,
        options: reading.options,
        inline: InlineInputs { data, template: Some(template) },
        given: InputSet::default(),
        template: None,
        deliver_to: None,
    };
    Ok((input, plan))
}

/// The plan from the kind to the target; else an error that names possible targets or what must be installed.
fn plan(
    catalog: &Catalog,
    (kind, target): (TemplateKind, Target),
    options: &PageOptions,
) -> Result<Plan, CommandError> {
    catalog.plan(kind, target, options).map_err(|unplanned| {
        let (kind, target) = (kind.name(), target.name());
        match unplanned {
            PlanError::Impossible(possible) => {
                format!("{kind} cannot become {target}; it can become: {possible}").into()
            }
            PlanError::Unmet(unmet) => format!("{kind} cannot become {target} here: {unmet}").into(),
            PlanError::Unkept(key, keepers) => {
                format!("formatOpts.{key} promises what cannot be kept {keepers}").into()
            }
        }
    })
}

fn refuse_errors(reading: &Reading) -> Result<(), CommandError> {
    if reading.errors.is_empty() {
        return Ok(());
    }
    let lines: Vec<_> =
        reading.errors.iter().map(|error| format!("{}: {}", error.pointer, error.detail)).collect();
    Err(lines.join("; ").into())
}

/// What `render` needs besides configuration and input.
struct RenderContext {
    catalog: Arc<Catalog>,
    metrics: Metrics,
}

async fn render(
    config: Config,
    input: RunInput,
    context: RenderContext,
) -> Result<(FileKind, Bytes), CommandError> {
    let folder = Scratch::make()?;
    let store: Arc<dyn ObjectStore> = Arc::new(DiskStore::open(folder.0.join("objects")).await?);
    let arbiter = Arbiter::new();
    let outbound = Outbound::new(config.outbound.clone(), &[], Arc::new(SystemResolver));
    let resources = EngineResources {
        executable: std::env::current_exe()?,
        store: store.clone(),
        work: folder.0.join("work"),
        caches: config.tex.cache_dir_or(config.tex.user_caches.clone()),
        catalog: context.catalog,
        templates: None,
        outbound,
        metrics: context.metrics,
    };
    let engines = Engines::start(resources, &config, &arbiter.handle()).await?;
    let (account, job) = (input.account, input.job);
    let has_data = input.inline.data.is_some();
    let end = tokio::select! {
        end = pipeline::run(&engines.pipeline, input, |_| ()) => Ok(end),
        cause = no_browser(&engines.pool) => Err(cause),
    };
    engines.pool.send(ShutDown).await?;
    arbiter.stop();
    let end = end?;
    end.warnings.lines().iter().for_each(|warning| print_to_stderr(&format!("warning: {warning}")));
    if let Some(error) = end.error {
        let lacks_data = !has_data && error.message.ends_with("is not defined");
        let hint = if lacks_data { "; give the data with --data FILE.json" } else { "" };
        return Err(format!("{error}{hint}").into());
    }
    let document = end.document.ok_or("the render ended without a document and without an error")?;
    let key = StorageKey::JobOutput(account, job, document.file);
    Ok((document.file, store.get(&key, config.storage.output_limit_bytes).await?))
}

/// Resolves with the reason when the browser did not start. The pool would go on trying, as it does in the service; this
/// command fails at once.
async fn no_browser(pool: &Addr<BrowserPool>) -> String {
    loop {
        if let Ok(status) = pool.send(GetPoolStatus).await
            && !status.ready
            && let Some(cause) = status.cause
        {
            return cause;
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// A temporary folder that only this user may read, removed on drop.
struct Scratch(PathBuf);

impl Scratch {
    fn make() -> Result<Self, CommandError> {
        let folder = std::env::temp_dir().join(format!("platen-render-{}", JobId::generate()));
        let created = DirBuilder::new().mode(0o700).create(&folder);
        created.map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            print_to_stderr(&format!("{} stays behind: {error}", self.0.display()));
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser};

    use super::*;

    #[derive(Parser)]
    struct TestCommand {
        #[command(flatten)]
        _arguments: RenderArguments,
    }

    #[test]
    fn the_help_names_what_can_be_made_and_of_what() {
        let catalog = Catalog::new(engines::all(), true, Metrics::new().engines);
        let options = PageOptions::default();
        let command = TestCommand::command();
        let help = |name: &str| {
            let found = command.get_arguments().find(|argument| argument.get_id() == name).unwrap();
            found.get_help().unwrap().to_string()
        };
        let (kinds, targets) = (help("kind"), help("target"));
        for kind in TemplateKind::ALL {
            for target in Target::ALL {
                if catalog.route(kind, target, &options).is_some() {
                    assert!(kinds.contains(kind.name()), "{kinds}");
                    assert!(targets.contains(target.name()), "{targets}");
                }
            }
        }
    }
}
