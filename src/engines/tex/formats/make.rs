//! Dumps a preamble as a format of TeX, and tests that pages made with it are the same as without.
//!
//! Hazard: data of one job in a format would appear in other documents. So all runs see the template's own files only.
//! The test typesets two pages with and without the format: one of ours, and the template with plain values in place of
//! data. Every file that TeX writes must be equal. The format is dumped under another date than the pages are made: a
//! preamble that stores the date gives different pages, and no format.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use super::super::folder::Folder;
use super::super::{NAME, first_file, needs};
use super::preamble::{self, Preamble};
use super::{RunSetting, arguments, base, profile};
use crate::domain::format_opts::TexProgram;
use crate::domain::site::Site;
use crate::engines::program;
use crate::thread;
use crate::workers::{Bounds, Finished, Input, ProgramError, ProgramRun, SharedFile};

const AHEAD: &str = include_str!("../../../../assets/tex/ahead.tex");
const DUMP: &str = include_str!("../../../../assets/tex/dump.tex");
const PAGE: &str = include_str!("../../../../assets/tex/page.tex");
/// Without this the PDF's identifier depends on the folder's name, and equal pages differ.
const IDENTIFIER: &str = "\\pdftrailerid{}\n";

/// Time for making and testing a format.
const TIMEOUT: Duration = Duration::from_mins(2);
/// The day of the dump and the one of the pages, in seconds since 1970: no part of their dates is the same.
const DUMP_DAY: &str = "981173106";
const PAGE_DAY: &str = "1735646461";
const ZONE: &str = "UTC";
/// Options of every run; `-recorder` lists the files that TeX writes.
const ARGUMENTS: [&str; 4] = ["-no-shell-escape", "-interaction=batchmode", "-halt-on-error", "-recorder"];
/// The longest file that is compared.
const FILE_BYTES: u64 = 64 << 20;
/// The longest list of files, most names read from it, and most files of a page.
const NOTES_BYTES: u64 = 4 << 20;
const NAMES: usize = 10_000;
const FILES: usize = 100;
/// Extensions of files about the run itself, which always differ.
const NOTES: [&str; 2] = ["log", "fls"];

pub(super) struct FormatRequest {
    pub setting: RunSetting,
    /// The template without any job's page.
    pub site: Site,
    /// TeX's job name.
    pub name: String,
    /// The template's text.
    pub template: String,
    /// The part of it that is dumped.
    pub preamble: Preamble,
    /// A longer format is refused.
    pub limit_bytes: u64,
}

/// Why there is no format. The messages name nothing of the template: they are logged.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    #[error("a file of the template leaves what a format does not keep")]
    Lost,
    #[error("TeX does not get through the preamble by itself")]
    Unread,
    #[error("it cannot be written: {0}")]
    Unwritten(ProgramError),
    #[error("neither of the pages can be made by which it is tried")]
    Untried,
    #[error("a page is another one with it")]
    Different,
    #[error("a run of TeX failed: {0}")]
    Failed(#[from] ProgramError),
}

/// What the runs read. Made on a blocking thread: template and packages may be long.
struct Sources {
    /// The files that the preamble may read.
    read: Vec<(String, Bytes)>,
    /// The page of ours, and the template's own.
    pages: [SamplePage; 2],
}

/// A page of the test.
struct SamplePage {
    whole: String,
    /// The same without what the format holds.
    left: String,
}

impl FormatRequest {
    /// Makes the format and tests it.
    pub async fn make(self: &Arc<Self>) -> Result<SharedFile, Refusal> {
        let until = Instant::now() + TIMEOUT;
        let own = Arc::clone(self);
        let sources = thread::on_blocking_thread(move || own.sources()).await;
        let Sources { read, pages: [of_ours, of_template] } = sources.ok().flatten().ok_or(Refusal::Lost)?;
        let folder = self.folder(&self.site);
        let first = format!("{}{AHEAD}{}{DUMP}", self.setting.prelude, self.preamble.text);
        let own = ["-ini".to_owned(), "-progname=pdflatex".to_owned()];
        let last = ["&pdflatex".to_owned()];
        let dump = self.run(&folder, (own.into(), last.into()), (read, first), (DUMP_DAY, until));
        let dumped = self.setting.programs.run(dump).await?;
        let packed = dumped.open(&format!("{}.{}", folder.name, base::EXTENSION), self.limit_bytes);
        let packed = packed.ok().filter(|_| dumped.status.success()).ok_or(Refusal::Unread)?;
        let limit_bytes = self.limit_bytes;
        let written = self
            .setting
            .programs
            .share(base::EXTENSION, move |file| base::unpack(packed.file, file, limit_bytes));
        let format = written.await.map_err(Refusal::Unwritten)?;
        // Only the template's own page shows whether moving a line behind the preamble changes anything.
        let is_tried = self.is_same(&format, of_ours, until).await? && !self.preamble.is_reordered();
        let is_tried = self.is_same(&format, of_template, until).await? || is_tried;
        if is_tried { Ok(format) } else { Err(Refusal::Untried) }
    }

