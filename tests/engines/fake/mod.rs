//! A fake engine, in the form of a folder of `src/engines`: LaTeX that a shell program makes shout.
//!
//! `latex` is filled with its data (a docx, as far as anybody is told), set (a PDF whose letters are upper case) and
//! pictured; where there is more than one page, the pictures are an archive. A PDF gets an outline where it is asked for.

use std::io;
use std::path::Path;
use std::process::Stdio;

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use platen::domain::fault::{FaultCode, JobFault};
use platen::domain::kinds::{FileKind, TemplateKind};
use platen::engines::Engine;
use platen::engines::document::{Document, DocumentKind};
use platen::engines::plan::Ability;
use platen::engines::requirement::{Numbers, Requirement, Version};
use platen::engines::step::{Sink, Step, StepContext, StepFault, StepKind, StepRunner};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{ChildStdin, ChildStdout, Command};

/// Where the program lies. The tests install it and take it away.
pub const PROGRAM: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/fake-engine/press");

/// The engine.
pub const ENGINE: Engine = Engine {
    name: "fake",
    abilities: &[
        Ability {
            step: StepKind::Assemble,
            from: DocumentKind::Template(TemplateKind::Latex),
            to: DocumentKind::File(FileKind::Docx),
            cost: 1,
            heeds: &[&["delimiters"]],
            asked_by: None,
        },
        Ability {
            step: StepKind::Convert,
            from: DocumentKind::File(FileKind::Docx),
            to: DocumentKind::File(FileKind::Pdf),
            cost: 2,
            heeds: &[&["engine"]],
            asked_by: None,
        },
        Ability {
            step: StepKind::Raster,
            from: DocumentKind::File(FileKind::Pdf),
            to: DocumentKind::File(FileKind::Png),
            cost: 2,
            heeds: &[&["dpi"]],
            asked_by: None,
        },
        Ability {
            step: StepKind::Finish,
            from: DocumentKind::File(FileKind::Pdf),
            to: DocumentKind::File(FileKind::Pdf),
            cost: 1,
            heeds: &[&["outline"]],
            asked_by: Some(|options| options.extras.outline),
        },
    ],
    requires: &[Requirement {
        name: "The press",
        programs: &["/nowhere/press", PROGRAM],
        version: Some(Version { arguments: &["version"], least: Numbers(2, 1) }),
        package: "fake-press",
        command: "scripts/setup --press",
    }],
    fenced: true,
    start: |_| Box::new(Press),
};

struct Press;

#[async_trait(?Send)]
impl StepRunner for Press {
    async fn run(
        &self,
        step: &Step,
        job: &mut StepContext<'_>,
        input: Document,
    ) -> Result<Document, StepFault> {
        let (file, pages) = (step.file()?, input.pages);
        match step.kind {
            StepKind::Assemble => fill(job, input, file).await,
            StepKind::Convert => press("set", job, input, file).await,
            StepKind::Raster => {
                let made = if pages > Some(1) { FileKind::Zip } else { file };
                press("pictures", job, input, made).await
            }
            // One page needs no outline.
            StepKind::Finish if pages == Some(1) => Ok(input),
            StepKind::Finish => press("outline", job, input, file).await,
            StepKind::Print | StepKind::Picture | StepKind::Snapshot => {
                panic!("the fake has no such ability")
            }
        }
    }
}

/// Puts the data's `name` into the template.
async fn fill(job: &mut StepContext<'_>, input: Document, file: FileKind) -> Result<Document, StepFault> {
    let site = input.into_template()?;
    let text = String::from_utf8_lossy(site.page().expect("a template has an entry")).into_owned();
    let data: serde_json::Value = serde_json::from_slice(job.data).expect("data is complete JSON");
    let Some(name) = data["name"].as_str() else {
        return Err(JobFault::new(FaultCode::TemplateError, "the data has no name").into());
    };
    let mut sink = job.outlet.open().await?;
    sink.write(Bytes::from(text.replace("{{name}}", name))).await?;
    sink.finish(file, None).await
}

/// Has the program do `order` to the document, which streams through it.
async fn press(
    order: &str,
    job: &mut StepContext<'_>,
    input: Document,
    file: FileKind,
) -> Result<Document, StepFault> {
    let mut program = Command::new(Path::new(PROGRAM));
    program.arg(order).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = program.spawn().map_err(|error| StepFault::NotStarted(error.to_string()))?;
    let (stdin, stdout) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
    let mut sink = job.outlet.open().await?;
    let (fed, taken) = tokio::join!(feed(stdin, input), take(stdout, &mut sink));
    fed?;
    let breaks = taken?;
    assert!(child.wait().await.expect("it ends").success(), "press {order}");
    sink.finish(file, Some(breaks + 1)).await
}

async fn feed(mut stdin: ChildStdin, input: Document) -> Result<(), StepFault> {
    let mut chunks = input.into_chunks()?;
    while let Some(chunk) = chunks.next().await {
        stdin.write_all(&chunk.expect("the work place is read")).await.map_err(|error| lost(&error))?;
    }
    Ok(())
}

/// Answers how many page breaks came by.
async fn take(mut stdout: ChildStdout, sink: &mut Sink) -> Result<u32, StepFault> {
    let mut breaks = 0;
    loop {
        let mut chunk = BytesMut::with_capacity(4 << 10);
        if stdout.read_buf(&mut chunk).await.map_err(|error| lost(&error))? == 0 {
            return Ok(breaks);
        }
        breaks += u32::try_from(memchr::memchr_iter(b'\x0c', &chunk).count()).unwrap_or(u32::MAX);
        sink.write(chunk.freeze()).await?;
    }
}

fn lost(error: &io::Error) -> StepFault {
    JobFault::new(FaultCode::Internal, format!("the press: {error}")).into()
}
