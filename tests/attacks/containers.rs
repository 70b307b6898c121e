//! Suite E: Office containers that strangers packed, for every format that is taken and by every route that takes one. What is
//! refused leaves nothing, what is truncated is never half read, and a good file after it is made.

use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::app::TestApp;
use crate::documents::made::{lines, open_document, sheet, slide, word};
use crate::remains::WatchedApp;
use crate::routes::{Route, Sent, made, parts, words};
use crate::service::archive;
use crate::table::{Outcome, report};

/// A format: the type that it goes with, its extension, its main part, and a good file of it.
struct Format {
    kind: &'static str,
    name: &'static str,
    main: &'static str,
    good: fn() -> Vec<u8>,
}

const FORMATS: &[Format] = &[
    Format { kind: "docx", name: "docx", main: "word/document.xml", good: || word("", &[], &[]) },
    Format {
        kind: "xlsx",
        name: "xlsx",
        main: "xl/worksheets/sheet1.xml",
        good: || sheet(ROW, "", &[], &[]),
    },
    Format { kind: "pptx", name: "pptx", main: "ppt/slides/slide1.xml", good: || slide("", &[]) },
    Format { kind: "docx", name: "odt", main: "content.xml", good: || open_document("text", TEXT, "", &[]) },
    Format {
        kind: "xlsx",
        name: "ods",
        main: "content.xml",
        good: || open_document("spreadsheet", TABLE, "", &[]),
    },
    Format {
        kind: "pptx",
        name: "odp",
        main: "content.xml",
        good: || open_document("presentation", PAGE, "", &[]),
    },
];
const ROW: &str = "<row r=\"1\"><c r=\"A1\" t=\"inlineStr\"><is><t>own text</t></is></c></row>";
const TEXT: &str = "<text:p>own text</text:p>";
const TABLE: &str = "<table:table table:name=\"T\"><table:table-row><table:table-cell><text:p>own text</text:p>\
                     </table:table-cell></table:table-row></table:table>";
const PAGE: &str = "<draw:page draw:name=\"p\"><draw:frame svg:width=\"9cm\" svg:height=\"3cm\"><draw:text-box><text:p>own text\
                    </text:p></draw:text-box></draw:frame></draw:page>";

type Entries = Vec<(String, Vec<u8>)>;

fn packed(entries: &Entries) -> Vec<u8> {
    archive(&entries.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect::<Vec<_>>())
}

/// The file with one entry more.
fn with(file: &[u8], name: &str, content: &[u8]) -> Vec<u8> {
    let mut entries = parts(file);
    entries.push((name.to_owned(), content.to_vec()));
    packed(&entries)
}

/// The same with its bytes `from` replaced wherever they are.
fn patched(mut file: Vec<u8>, from: &[u8], to: &[u8]) -> Vec<u8> {
    let at: Vec<_> = (0..file.len() - from.len()).filter(|at| file[*at..].starts_with(from)).collect();
    assert!(!at.is_empty());
    for at in at {
        file[at..at + to.len()].copy_from_slice(to);
    }
    file
}

/// Every header of the archive changed at this place of a local one; the directory's is two bytes further.
fn with_headers(mut file: Vec<u8>, at: usize, value: u8) -> Vec<u8> {
    for start in 0..file.len() - at - 4 {
        match &file[start..start + 4] {
            b"PK\x03\x04" => file[start + at] = value,
            b"PK\x01\x02" => file[start + at + 2] = value,
            _ => {}
        }
    }
    file
}

/// The main part with blanks before its end, so that it is well-formed.
fn swollen(format: &Format) -> Vec<u8> {
    let mut entries = parts(&(format.good)());
    let (_, main) = entries.iter_mut().find(|(name, _)| name == format.main).unwrap();
    let end = main.iter().rposition(|byte| *byte == b'<').unwrap();
    main.splice(end..end, vec![b' '; 24 << 20]);
    packed(&entries)
}

fn special(format: &Format, mode: u32) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let plain = SimpleFileOptions::default();
    for (name, content) in parts(&(format.good)()) {
        writer.start_file(name, plain).unwrap();
        writer.write_all(&content).unwrap();
    }
    writer.add_symlink("evil.xml", "/etc/passwd", plain.unix_permissions(mode)).unwrap();
    writer.finish().unwrap().into_inner()
}

