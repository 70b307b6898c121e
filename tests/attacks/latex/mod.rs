//! Suites A, B, D and H for LaTeX: what a hostile document makes TeX read, write and run on this machine, how much it may
//! use, and what is left of it.

mod bounds;
mod lists;
mod pandoc;
mod tries;
mod values;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use self::tries::ATTACKS;
use crate::app::TestApp;
use crate::canary::Canary;
use crate::service::{archive, text_of};
use crate::table::{Outcome, report};

/// Text that is in the planted file only.
const SECRET: &str = "s3cretWordsOfTheMachine";
/// What begins the list of users, and may be in no document.
const USERS: &str = "root:x:0:0";

/// World-readable files of the machine, in a world-writable folder.
struct PlantedFiles(TempDir);

impl PlantedFiles {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        let planted = Self(folder);
        for (name, content) in [
            ("secret.tex", SECRET.to_owned()),
            ("secret.pdf", String::new()),
            ("secret.sty", format!("\\def\\secret{{{SECRET}}}")),
            (
                "secret.bib",
                format!("@book{{secret, title = {{{SECRET}}}, author = {{{SECRET}}}, year = 2000}}"),
            ),
            ("secret.ist", format!("preamble \"{SECRET}\"")),
        ] {
            let path = planted.path().join(name);
            std::fs::write(&path, content).unwrap();
            std::fs::set_permissions(&path, Permissions::from_mode(0o666)).unwrap();
        }
        planted
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// What was written, removed or changed there.
    fn changes(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort_unstable();
        let is_whole =
            std::fs::read_to_string(self.path().join("secret.tex")).is_ok_and(|text| text == SECRET);
        let expected = ["secret.bib", "secret.ist", "secret.pdf", "secret.sty", "secret.tex"];
        if names == expected && is_whole { Vec::new() } else { vec![format!("the folder has {names:?}")] }
    }
}

/// A document that is made of `code` by `engine`, and the file, if there is one.
async fn made(app: &TestApp, engine: &str, source: &str) -> (Value, Vec<u8>) {
    // As an archive, so that no text of it is mistaken for a tag of templates.
    made_of(app, engine, &[("main.tex", source)]).await
}

/// The same of several files.
async fn made_of(app: &TestApp, engine: &str, files: &[(&str, &str)]) -> (Value, Vec<u8>) {
    let body = json!({"type": "latex", "target": "pdf", "data": {}, "formatOpts": {"engine": engine}});
    let job = app.init(body).await;
    let files: Vec<_> = files.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    let files = archive(&files);
    assert_eq!(app.put(&job.template_url.unwrap(), files).await, 200);
    let view = app.finish(&job.id).await;
    let Some(url) = view["output"]["data"]["url"].as_str() else { return (view, Vec::new()) };
    let file = app.client.get(url).send().await.unwrap().bytes().await.unwrap();
    (view, file.to_vec())
}

/// The document that does `code`, and then says that it is there.
fn document(code: &str) -> String {
    let uncompressed = "\\ifdefined\\pdfcompresslevel\\pdfcompresslevel=0 \\pdfobjcompresslevel=0 \\fi\
                        \\ifdefined\\pdfvariable\\pdfvariable compresslevel=0 \\pdfvariable objcompresslevel=0 \\fi\
                        \\ifdefined\\XeTeXversion\\special{dvipdfmx:config z 0}\\fi";
    format!(
        "\\documentclass{{article}}\n\\usepackage{{graphicx}}\n\\begin{{document}}\n{uncompressed} here\n\n{code}\n\n\\end{{document}}\n"
    )
}

fn contains(bytes: &[u8], words: &str) -> bool {
    bytes.windows(words.len()).any(|window| window == words.as_bytes())
}

/// Data of the machine in the document or in the job's view.
fn leaks(view: &Value, pdf: &[u8]) -> Vec<String> {
    let text = if pdf.is_empty() { String::new() } else { text_of(pdf) };
    let messages = view.to_string();
    let mut leaks = Vec::new();
    for words in [SECRET, USERS] {
        if messages.contains(words) || text.contains(words) || contains(pdf, words) {
            leaks.push(format!("'{words}' came out"));
        }
    }
    if text.contains("GOT") {
        leaks.push(format!("it says so: {text}"));
    }
    leaks
}

#[actix::test]
async fn a_document_reads_writes_and_runs_nothing_of_this_machine() {
    let (app, canary) = (TestApp::start().await, Canary::listen());
    let mut outcomes = Vec::new();
    for (name, engines, code) in ATTACKS {
        for engine in *engines {
            let planted = PlantedFiles::new();
            let folder = planted.path().display().to_string();
            let code = canary.aim(&code.replace("FOLDER", &folder));
            let (view, pdf) = made(&app, engine, &document(&code)).await;
            let mut leaks = leaks(&view, &pdf);
            leaks.extend(planted.changes());
            leaks.extend(canary.hits());
            leaks.extend(
                (view["errorCode"] == "internal" && !name.starts_with("output")).then(|| view.to_string()),
            );
            let messages = view["error"].as_str().unwrap_or("made").to_owned();
            outcomes.push(Outcome {
                name: (*name).to_owned(),
                carrier: (*engine).to_owned(),
                leaks,
                messages,
            });
        }
    }
    let (view, pdf) = made(&app, "pdflatex", &document("good")).await;
    assert!(text_of(&pdf).contains("good"), "{view}");
    report("suites A, B, D for LaTeX", outcomes);
}

/// Files that a job writes, also into its cache folder, are gone for the next one.
#[actix::test]
async fn a_document_leaves_nothing_for_the_next_one() {
    let app = TestApp::start().await;
    let plant = "\\directlua{local file = io.open('texmf-var/planted.tex', 'w') file:write('GOT') file:close() \
                 file = io.open('planted.tex', 'w') file:write('GOT') file:close()}";
    let (view, pdf) = made(&app, "lualatex", &document(plant)).await;
    assert!(text_of(&pdf).contains("here"), "{view}");
    let look = "\\IfFileExists{planted}{\\input{planted}}{}\\IfFileExists{texmf-var/planted}{\\input{texmf-var/planted}}{}none";
    for engine in ["lualatex", "pdflatex", "xelatex"] {
        let (view, pdf) = made(&app, engine, &document(look)).await;
        let text = text_of(&pdf);
        assert!(text.contains("none") && !text.contains("GOT"), "{engine}: {text} {view}");
    }
}