    /// `None` where a file of the template leaves what a format does not keep.
    fn sources(&self) -> Option<Sources> {
        let read = readable(&self.folder(&self.site));
        let is_lost = |content: &Bytes| preamble::has_undumpable(&String::from_utf8_lossy(content));
        if read.iter().any(|(_, content)| is_lost(content)) {
            return None;
        }
        let Self { template, preamble, .. } = self;
        let page = |whole: String| SamplePage { left: preamble.left_of(&whole), whole };
        let of_ours = format!("{}{PAGE}", preamble.sample(preamble.head_of(template)));
        Some(Sources { read, pages: [of_ours, preamble.sample(template)].map(page) })
    }

    fn folder<'s>(&self, site: &'s Site) -> Folder<'s> {
        Folder::named(site, self.name.clone())
    }

    /// Typesets a page with and without the format; false where that fails without.
    async fn is_same(
        &self,
        format: &SharedFile,
        SamplePage { whole, left }: SamplePage,
        until: Instant,
    ) -> Result<bool, Refusal> {
        let Some(without) =
            self.page(self.setting.base.as_deref(), (self.setting.prelude, whole), until).await?
        else {
            return Ok(false);
        };
        let with = self.page(Some(format), (first_file::AFTER_FORMAT, left), until).await?;
        if with.is_some_and(|with| with == without) { Ok(true) } else { Err(Refusal::Different) }
    }

    /// Hashes of the files that TeX writes for `source`; `None` where it fails.
    async fn page(
        &self,
        format: Option<&SharedFile>,
        (prelude, source): (&str, String),
        until: Instant,
    ) -> Result<Option<Vec<(String, Digest)>>, Refusal> {
        let site = self.site.clone().with_page(source.into());
        let folder = self.folder(&site);
        let first = format!("{prelude}{IDENTIFIER}\\input{{{}}}\n", folder.source_name());
        let own = format.map(|format| arguments(TexProgram::Pdflatex, format)).unwrap_or_default();
        let run = self.run(&folder, (own, Vec::new()), (folder.files(), first), (PAGE_DAY, until));
        let run = match format {
            Some(format) => ProgramRun { profile: Arc::new(profile(&self.setting.profile, format)), ..run },
            None => run,
        };
        let finished = self.setting.programs.run(run).await?;
        if !finished.status.success() {
            return Ok(None);
        }
        Ok(written(&finished, &folder.name).await)
    }

    fn run(
        &self,
        folder: &Folder<'_>,
        (own, last): (Vec<String>, Vec<String>),
        (files, first): (Vec<(String, Bytes)>, String),
        (day, until): (&str, Instant),
    ) -> ProgramRun {
        let name = format!("-jobname={}", folder.name);
        let fixed = own.into_iter().chain(ARGUMENTS.map(str::to_owned)).chain([name]);
        let arguments = fixed.chain(last).chain([format!("\\input{{{}}}", first_file::name())]).collect();
        let files = files.into_iter().chain([(first_file::name(), Bytes::from(first))]);
        let mut environment = needs::environment(ZONE);
        environment.extend(program::environment([("SOURCE_DATE_EPOCH", day), ("FORCE_SOURCE_DATE", "1")]));
        ProgramRun {
            name: NAME,
            program: needs::of(TexProgram::Pdflatex).path(),
            arguments,
            environment,
            profile: Arc::clone(&self.setting.profile),
            inputs: files.map(|(name, content)| Input::bytes(name, content)).collect(),
            bounds: Bounds {
                deadline: until.saturating_duration_since(Instant::now()),
                ..self.setting.bounds
            },
            way: None,
        }
    }
}

/// The hash of a file's content.
type Digest = [u8; 32];

/// The files of the template, but the source, that a preamble may read.
pub(super) fn readable(folder: &Folder<'_>) -> Vec<(String, Bytes)> {
    let source = folder.source_name();
    let is_read = |name: &str| {
        let extension = name.rsplit_once('.').map(|(_, extension)| extension);
        *name != *source && extension.is_some_and(|extension| READ.contains(&extension))
    };
    folder.files().into_iter().filter(|(name, _)| is_read(name)).collect()
}

/// Extensions of classes, packages and what they read. Other files are missing when the format is dumped, so a preamble that
/// reads one gets no format.
const READ: [&str; 16] = [
    "tex", "sty", "cls", "clo", "def", "cfg", "ldf", "fd", "ltx", "tikz", "lbx", "bbx", "cbx", "dbx", "tfm",
    "dict",
];

/// Names and hashes of the files that a run has written; `None` where one cannot be read, or there are too many.
async fn written(finished: &Finished, name: &str) -> Option<Vec<(String, Digest)>> {
    let notes = finished.read(&format!("{name}.fls"), NOTES_BYTES).await.ok()?;
    let notes = String::from_utf8_lossy(&notes);
    // `./a//b` and `a/b` are one file.
    let plain =
        |file: &str| file.split('/').filter(|part| !matches!(*part, "" | ".")).collect::<Vec<_>>().join("/");
    let names: BTreeSet<String> =
        notes.lines().filter_map(|line| line.strip_prefix("OUTPUT ")).take(NAMES).map(plain).collect();
    let is_note = |file: &str| NOTES.iter().any(|note| file.strip_suffix(note) == Some(&format!("{name}.")));
    if names.len() > FILES {
        return None;
    }
    let mut files = Vec::new();
    for file in names.into_iter().filter(|file| !is_note(file)) {
        let content = finished.read(&file, FILE_BYTES).await.ok()?;
        let hashed = thread::by_size(content.len(), move || Sha256::digest(&content).into()).await.ok()?;
        files.push((file, hashed));
    }
    Some(files)
}
