//! A fake engine, in the form of a folder of `src/engines`: LaTeX that a shell program writes in capitals.
//!
//! `latex` is filled with its data (declared as a docx), set (a PDF whose letters are upper case) and drawn; the pictures
//! of more than one page are an archive. A PDF gets an outline where it is asked for.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use bytes::Bytes;
use platen::domain::error::{ErrorCode, JobError};
use platen::domain::format_opts::{Key, KeySet};
use platen::domain::kinds::{FileKind, TemplateKind};
use platen::engines::document::{Document, DocumentKind};
use platen::engines::error::EngineError;
use platen::engines::plan::Ability;
use platen::engines::program::{ProgramSteps, input as program_input, output as program_output};
use platen::engines::requirement::{Install, Numbers, Part, Requirement, Version};
use platen::engines::runner::{StepContext, StepRunner};
use platen::engines::step::{Step, StepKind};
use platen::engines::{Engine, EngineContext};
use platen::workers::{ProgramRun, SandboxProfile};

/// The program's path. Every user that runs it must reach it, so it is in no home folder. The tests install and remove it.
pub static PROGRAM: LazyLock<&str> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("platen-press-{}", std::process::id()));
    folder.join("press").display().to_string().leak()
});

/// The program as it should be.
pub const PRESS: &str = include_str!("press.sh");

/// What the program and the shell that reads it are made of.
const MACHINE: [&str; 6] = ["/bin", "/usr/bin", "/lib", "/lib64", "/usr/lib", "/etc/ld.so.cache"];

/// What it can do.
pub const ABILITIES: &[Ability] = &[
    Ability {
        step: StepKind::Assemble,
        from: DocumentKind::Template(TemplateKind::Latex),
        to: DocumentKind::File(FileKind::Docx),
        cost: 1,
        heeds: KeySet::of(&[Key::Delimiters]),
        asked_by: None,
    },
    Ability {
        step: StepKind::Convert,
        from: DocumentKind::File(FileKind::Docx),
        to: DocumentKind::File(FileKind::Pdf),
        cost: 2,
        heeds: KeySet::of(&[Key::Engine]),
        asked_by: None,
    },
    Ability {
        step: StepKind::Raster,
        from: DocumentKind::File(FileKind::Pdf),
        to: DocumentKind::File(FileKind::Png),
        cost: 2,
        heeds: KeySet::of(&[Key::Dpi]),
        asked_by: None,
    },
    Ability {
        step: StepKind::Finish,
        from: DocumentKind::File(FileKind::Pdf),
        to: DocumentKind::File(FileKind::Pdf),
        cost: 1,
        heeds: KeySet::of(&[Key::Outline]),
        asked_by: Some(|options| options.extras.outline),
    },
    Ability {
        step: StepKind::Finish,
        from: DocumentKind::File(FileKind::Png),
        to: DocumentKind::File(FileKind::Png),
        cost: 1,
        heeds: KeySet::of(&[Key::FullPage]),
        asked_by: Some(|options| options.picture.full_page),
    },
];

/// Programs at once, for one account.
const SLOTS: usize = 1;

/// Ours but those that make documents of LaTeX, whose place this one takes.
pub fn others() -> Vec<Engine> {
    platen::engines::all().into_iter().filter(|engine| !["tex", "pandoc"].contains(&engine.name)).collect()
}

/// The engine. A constant, where a program's place is known when it is compiled.
pub fn engine() -> Engine {
    let requirement = Requirement {
        name: "The press",
        part: Part::Program,
        paths: Box::leak(Box::new(["/nowhere/press", *PROGRAM])),
        version: Some(Version { arguments: &["version"], least: Numbers(2, 1) }),
        install: Install::Command("scripts/setup --press"),
    };
    Engine {
        name: "fake",
        abilities: ABILITIES,
        requires: Box::leak(Box::new([requirement])),
        reads_files: true,
        slots: Some(SLOTS),
        start: |context| Box::new(Press::new(context)),
    }
}

struct Press {
    steps: ProgramSteps,
    profile: Arc<SandboxProfile>,
}

