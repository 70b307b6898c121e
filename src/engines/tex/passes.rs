//! The passes of one document: TeX runs again until references and lists do not change any more.

use std::io::{self, Read as _, Seek as _, SeekFrom};

use bytes::Bytes;
use tex_log::{Remark, Report};

use super::errors::{self, TexError};
use super::first_file;
use super::folder::Folder;
use super::list_program::{List, RunOutput};
use super::lists::Lists;
use super::needs;
use super::session::TexSession;
use crate::domain::format_opts::TexProgram;
use crate::engines::error::EngineError;
use crate::thread;
use crate::workers::{Finished, Input, Output, OutputError, ProgramRun};

/// How much of a log is read, from its end, where the error is.
const LOG_BYTES: u64 = 8 << 20;
/// The longest `.aux` that is compared with that of the run before.
const REFERENCES_BYTES: u64 = 16 << 20;
/// Extensions of lists that the next run reads, for which TeX does not always ask for a rerun.
const LISTS: [&str; 5] = ["toc", "lof", "lot", "out", "nav"];
/// In an `.aux`: a picture needs its position on the page, which takes a second run; the log does not say so.
const POSITIONS: &[u8] = b"\\pgfsyspdfmark";

/// A document that TeX has made.
pub(super) struct TypesetDocument {
    /// The folder with the file in it.
    pub finished: Finished,
    /// The log of the last run.
    pub report: Report,
    /// Messages about bibliographies and indexes.
    pub remarks: Vec<Remark>,
    /// Whether another run would have changed something.
    pub is_unsettled: bool,
}

/// Runs `program` until the references are right, at most `tex.runs_limit` times. `content` is that of the file which TeX
/// reads first; `cache` are font caches.
pub(super) async fn make(
    session: &TexSession<'_>,
    program: TexProgram,
    content: String,
    cache: &[(String, Bytes)],
) -> Result<TypesetDocument, TexError> {
    let files = session.folder.files().into_iter().chain(cache.iter().cloned());
    let own = [
        (first_file::name(), Bytes::from(content)),
        (first_file::start_name(), Bytes::from_static(first_file::START.as_bytes())),
        (first_file::scripts_name(), Bytes::from_static(first_file::SCRIPTS.as_bytes())),
    ];
    let files = files.chain(own);
    let inputs = files.map(|(name, content)| Input::bytes(name, content)).collect();
    let first = ProgramRun { inputs, ..session.tex(program)? };
    let mut finished = session.programs.run(first).await.map_err(|error| session.tex_error(&error))?;
    let (mut references, mut count, mut lists) = (Bytes::new(), 1, Lists::default());
    loop {
        let read = RunResult::read(session.folder, finished, (lists, count, references));
        let read = thread::on_blocking_thread(read).await.map_err(EngineError::from)??;
        let RunResult { mut report, wanted, is_unsettled, .. } = read;
        (finished, lists, references) = (read.finished, read.lists, read.references);
        if !finished.status.success() {
            let error = (!report.errors.is_empty()).then(|| report.errors.swap_remove(0));
            return Err(error.map_or_else(
                || TexError::Step(errors::ended_without_error(program, finished.status)),
                |error| TexError::Document(Box::new(error)),
            ));
        }
        if !is_unsettled || count >= session.config.runs_limit {
            let finished = converted(session, program, finished).await?;
            return Ok(TypesetDocument { finished, report, remarks: lists.into_remarks(), is_unsettled });
        }
        finished = lists.make(session, finished, wanted).await?;
        count += 1;
        finished = session.then(finished, session.tex(program)?).await?;
    }
}

/// A run of TeX, and what it has written.
struct RunResult {
    finished: Finished,
    report: Report,
    lists: Lists,
    /// The `.aux`, which the next run reads; empty where it cannot be read or is too long, and then counts as unchanged.
    references: Bytes,
    /// The lists that are to be made before the next run.
    wanted: Vec<List>,
    /// Whether another run would change something.
    is_unsettled: bool,
}

impl RunResult {
    /// Reads what a run has written, on a blocking thread: the document decides how long it is. `count` and `before` are the
    /// number of this run and the `.aux` of the one before.
    fn read(
        folder: &Folder<'_>,
        finished: Finished,
        (lists, count, before): (Lists, u64, Bytes),
    ) -> impl FnOnce() -> Result<Self, EngineError> + Send + 'static {
        let (site, name) = (folder.site().clone(), folder.name.clone());
        move || {
            let folder = Folder::named(&site, name);
            let report = read_report(&folder.name, &finished)?;
            let references =
                finished.read_blocking(&format!("{}.aux", folder.name), REFERENCES_BYTES).unwrap_or_default();
            let aux = references.clone();
            let output = RunOutput { folder: &folder, finished: &finished, report: &report, aux };
            let wanted = if finished.status.success() { lists.wanted(&output) } else { Vec::new() };
            let is_unsettled = !wanted.is_empty()
                || is_unsettled(&folder.name, &finished, &report, count, (&*before, &*references));
            Ok(Self { finished, report, lists, references, wanted, is_unsettled })
        }
    }
}

/// Converts xelatex's pages to PDF. xelatex would start the converter itself, by a shell, which the sandbox refuses.
async fn converted(
    session: &TexSession<'_>,
    program: TexProgram,
    finished: Finished,
) -> Result<Finished, TexError> {
    if program != TexProgram::Xelatex {
        return Ok(finished);
    }
    let name = &session.folder.name;
    let arguments = ["-q", "-E", "-o", &format!("{name}.pdf"), &format!("{name}.xdv")];
    let run = session.run(needs::XDVIPDFMX.path(), arguments.map(str::to_owned).to_vec())?;
    let finished = session.then(finished, run).await?;
    if finished.status.success() {
        return Ok(finished);
    }
    Err(errors::not_converted(&finished).into())
}

/// Whether another run would change something: TeX asks for one, the first run wrote a list, or the references changed.
fn is_unsettled(
    name: &str,
    finished: &Finished,
    report: &Report,
    count: u64,
    (before, now): (&[u8], &[u8]),
) -> bool {
    let is_there = |extension: &&str| {
        let file = finished.open(&format!("{name}.{extension}"), u64::MAX);
        file.is_ok_and(|file| file.bytes > 0)
    };
    let is_first = count == 1;
    report.needs.rerun
        || (is_first && LISTS.iter().any(is_there))
        || (is_first && memchr::memmem::find(now, POSITIONS).is_some())
        || (!is_first && before != now)
}

fn read_report(name: &str, finished: &Finished) -> Result<Report, EngineError> {
    let name = format!("{name}.log");
    let broken = |error: &dyn std::fmt::Display| EngineError::internal(&format!("{name}: {error}"));
    match finished.open(&name, u64::MAX) {
        Ok(output) => Ok(tex_log::read(&end_of(output).map_err(|error| broken(&error))?)),
        // TeX ended before it opened a log.
        Err(OutputError::Missing) => Ok(tex_log::read(&finished.stdout)),
        Err(error) => Err(broken(&error)),
    }
}

/// The last bytes of a file.
fn end_of(Output { mut file, bytes }: Output) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(bytes.saturating_sub(LOG_BYTES)))?;
    let mut end = Vec::new();
    file.take(LOG_BYTES).read_to_end(&mut end)?;
    Ok(end)
}
