//! `platen render`: one document without a server, through the same pipeline.

mod beside;
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
use serde_json::value::RawValue;

use super::place::Place;
use super::{CommandError, complain, say};
use crate::app::{Basis, Engines};
use crate::browser::{BrowserPool, GetPoolStatus, ShutDown};
use crate::config::{Config, OfficeStart};
use crate::domain::format_opts::{self, OptionLimits, PageOptions, Reading};
use crate::domain::ids::{AccountId, JobId};
use crate::domain::kinds::{FileKind, Target, TemplateKind};
use crate::engines::catalog::{Catalog, Unplanned};
use crate::engines::plan::Plan;
use crate::engines::{self, can_confine_files, page};
use crate::outbound::{Outbound, SystemResolver};
use crate::pipeline::{self, InlineInputs, InputSet, RunInput};
use crate::storage::disk::DiskStore;
use crate::storage::{ObjectStore, StorageKey};
use crate::telemetry::{self, metrics::Metrics};
use source::Source;

/// How often the pool is asked whether its browser started.
const LOOK_PAUSE: Duration = Duration::from_millis(50);

/// Arguments of `platen render`. Of FILE, --data and --opts one may be `-`, for stdin.
#[derive(Debug, Args)]
pub struct RenderArguments {
    /// The template: a page, an Office file, LaTeX, a zip archive, or a folder with index.html, index.docx or index.tex.
    /// Files that a page or a LaTeX source names are found beside it, in its folder and below
    #[arg(value_name = "FILE")]
    file: Place,
    /// The template's kind: html, ejs, framework, latex, docx, xlsx, pptx; where its extension does not say so
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// The JSON data; `{}` when there is none
    #[arg(long, value_name = "FILE")]
    data: Option<Place>,
    /// Where the document goes; its extension is the target. `-` for stdout, with --target. Else the template's name with
    /// the target's extension, in the present folder
    #[arg(short, long, value_name = "FILE", allow_hyphen_values = true)]
    output: Option<Place>,
    /// What becomes of it: pdf, png, jpg (jpeg), html, docx, xlsx, pptx; where the output's extension does not say so.
    /// pdf where nothing does
    #[arg(long, value_name = "TARGET")]
    target: Option<String>,
    /// `formatOpts` as a JSON object
    #[arg(long, value_name = "FILE")]
    opts: Option<Place>,
    /// Show the document with the desktop's program for it
    #[arg(long)]
    open: bool,
}