/// An archive of ten archives of ten megabytes of nothing, as a part that stays packed.
fn nested() -> Vec<u8> {
    let zeros = vec![0; 10 << 20];
    let inner = archive(&[("zeros", &zeros)]);
    let names: Vec<_> = (0..10).map(|number| format!("{number}.zip")).collect();
    archive(&names.iter().map(|name| (name.as_str(), inner.as_slice())).collect::<Vec<_>>())
}

/// What is never taken.
fn refused(format: &Format) -> Vec<(&'static str, Vec<u8>)> {
    let good = (format.good)();
    let main = format.main;
    let twice = main.replace(".xml", ".xmm");
    let folder = main.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
    let many: Vec<_> = (0..10_001).map(|number| (format!("{folder}{number}.xml"), Vec::new())).collect();
    let mut old = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec();
    old.resize(2_048, 0);
    vec![
        ("a bomb beside it", with(&good, &format!("{folder}evil.xml"), &vec![0; 8 << 20])),
        ("a bomb in it", swollen(format)),
        ("a name that leads out", with(&good, "../../evil.xml", b"x")),
        ("a name that leads out of a folder", with(&good, &format!("{folder}../../evil.xml"), b"x")),
        ("backslashes", with(&good, "..\\..\\evil.xml", b"x")),
        ("an absolute name", with(&good, "/tmp/evil.xml", b"x")),
        ("a drive", with(&good, "C:\\evil.xml", b"x")),
        ("a name twice", patched(with(&good, &twice, b"<evil/>"), twice.as_bytes(), main.as_bytes())),
        ("a name twice but for capitals", with(&good, &main.to_uppercase(), b"<evil/>")),
        ("a link", special(format, 0o777)),
        ("a long name", with(&good, &format!("{folder}{}.xml", "e".repeat(600)), b"x")),
        ("deep folders", with(&good, &format!("{}evil.xml", "a/".repeat(40)), b"x")),
        ("many entries", packed(&[parts(&good), many].concat())),
        ("an encrypted entry", with_headers(good.clone(), 6, 1)),
        ("an odd method", with_headers(good.clone(), 8, 12)),
        ("a program before it", [b"MZ\0\0".as_slice(), &good].concat()),
        ("old and broken", old),
    ]
}

/// What is another format than its type says, by content and by name.
fn wrong(format: &Format) -> Vec<(&'static str, Vec<u8>)> {
    let others = FORMATS.iter().filter(|other| other.kind != format.kind);
    let mut all: Vec<_> = others.map(|other| (other.name, (other.good)())).collect();
    all.extend([
        ("a PDF", b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\n%%EOF".to_vec()),
        ("a picture", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec()),
        ("a page", b"<!doctype html><p>x".to_vec()),
        ("a table of commas", b"a,b\n=WEBSERVICE(\"http://127.0.0.1/\"),1\n".to_vec()),
        ("nothing", Vec::new()),
        ("noise", (0_u32..9_000).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect()),
        ("an archive", archive(&[("a.txt", b"x")])),
    ]);
    all
}

/// An upload by each route, and in an archive under the name that such a file has there.
fn routes(inner: &str, upload: &[u8]) -> Vec<(Route, Vec<u8>)> {
    let packed = archive(&[(&format!("index.{inner}"), upload), ("beside.txt", b"x")]);
    vec![
        (Route::Init, upload.to_vec()),
        (Route::Init, packed),
        (Route::Form, upload.to_vec()),
        (Route::Preview, upload.to_vec()),
    ]
}

/// The files below `folder` that hold what only the attacks have.
fn evil(folder: &Path) -> Vec<PathBuf> {
    let (mut folders, mut found) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            let is_evil = path.file_name().is_some_and(|name| name.to_string_lossy().contains("evil"));
            if path.is_dir() {
                folders.push(path);
            } else if is_evil {
                found.push(path);
            }
        }
    }
    found
}

/// Tries an upload by the route whose turn it is.
async fn attempt(app: &TestApp, format: &Format, (turn, name): (usize, &str), upload: &[u8]) -> Outcome {
    let routes = routes(format.name, upload);
    let (route, template) = &routes[turn % routes.len()];
    let sent = Sent { kind: format.kind, target: "pdf", template, data: "{}" };
    let found = made(app, *route, &sent).await;
    let mut leaks = Vec::new();
    leaks.extend(found.as_ref().ok().map(|file| format!("it was taken: {} bytes", file.len())));
    let messages = found.err().unwrap_or_default();
    leaks.extend(messages.contains("\"internal\"").then(|| messages.clone()));
    let carrier = format!("{} by {route:?}", format.name);
    Outcome { name: name.to_owned(), carrier, leaks, messages }
}

