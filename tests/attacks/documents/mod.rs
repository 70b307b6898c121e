//! Suites A, B, D and E for Office documents that LibreOffice opens: access to the network and to this machine, code in
//! them, and traces for the next document.

mod bombs;
mod html;
mod links;
pub mod made;
mod tries;
mod xml;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use self::links::LINKS;
use self::made::{drawing, formula, sheet, word};
use self::tries::{ATTACKS, DocumentTargets};
use crate::app::TestApp;
use crate::canary::Canary;
use crate::service::text_of;
use crate::table::{Outcome, report};

/// Text that is in the planted text file only.
const SECRET: &str = "s3cretWordsOfTheMachine";
/// LibreOffice's own files, which its cage lets it read: only its settings keep those out of documents.
const ALLOWED: &str = "/usr/lib/libreoffice/";
const ALLOWED_PICTURE: &str = "program/intro.png";
/// Text that is in the planted files only.
const ALLOWED_WORDS: [&str; 4] = ["BRAND_BASE_DIR", "ENTRY11", "Max", "Tolerance"];
/// The colour of the planted picture.
const MAGENTA: [u8; 3] = [251, 3, 247];

/// Attacks that show files which the cage allows: LibreOffice reads these links whatever its settings say. So only the
/// cage keeps files out of documents, and nothing that it allows may be a secret.
const SHOWING: [(&str, &str); 4] = [
    ("fields of RTF", "docx"),
    ("linked OLE object", "pptx"),
    ("filled shape, and a program behind it", "pptx"),
    ("linked pictures and sounds", "pptx"),
];

/// World-readable files of the machine.
struct PlantedFiles {
    folder: TempDir,
}

impl PlantedFiles {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        let put = |name: &str, content: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, content).unwrap();
            std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        };
        put("secret.txt", SECRET.as_bytes());
        put("secret.csv", format!("{SECRET},1\n").as_bytes());
        put("secret.docx", &word(&format!("<w:p><w:r><w:t>{SECRET}</w:t></w:r></w:p>"), &[], &[]));
        put("secret.xlsx", &sheet(&formula("1+1").replace("own text", SECRET), "", &[], &[]));
        put("secret.png", &magenta());
        Self { folder }
    }

    fn aim(&self, canary: &Canary) -> DocumentTargets {
        let folder = self.folder.path().display().to_string();
        let file = |name: &str| format!("file://{folder}/{name}");
        DocumentTargets {
            http: canary.aim("HTTP"),
            text: file("secret.txt"),
            picture: file("secret.png"),
            document: file("secret.docx"),
            workbook: file("secret.xlsx"),
            sheet: "One".to_owned(),
            folder: file(""),
        }
    }

    /// Files written here beside the planted ones.
    fn written(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| !path.to_string_lossy().contains("secret.")).collect()
    }
}

/// A picture of one colour.
fn magenta() -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, 64, 64);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&MAGENTA.repeat(64 * 64)).unwrap();
    writer.finish().unwrap();
    file
}

/// What became of a document: the job's view, and the PDF if there is one.
pub async fn convert(app: &TestApp, kind: &str, document: Vec<u8>) -> (Value, Vec<u8>) {
    convert_to(app, (kind, "pdf"), document).await
}

/// The same of another target.
async fn convert_to(app: &TestApp, (kind, target): (&str, &str), document: Vec<u8>) -> (Value, Vec<u8>) {
    let job = app.init(json!({"type": kind, "target": target, "data": {}})).await;
    let uploaded = app.put(&job.template_url.unwrap(), document).await;
    let view = app.finish(&job.id).await;
    assert!(uploaded == 200 || uploaded == 422 && view["success"] == false, "{uploaded}: {view}");
    let file = match view["output"]["data"]["url"].as_str() {
        Some(url) => app.client.get(url).send().await.unwrap().bytes().await.unwrap().to_vec(),
        None => Vec::new(),
    };
    (view, file)
}

/// How many dots of the planted colour are on the first page.
fn magenta_dots(pdf: &[u8]) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let (file, page) = (folder.path().join("a.pdf"), folder.path().join("a"));
    std::fs::write(&file, pdf).unwrap();
    let drawn =
        Command::new("pdftoppm").args(["-r", "30", "-singlefile", "-png"]).args([&file, &page]).status();
    assert!(drawn.unwrap().success());
    let picture = std::fs::File::open(page.with_extension("png")).unwrap();
    let mut reader = png::Decoder::new(std::io::BufReader::new(picture)).read_info().unwrap();
    let mut dots = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut dots).unwrap();
    let is_near = |dot: &[u8]| dot.iter().zip(MAGENTA).all(|(one, other)| one.abs_diff(other) < 12);
    dots.chunks_exact(3).filter(|dot| is_near(dot)).count()
}