impl Press {
    fn new(context: &EngineContext<'_>) -> Self {
        let execute = MACHINE.into_iter().chain([*PROGRAM]).map(PathBuf::from).collect();
        let profile = SandboxProfile {
            execute,
            write: vec![PathBuf::from("/dev/null")],
            yields: true,
            ..SandboxProfile::default()
        };
        let slots = context.budget.slots_of("fake", SLOTS);
        Self { steps: ProgramSteps { programs: context.programs.clone(), slots }, profile: Arc::new(profile) }
    }

    /// Has the program do `order` to the document.
    async fn press(
        &self,
        order: &str,
        job: &StepContext<'_>,
        document: Document,
        file: FileKind,
    ) -> Result<Document, EngineError> {
        let run = ProgramRun {
            name: "press",
            program: PathBuf::from(*PROGRAM),
            arguments: [order, "in", "out"].map(str::to_owned).to_vec(),
            environment: BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]),
            profile: Arc::clone(&self.profile),
            inputs: vec![program_input("in", document)?],
            bounds: self.steps.programs.bounds(),
            way: None,
        };
        let finished = self.steps.run(job, 1, run).await?;
        if !finished.status.success() && !Path::new(*PROGRAM).exists() {
            // Taken away between its start and the shell's look at it. Shells end such a run with 2 or with 127.
            return Err(EngineError::NotStarted("the press is gone".to_owned()));
        }
        assert!(finished.status.success(), "press {order}: {finished:?}");
        let breaks: u32 = String::from_utf8_lossy(&finished.stdout).trim().parse().expect("a number");
        program_output(&finished, "out", &job.outlet, (file, Some(breaks + 1))).await
    }
}

#[async_trait(?Send)]
impl StepRunner for Press {
    async fn run(
        &self,
        step: &Step,
        job: &mut StepContext<'_>,
        input: Document,
    ) -> Result<Document, EngineError> {
        let (file, pages) = (step.file()?, input.pages);
        match step.kind {
            StepKind::Assemble => fill(job, input, file).await,
            StepKind::Convert => self.press("set", job, input, file).await,
            StepKind::Raster => {
                let made = if pages > Some(1) { FileKind::Zip } else { file };
                self.press("pictures", job, input, made).await
            }
            // One page needs no outline.
            StepKind::Finish if pages == Some(1) && file == FileKind::Pdf => Ok(input),
            StepKind::Finish => self.press("outline", job, input, file).await,
            StepKind::Print | StepKind::Picture | StepKind::Snapshot => {
                panic!("the fake has no such ability")
            }
        }
    }
}

/// Puts the data's `name` into the template.
async fn fill(job: &mut StepContext<'_>, input: Document, file: FileKind) -> Result<Document, EngineError> {
    let site = input.into_template()?;
    let text = String::from_utf8_lossy(site.page().expect("a template has an entry")).into_owned();
    let data: serde_json::Value = serde_json::from_slice(job.data).expect("data is complete JSON");
    let Some(name) = data["name"].as_str() else {
        return Err(JobError::new(ErrorCode::TemplateError, "the data has no name").into());
    };
    let mut sink = job.outlet.open().await?;
    sink.write(Bytes::from(text.replace("{{name}}", name))).await?;
    sink.finish(file, None).await
}

/// Puts a program into the press' place, in one step: one that is being started is whole.
pub fn install(program: &str) {
    let (press, new) = (Path::new(*PROGRAM), Path::new(*PROGRAM).with_extension("new"));
    let folder = press.parent().expect("it has a folder");
    std::fs::create_dir_all(folder).expect("there is a folder for temporary files");
    std::fs::set_permissions(folder, Permissions::from_mode(0o755)).expect("it is ours");
    std::fs::write(&new, program).expect("it is ours");
    std::fs::set_permissions(&new, Permissions::from_mode(0o755)).expect("it is ours");
    std::fs::rename(&new, press).expect("it is ours");
}

/// Removes it.
pub fn uninstall() {
    let folder = Path::new(*PROGRAM).parent().expect("it has a folder");
    // It may never have been installed.
    let _ = std::fs::remove_dir_all(folder);
}