/// Renders one document; prints its path, warnings go to stderr.
///
/// # Errors
/// When an argument is wrong, a file cannot be read or written, or the render fails.
pub fn run(mut config: Config, arguments: &RenderArguments) -> Result<ExitCode, CommandError> {
    // One document, which needs it or not.
    config.office.start = OfficeStart::Lazy;
    telemetry::install(&config.log.of_command());
    let metrics = Metrics::new();
    let catalog = Arc::new(Catalog::new(engines::all(), can_confine_files(&config), metrics.engines.clone()));
    let (input, plan) = input_of(arguments, &config, &catalog)?;
    // One for pages with script and without; none where no step shows a page.
    config.browser.processes = u64::from(plan.steps().iter().any(|step| step.engine == page::NAME));
    config.browser.static_processes = 0;
    output::check(arguments, input.target)?;
    let means = Means { catalog, metrics, needs_browser: page::needs_browser(&plan) };
    let made = actix::System::new().block_on(progress::shown(render(config, input, means)));
    let (made, document) = made?;
    let output = output::place(arguments, made)?;
    output.write(&document)?;
    if let Place::File(path) = &output {
        say(&output.to_string())?;
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
    let sources = [Some(&arguments.file), arguments.data.as_ref(), arguments.opts.as_ref()];
    if sources.into_iter().flatten().filter(|&source| *source == Place::Stream).count() > 1 {
        return Err("stdin can be read once: of FILE, --data and --opts one may be '-'".into());
    }
    let Source { kind, template } = source::read(arguments, config)?;
    let target = output::target(arguments, kind, catalog)?;
    let limit_bytes = config.http.upload_limit_bytes;
    let data = arguments.data.as_ref().map(|data| data.read(limit_bytes)).transpose()?;
    let reading = arguments.opts.as_ref().map(|opts| read_options(opts, config)).transpose()?;
    let reading = reading.unwrap_or_default();
    let plan = plan(catalog, (kind, target), &reading.options)?;
    for warning in reading.warnings((kind, target), |key| plan.heeds(key)) {
        complain(&format!("warning: {warning}"));
    }
    refuse_faults(&reading)?;
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

/// How the kind becomes the target, or what it can become, or what must be installed.
fn plan(
    catalog: &Catalog,
    (kind, target): (TemplateKind, Target),
    options: &PageOptions,
) -> Result<Plan, CommandError> {
    catalog.plan(kind, target, options).map_err(|unplanned| {
        let (kind, target) = (kind.name(), target.name());
        match unplanned {
            Unplanned::Impossible(possible) => {
                format!("{kind} cannot become {target}; it can become: {possible}").into()
            }
            Unplanned::Lacking(lack) => format!("{kind} cannot become {target} here: {lack}").into(),
            Unplanned::Unkept(key, keepers) => {
                format!("formatOpts.{key} promises what cannot be kept {keepers}").into()
            }
        }
    })
}

fn read_options(opts: &Place, config: &Config) -> Result<Reading, CommandError> {
    let raw: Box<RawValue> = serde_json::from_slice(&opts.read(config.http.upload_limit_bytes)?)
        .map_err(|error| format!("--opts {opts} is not valid JSON: {error}"))?;
    Ok(format_opts::read(&raw, &OptionLimits::of(&config.browser)))
}

fn refuse_faults(reading: &Reading) -> Result<(), CommandError> {
    if reading.faults.is_empty() {
        return Ok(());
    }
    let told: Vec<_> =
        reading.faults.iter().map(|fault| format!("{}: {}", fault.pointer, fault.detail)).collect();
    Err(told.join("; ").into())
}

/// What a render works with.
struct Means {
    catalog: Arc<Catalog>,
    metrics: Metrics,
    needs_browser: bool,
}

async fn render(config: Config, input: RunInput, means: Means) -> Result<(FileKind, Bytes), CommandError> {
    let folder = Scratch::make()?;
    let store: Arc<dyn ObjectStore> = Arc::new(DiskStore::open(folder.0.join("objects")).await?);
    let arbiter = Arbiter::new();
    let outbound = Outbound::new(config.outbound.clone(), &[], Arc::new(SystemResolver));
    let basis = Basis {
        executable: std::env::current_exe()?,
        store: store.clone(),
        work: folder.0.join("work"),
        caches: config.tex.cache_dir_or(config.tex.user_caches.clone()),
        catalog: means.catalog,
        templates: None,
        outbound,
        metrics: means.metrics,
    };
    let engines = Engines::start(basis, &config, &arbiter.handle()).await?;
    let (account, job) = (input.account, input.job);
    let has_data = input.inline.data.is_some();
    let end = tokio::select! {
        end = pipeline::run(&engines.pipeline, input, |_| ()) => Ok(end),
        cause = no_browser(&engines.pool), if means.needs_browser => Err(cause),
    };
    engines.pool.send(ShutDown).await?;
    arbiter.stop();
    let end = end?;
    end.warnings.lines().iter().for_each(|warning| complain(&format!("warning: {warning}")));
    if let Some(fault) = end.fault {
        let lacks_data = !has_data && fault.message.ends_with("is not defined");
        let hint = if lacks_data { "; give the data with --data FILE.json" } else { "" };
        return Err(format!("{fault}{hint}").into());
    }
    let document = end.document.ok_or("the render ended without a document and without an error")?;
    let key = StorageKey::JobOutput(account, job, document.file);
    Ok((document.file, store.get(&key, config.storage.output_limit_bytes).await?))
}

/// Comes when a browser did not start, with the reason: the service tries again, who waits here need not.
async fn no_browser(pool: &Addr<BrowserPool>) -> String {
    loop {
        if let Ok(status) = pool.send(GetPoolStatus).await
            && !status.ready
            && let Some(cause) = status.cause
        {
            return cause;
        }
        tokio::time::sleep(LOOK_PAUSE).await;
    }
}

/// A folder of its own, for nobody else to read, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn make() -> Result<Self, CommandError> {
        let folder = std::env::temp_dir().join(format!("platen-render-{}", JobId::generate()));
        let made = DirBuilder::new().mode(0o700).create(&folder);
        made.map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            complain(&format!("{} stays behind: {error}", self.0.display()));
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser};

    use super::*;

    #[derive(Parser)]
    struct Alone {
        #[command(flatten)]
        _arguments: RenderArguments,
    }

    #[test]
    fn the_help_names_what_can_be_made_and_of_what() {
        let catalog = Catalog::new(engines::all(), true, Metrics::new().engines);
        let options = PageOptions::default();
        let command = Alone::command();
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