/// Aims at files that the cage allows.
fn allowed(canary: &Canary) -> DocumentTargets {
    let file = |name: &str| {
        assert!(Path::new(ALLOWED).join(name).is_file(), "{name} is a part of LibreOffice");
        format!("file://{ALLOWED}{name}")
    };
    DocumentTargets {
        http: canary.aim("HTTP"),
        text: file("program/fundamentalrc"),
        picture: file(ALLOWED_PICTURE),
        document: file("share/template/common/internal/idxexample.odt"),
        workbook: file("program/opencl/cl-test.ods"),
        sheet: "OpenCLTest".to_owned(),
        folder: format!("file://{ALLOWED}share/"),
    }
}

/// The sizes of the pictures in a PDF, in dots.
fn pictures(pdf: &[u8]) -> Vec<(u32, u32)> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), pdf).unwrap();
    let output = Command::new("pdfimages").arg("-list").arg(file.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let size = |line: &str| {
        let mut fields = line.split_ascii_whitespace().skip(3).map(str::parse);
        Some((fields.next()?.ok()?, fields.next()?.ok()?))
    };
    String::from_utf8_lossy(&output.stdout).lines().filter_map(size).collect()
}

/// The picture that the cage allows, and its size.
fn allowed_picture() -> (Vec<u8>, (u32, u32)) {
    let file = std::fs::read(Path::new(ALLOWED).join(ALLOWED_PICTURE)).unwrap();
    let reader = png::Decoder::new(std::io::Cursor::new(&file)).read_info().unwrap();
    let size = reader.info().size();
    (file, size)
}

/// Data of the machine in a PDF.
fn foreign(pdf: &[u8]) -> Vec<String> {
    let (text, allowed) = (text_of(pdf), allowed_picture().1);
    let words = ALLOWED_WORDS.iter().chain([&SECRET]).filter(|word| text.contains(**word));
    let mut found: Vec<String> = words.map(|word| format!("'{word}' in: {text}")).collect();
    found.extend((magenta_dots(pdf) > 0).then(|| "the planted picture".to_owned()));
    found.extend(pictures(pdf).contains(&allowed).then(|| "LibreOffice's picture".to_owned()));
    found
}

/// Every attack on one aim, each with a canary of its own; those that are `showing` may show it.
async fn attack(
    (app, planted): (&TestApp, &PlantedFiles),
    (aim, at): (&dyn Fn(&Canary) -> DocumentTargets, &str),
    showing: &[(&str, &str)],
) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for attack in ATTACKS.iter().chain(LINKS) {
        let canary = Canary::listen();
        let (view, pdf) = convert(app, attack.kind, (attack.make)(&aim(&canary))).await;
        let mut leaks = canary.hits();
        // The document must have been opened, or the attack was not tried.
        let is_opened = !pdf.is_empty() && text_of(&pdf).contains("own text");
        leaks.extend((!is_opened).then(|| format!("it was not opened: {view}")));
        let found = if pdf.is_empty() { Vec::new() } else { foreign(&pdf) };
        leaks.extend(found.into_iter().filter(|_| !showing.contains(&(attack.name, attack.kind))));
        leaks.extend(planted.written().iter().map(|path| format!("it wrote {}", path.display())));
        let messages = format!("{} {}", view["error"], view["warnings"]);
        outcomes.push(Outcome {
            name: attack.name.to_owned(),
            carrier: format!("{at}, {}", attack.kind),
            leaks,
            messages,
        });
    }
    outcomes
}

#[actix::test]
async fn documents_reach_neither_the_network_nor_the_machine() {
    let app = TestApp::on_disk(&[]).await;
    let planted = PlantedFiles::new();
    let by = (&app, &planted);
    let mut outcomes = attack(by, (&|canary| planted.aim(canary), "at planted files"), &[]).await;
    outcomes.extend(attack(by, (&allowed, "at allowed files"), &SHOWING).await);
    report("Documents in LibreOffice: the network and the machine (A, B, D, E)", outcomes);
    // The control: planted content is found where it is allowed.
    for (picture, is_found) in [
        (magenta(), (|pdf| magenta_dots(pdf) > 100) as fn(&[u8]) -> bool),
        (allowed_picture().0, |pdf| pictures(pdf).contains(&allowed_picture().1)),
    ] {
        let own =
            word(&drawing("r:embed=\"r1\""), &[("image", "media/p.png")], &[("word/media/p.png", &picture)]);
        let (view, pdf) = convert(&app, "docx", own).await;
        assert!(is_found(&pdf) && !foreign(&pdf).is_empty() && text_of(&pdf).contains("own text"), "{view}");
    }
    let spoken = format!("<w:p><w:r><w:t>{SECRET} {}</w:t></w:r></w:p>", ALLOWED_WORDS.join(" "));
    let (_, pdf) = convert(&app, "docx", word(&spoken, &[], &[])).await;
    assert_eq!(foreign(&pdf).len(), 1 + ALLOWED_WORDS.len());
    assert!(Path::new(planted.folder.path()).join("secret.txt").exists());
}
