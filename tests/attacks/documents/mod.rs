//! Suites A, B, D and E for Office documents that LibreOffice opens: what they reach of the network and of this machine,
//! whether what they carry runs, and what they leave behind.

mod bombs;
mod made;
mod tries;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use self::made::{drawing, formula, sheet, word};
use self::tries::{ATTACKS, Aim};
use crate::app::TestApp;
use crate::canary::Canary;
use crate::service::text_of;
use crate::table::{Outcome, report};

/// What stands in the planted text and in nothing else.
const SECRET: &str = "s3cretWordsOfTheMachine";
/// The colour of the planted picture.
const MAGENTA: [u8; 3] = [251, 3, 247];

/// Files of the machine that everybody may read.
struct Planted {
    folder: TempDir,
}

impl Planted {
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

    fn aim(&self, canary: &Canary) -> Aim {
        let folder = self.folder.path().display().to_string();
        let file = |name: &str| format!("file://{folder}/{name}");
        Aim {
            http: canary.aim("HTTP"),
            text: file("secret.txt"),
            picture: file("secret.png"),
            folder: file(""),
        }
    }

    /// What somebody wrote here beside what was planted.
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
    let job = app.init(json!({"type": kind, "target": "pdf", "data": {}})).await;
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

#[actix::test]
async fn documents_reach_neither_the_network_nor_the_machine() {
    let app = TestApp::on_disk(&[]).await;
    let planted = Planted::new();
    let mut outcomes = Vec::new();
    for attack in ATTACKS {
        let canary = Canary::listen();
        let (view, pdf) = convert(&app, attack.kind, (attack.make)(&planted.aim(&canary))).await;
        let mut leaks = canary.hits();
        if pdf.is_empty() {
            // Some are no documents any more once what they refer to is not there; that is told as such.
            let code = view["errorCode"].as_str().unwrap_or_default();
            leaks.extend((!matches!(code, "template_invalid" | "template_limit")).then(|| view.to_string()));
        } else {
            let text = text_of(&pdf);
            leaks.extend(text.contains(SECRET).then(|| format!("the secret: {text}")));
            leaks.extend((magenta_dots(&pdf) > 0).then(|| "the planted picture".to_owned()));
        }
        leaks.extend(planted.written().iter().map(|path| format!("it wrote {}", path.display())));
        let told = format!("{} {}", view["error"], view["warnings"]);
        let name = attack.name.to_owned();
        outcomes.push(Outcome { name, carrier: format!("a document as {}", attack.kind), leaks, told });
    }
    report("Documents in LibreOffice: the network and the machine (A, B, D, E)", outcomes);
    // What is looked for is found where it may be.
    let own =
        word(&drawing("r:embed=\"r1\""), &[("image", "media/p.png")], &[("word/media/p.png", &magenta())]);
    let (view, pdf) = convert(&app, "docx", own).await;
    assert!(magenta_dots(&pdf) > 100 && text_of(&pdf).contains("own text"), "{view}");
    assert!(Path::new(planted.folder.path()).join("secret.txt").exists());
}
