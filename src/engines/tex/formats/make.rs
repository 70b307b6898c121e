//! Makes the format of a preamble, and looks whether pages stay what they are with it.
//!
//! All runs are of the template's own files, in the cage and without a job: no data is there that could come into a format.
//! Two pages are made with and without it, one of ours and the template's own with plain values in the place of data;
//! every file that TeX writes must be the same. The day of the dump is another one than that of the pages: what a
//! preamble notes of its day would be stale in a format, and shows.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use super::super::folder::Folder;
use super::super::{NAME, needs, opening};
use super::preamble::{self, Preamble};
use super::{Setting, arguments, base, profile};
use crate::domain::format_opts::TexProgram;
use crate::domain::site::Site;
use crate::engines::program;
use crate::workers::{Bounds, Finished, Input, ProgramError, ProgramRun, SharedFile};

const AHEAD: &str = include_str!("../../../../assets/tex/ahead.tex");
const DUMP: &str = include_str!("../../../../assets/tex/dump.tex");
const PAGE: &str = include_str!("../../../../assets/tex/page.tex");
/// Two PDFs of the same content have the same identifier only where it is not made of the folder's name.
const IDENTIFIER: &str = "\\pdftrailerid{}\n";

/// Until a format is made and tried.
const TIMEOUT: Duration = Duration::from_mins(2);
/// The day of the dump and the one of the pages, in seconds since 1970: no part of their dates is the same.
const DUMP_DAY: &str = "981173106";
const PAGE_DAY: &str = "1735646461";
/// Where it is that day.
const ZONE: &str = "UTC";
/// How TeX is told to run, and to note the names of what it writes.
const ARGUMENTS: [&str; 4] = ["-no-shell-escape", "-interaction=batchmode", "-halt-on-error", "-recorder"];
/// The longest file that is compared.
const FILE_BYTES: u64 = 64 << 20;
/// The longest list of files that is read, most names of it, and most files of a page.
const NOTES_BYTES: u64 = 4 << 20;
const NAMES: usize = 10_000;
const FILES: usize = 100;
/// What tells of the run, and differs.
const NOTES: [&str; 2] = ["log", "fls"];

/// A format to be made.
pub(super) struct FormatOrder {
    pub setting: Setting,
    /// The template, without a page of any job.
    pub site: Site,
    /// Its text.
    pub template: String,
    /// What is read ahead of it.
    pub preamble: Preamble,
    /// The longest that is kept.
    pub limit_bytes: u64,
}

/// Why there is no format. Of a word each: a log carries nothing of templates.
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

impl FormatOrder {
    /// The format.
    pub async fn made(&self) -> Result<SharedFile, Refusal> {
        let until = Instant::now() + TIMEOUT;
        let folder = Folder::of(&self.site);
        let read = readable(&folder);
        if read.iter().any(|(_, content)| preamble::is_lost(&String::from_utf8_lossy(content))) {
            return Err(Refusal::Lost);
        }
        let first = format!("{}{AHEAD}{}{DUMP}", self.setting.set, self.preamble.text);
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
        let Self { template, preamble, .. } = self;
        let of_ours = format!("{}{PAGE}", preamble.sample(preamble.head_of(template)));
        // Only the template's own page tells whether it matters that a line is read later than it stands.
        let is_tried = self.is_same(&format, of_ours, until).await? && !preamble.is_reordered();
        let is_tried = self.is_same(&format, preamble.sample(template), until).await? || is_tried;
        if is_tried { Ok(format) } else { Err(Refusal::Untried) }
    }

    /// Makes the page `source` with and without the format; false where it cannot be made without.
    async fn is_same(&self, format: &SharedFile, source: String, until: Instant) -> Result<bool, Refusal> {
        let left = self.preamble.left_of(&source);
        let Some(without) =
            self.page(self.setting.base.as_deref(), (self.setting.set, source), until).await?
        else {
            return Ok(false);
        };
        let with = self.page(Some(format), (opening::BEHIND, left), until).await?;
        if with.is_some_and(|with| with == without) { Ok(true) } else { Err(Refusal::Different) }
    }

    /// What TeX writes of a page; nothing where it fails.
    async fn page(
        &self,
        format: Option<&SharedFile>,
        (set, source): (&str, String),
        until: Instant,
    ) -> Result<Option<Vec<(String, Digest)>>, Refusal> {
        let site = self.site.clone().with_page(source.into());
        let folder = Folder::of(&site);
        let first = format!("{set}{IDENTIFIER}\\input{{{}}}\n", folder.source_name());
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
        let arguments = fixed.chain(last).chain([format!("\\input{{{}}}", opening::name())]).collect();
        let files = files.into_iter().chain([(opening::name(), Bytes::from(first))]);
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
        }
    }
}

/// A file's content, by its hash.
type Digest = [u8; 32];

/// The files of a folder that a preamble may read, which are what it is made of: the source is none of them.
pub(super) fn readable(folder: &Folder<'_>) -> Vec<(String, Bytes)> {
    let source = folder.source_name();
    let is_read = |name: &str| {
        let extension = name.rsplit_once('.').map(|(_, extension)| extension);
        *name != *source && extension.is_some_and(|extension| READ.contains(&extension))
    };
    folder.files().into_iter().filter(|(name, _)| is_read(name)).collect()
}

/// What classes and packages are made of. A preamble that reads anything else has no format: it is not there.
const READ: [&str; 16] = [
    "tex", "sty", "cls", "clo", "def", "cfg", "ldf", "fd", "ltx", "tikz", "lbx", "bbx", "cbx", "dbx", "tfm",
    "dict",
];

/// Hashes of the files that a run has written, by their names; nothing where one cannot be read, or where there are many.
async fn written(finished: &Finished, name: &str) -> Option<Vec<(String, Digest)>> {
    let notes = finished.read(&format!("{name}.fls"), NOTES_BYTES).await.ok()?;
    let notes = String::from_utf8_lossy(&notes);
    // A document may write one file by many spellings of its name.
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
        files.push((file, Sha256::digest(&content).into()));
    }
    Some(files)
}
