//! `platen raster-child`: the child's side.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use pdf_raster::{Artist, Document, Fonts, Format, RasterError, Resolution};
use slide_writer::{Deck, Slide};
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::{COMMAND, DOCUMENT, PART_LIMIT_BYTES, RasterJob, RasterLimits, RasterOutput, Rastered};
use crate::workers::child::{self, ChildMessage, FileReply, Memory};

/// A deeply nested document needs more than the usual 8 MB; beyond this the process dies.
const STACK_BYTES: u64 = 64 << 20;

/// A child whose memory ever grew by more than this ends after its job: it would hold that memory while idle.
const KEPT_GROWTH_BYTES: u64 = 192 << 20;

/// The longer side of a picture where no resolution is given: that of a large screen.
const SHARP_PIXELS: u16 = 2_400;

/// Why a job has no pictures.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
enum Failure {
    Document(#[from] RasterError),
    Pipe(#[from] io::Error),
    Archive(#[from] ZipError),
}

/// Sends what is written to it as parts.
struct Parts;

/// Runs `platen raster-child <limits>`.
pub fn run(arguments: &[OsString]) -> ExitCode {
    child::run(&format!("platen {COMMAND}"), arguments, |limits| serve(&limits))
}

fn serve(limits: &RasterLimits) -> Result<(), String> {
    child::hide()?;
    let fonts = Arc::new(Fonts::in_folders(&limits.font_dirs));
    raise_stack()?;
    let memory = Memory::bound(limits.memory_bytes)?;
    child::compute_only()?;
    while let Some((job, _)) = child::next_job()? {
        let done = make(limits, &fonts, &job).unwrap_or_else(|failure| match failure {
            Failure::Document(error) => Rastered::Failed(error),
            Failure::Pipe(_) | Failure::Archive(_) => Rastered::Broken(failure.to_string()),
        });
        child::send(&ChildMessage::Done(done), b"")?;
        if memory.has_grown(KEPT_GROWTH_BYTES) {
            break;
        }
    }
    Ok(())
}

fn make(limits: &RasterLimits, fonts: &Arc<Fonts>, job: &RasterJob) -> Result<Rastered, Failure> {
    let document = Document::open(receive()?)?;
    let pages = document.pick(&job.selection, limits.pages)?;
    let mut artist = Artist::new(&document, fonts, limits.picture_pixels);
    match (job.output, pages.as_slice()) {
        (RasterOutput::Slides, pages) => slides(&mut artist, pages, job.dpi)?,
        (RasterOutput::Pictures(format), [page]) => {
            let picture = artist.picture(*page, resolution(&artist, *page, job.dpi)?, format)?;
            Parts.write_all(&picture)?;
        }
        (RasterOutput::Pictures(format), pages) => {
            let width = document.page_count().to_string().len();
            let mut archive = ZipWriter::new_stream(Parts);
            // Pictures are compressed already.
            let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
            for page in pages {
                let picture = artist.picture(*page, resolution(&artist, *page, job.dpi)?, format)?;
                archive.start_file(format!("page-{page:0width$}.{}", format.extension()), stored)?;
                archive.write_all(&picture)?;
            }
            archive.finish()?;
        }
    }
    let pictures = u32::try_from(pages.len()).unwrap_or(u32::MAX);
    Ok(Rastered::Made { pages: document.page_count(), pictures, warnings: artist.warnings() })
}

/// Writes a presentation of these pages; slides are as large as the first one.
fn slides(artist: &mut Artist<'_>, pages: &[u32], dpi: Option<u16>) -> Result<(), Failure> {
    let first = pages.first().copied().unwrap_or(1);
    let count = u32::try_from(pages.len()).unwrap_or(u32::MAX);
    let mut deck = Deck::begin(Parts, artist.size(first)?, count)?;
    for &page in pages {
        let picture = artist.picture(page, resolution(artist, page, dpi)?, Format::Png)?;
        let (name, text) = (format!("Page {page}"), artist.text(page)?);
        deck.slide(&Slide { name: &name, picture: &picture, size: artist.size(page)?, text: &text })?;
    }
    deck.finish()?;
    Ok(())
}

fn resolution(artist: &Artist<'_>, page: u32, dpi: Option<u16>) -> Result<Resolution, Failure> {
    Ok(match dpi {
        Some(dpi) => Resolution::of_dpi(dpi),
        None => Resolution::of_side(artist.size(page)?, SHARP_PIXELS),
    })
}

/// The document, chunk by chunk.
fn receive() -> Result<Vec<u8>, Failure> {
    let mut document = Vec::new();
    loop {
        match child::request_file(DOCUMENT).map_err(io::Error::other)? {
            (FileReply::File { .. }, chunk) if chunk.is_empty() => return Ok(document),
            (FileReply::File { .. }, chunk) => document.extend_from_slice(&chunk),
            (FileReply::Refused(why), _) => return Err(io::Error::other(why).into()),
        }
    }
}

/// Raises the stack's limit, as far as the system allows.
fn raise_stack() -> Result<(), String> {
    let not_raised = |errno| format!("cannot raise the limit of its stack: {errno}");
    let (now, most) = getrlimit(Resource::RLIMIT_STACK).map_err(not_raised)?;
    setrlimit(Resource::RLIMIT_STACK, STACK_BYTES.min(most).max(now), most).map_err(not_raised)
}

impl Write for Parts {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.chunks(PART_LIMIT_BYTES) {
            child::send(&ChildMessage::<()>::Part, part).map_err(io::Error::other)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
