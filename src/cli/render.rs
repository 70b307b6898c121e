//! `platen render`: one document without a server, through the same pipeline.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use actix::Arbiter;
use bytes::Bytes;
use clap::Args;
use serde_json::value::RawValue;

use super::{CommandError, complain, say};
use crate::app::{Basis, Engines};
use crate::browser::ShutDown;
use crate::config::Config;
use crate::domain::format_opts::{self, OptionLimits, PageOptions};
use crate::domain::ids::{AccountId, JobId};
use crate::domain::kinds::{Target, TemplateKind};
use crate::engines;
use crate::outbound::{Outbound, SystemResolver};
use crate::pipeline::{self, Held, InputSet, RunInput};
use crate::storage::disk::DiskStore;
use crate::storage::{ObjectStore, StorageKey};
use crate::telemetry::{self, metrics::Metrics};

/// Arguments of `platen render`.
#[derive(Debug, Args)]
pub struct RenderArguments {
    /// The template.
    file: PathBuf,
    /// The template's kind: html, ejs, framework.
    #[arg(long = "type", value_name = "TYPE")]
    kind: String,
    /// The JSON data; `{}` when there is none.
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// Where the document goes; its extension is the target.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// formatOpts as a JSON object.
    #[arg(long, value_name = "FILE")]
    opts: Option<PathBuf>,
}

/// Renders one document; prints its path, warnings go to stderr.
///
/// # Errors
/// When an argument is wrong, a file cannot be read or written, or the render fails.
pub fn run(config: Config, arguments: &RenderArguments) -> Result<ExitCode, CommandError> {
    telemetry::install(&config.log);
    let input = input_of(arguments, &config)?;
    let document = actix::System::new().block_on(render(config, input))?;
    std::fs::write(&arguments.output, document)
        .map_err(|error| format!("cannot write {}: {error}", arguments.output.display()))?;
    say(&arguments.output.display().to_string())?;
    Ok(ExitCode::SUCCESS)
}

fn input_of(arguments: &RenderArguments, config: &Config) -> Result<RunInput, CommandError> {
    let kind = TemplateKind::from_name(&arguments.kind)
        .ok_or_else(|| format!("--type {} is unknown; write html, ejs or framework", arguments.kind))?;
    let extension = arguments.output.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let target = Target::from_name(extension)
        .ok_or_else(|| format!("-o {}: the extension must name the target", arguments.output.display()))?;
    if engines::plan(kind, target).is_none() {
        let possible: Vec<_> = engines::targets_of(kind).into_iter().map(Target::name).collect();
        let (kind, target, possible) = (kind.name(), target.name(), possible.join(", "));
        return Err(format!("{kind} cannot become {target}; it can become: {possible}").into());
    }
    let data = arguments.data.as_deref().map(read).transpose()?;
    let options = arguments.opts.as_deref().map(|file| read_options(file, target, config)).transpose()?;
    Ok(RunInput {
        account: AccountId::generate(),
        job: JobId::generate(),
        kind,
        target,
        options: options.unwrap_or_default(),
        held: Held { data, template: Some(read(&arguments.file)?) },
        given: InputSet::default(),
        deliver_to: None,
    })
}

fn read_options(file: &Path, target: Target, config: &Config) -> Result<PageOptions, CommandError> {
    let raw: Box<RawValue> = serde_json::from_slice(&read(file)?)
        .map_err(|error| format!("{} is not JSON: {error}", file.display()))?;
    let reading = format_opts::read(&raw, &OptionLimits::of(&config.browser));
    for warning in reading.warnings(target) {
        complain(&format!("warning: {warning}"));
    }
    if reading.faults.is_empty() {
        return Ok(reading.options);
    }
    let told: Vec<_> =
        reading.faults.iter().map(|fault| format!("{}: {}", fault.pointer, fault.detail)).collect();
    Err(told.join("; ").into())
}

fn read(file: &Path) -> Result<Bytes, CommandError> {
    let bytes = std::fs::read(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    Ok(Bytes::from(bytes))
}

async fn render(config: Config, input: RunInput) -> Result<Bytes, CommandError> {
    let folder = Scratch::make()?;
    let store: Arc<dyn ObjectStore> = Arc::new(DiskStore::open(folder.0.clone()).await?);
    let arbiter = Arbiter::new();
    let outbound = Outbound::new(config.outbound.clone(), &[], Arc::new(SystemResolver));
    let basis = Basis {
        executable: std::env::current_exe()?,
        store: store.clone(),
        outbound,
        metrics: Metrics::new(),
    };
    let engines = Engines::start(basis, &config, &arbiter.handle())?;
    let key = StorageKey::JobOutput(input.account, input.job, input.target);
    let end = pipeline::run(&engines.parts, input, || ()).await;
    end.warnings.lines().iter().for_each(|warning| complain(&format!("warning: {warning}")));
    engines.pool.send(ShutDown).await?;
    arbiter.stop();
    if let Some(fault) = end.fault {
        return Err(fault.into());
    }
    Ok(store.get(&key, config.storage.output_limit_bytes).await?)
}

/// A folder of its own, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn make() -> Result<Self, CommandError> {
        let folder = std::env::temp_dir().join(format!("platen-render-{}", JobId::generate()));
        std::fs::create_dir(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
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