#[actix::test]
async fn hostile_containers_of_every_format_are_refused_by_every_route() {
    let watched = WatchedApp::start(&[]).await;
    let app = &watched.app;
    let mut outcomes = Vec::new();
    for (at, format) in FORMATS.iter().enumerate() {
        let uploads = refused(format).into_iter().chain(wrong(format));
        for (number, (name, upload)) in uploads.enumerate() {
            // Six formats have each attack by four routes, and all attacks have each format by all routes.
            outcomes.push(attempt(app, format, (at + number, name), &upload).await);
        }
        let good = (format.good)();
        let sent = Sent { kind: format.kind, target: "pdf", template: &good, data: "{}" };
        let pdf = made(app, Route::Init, &sent).await.unwrap();
        assert!(words(&pdf).contains("owntext"), "a good {} after them: {}", format.name, words(&pdf));
    }
    report("Suite E: containers by format and route", outcomes);
    let found: Vec<_> = [app.scratch(), &std::env::temp_dir().join("evil.xml")].map(evil).concat();
    assert!(found.is_empty(), "unpacked: {found:?}");
    watched.finish().await;
}

/// What LibreOffice prints above and below a sheet whose page style it could not read.
const OWN_HEAD: &str = "OnePage1";

#[actix::test]
async fn a_file_that_is_cut_anywhere_is_refused_or_shows_no_more() {
    let watched = WatchedApp::start(&[]).await;
    let app = &watched.app;
    let mut outcomes = Vec::new();
    for format in FORMATS {
        let good = (format.good)();
        let inner = parts(&good).into_iter().find(|(name, _)| name == format.main).unwrap().1;
        // The archive cut at many places, and the main part in a whole archive.
        let cut = (1..16).map(|at| ("the archive", good[..good.len() * at / 16].to_vec()));
        let broken = [2, 5].into_iter().map(|at| {
            let mut entries = parts(&good);
            let main = entries.iter_mut().find(|(name, _)| name == format.main).unwrap();
            main.1.truncate(inner.len() * at / 6);
            ("the main part", packed(&entries))
        });
        let sent = Sent { kind: format.kind, target: "pdf", template: &good, data: "{}" };
        let whole = words(&made(app, Route::Init, &sent).await.unwrap());
        for (what, file) in cut.chain(broken) {
            let sent = Sent { kind: format.kind, target: "pdf", template: &file, data: "{}" };
            let found = made(app, Route::Init, &sent).await;
            // LibreOffice repairs a part that ends early; what it shows then is nothing that was cut off.
            let is_odd = match &found {
                Ok(file) => what == "the archive" || !whole.contains(&words(file).replace(OWN_HEAD, "")),
                Err(error) => error.contains("\"internal\"") || error.contains("engine_"),
            };
            outcomes.push(Outcome {
                name: format!("{what} of {} bytes", file.len()),
                carrier: format.name.to_owned(),
                leaks: if is_odd {
                    vec![format!("{:?}", found.as_ref().map(|file| words(file)))]
                } else {
                    Vec::new()
                },
                messages: found.err().unwrap_or_else(|| "repaired".to_owned()),
            });
        }
    }
    report("Suite E: truncated files", outcomes);
    watched.finish().await;
}

#[actix::test]
async fn archives_in_an_office_file_stay_packed() {
    let watched = WatchedApp::start(&[("assemble.memory_limit_mb", "96")]).await;
    let bomb = nested();
    for format in &FORMATS[..3] {
        let folder = format.main.split_once('/').unwrap().0;
        let file = lines(format.kind, &["{6 * 7}".to_owned()]);
        let file = with(&file, &format!("{folder}/embeddings/bomb.zip"), &bomb);
        let sent = Sent { kind: format.kind, target: format.kind, template: &file, data: "{}" };
        let made = made(&watched.app, Route::Init, &sent).await.unwrap();
        assert!(words(&made).contains("42"), "{}", format.name);
        let kept = parts(&made).into_iter().find(|(name, _)| name.ends_with("bomb.zip"));
        assert!(kept.is_none_or(|(_, content)| content == bomb), "{}: it was changed", format.name);
    }
    watched.finish().await;
}
