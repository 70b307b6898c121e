//! What differs, for the eye: a folder for each case, and one page that shows them all.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;

use crate::compare::{Document, Findings};
use crate::fixtures;
use crate::picture::Picture;

const STYLE: &str = "body{font:15px/1.5 sans-serif;margin:2rem}section{margin-bottom:3rem}\
    div{display:flex;gap:1rem}figure{margin:0;flex:1}img{width:100%;border:1px solid #bbb}\
    pre{flex:1;background:#f3f3f3;padding:1rem;white-space:pre-wrap}";

/// Guards the one page, which several cases write at the same time.
static PAGE: Mutex<()> = Mutex::new(());

/// The report's folder.
pub fn folder() -> PathBuf {
    fixtures::target().join("visual")
}

/// Writes the differences of a case, or removes those of an earlier run when there are none.
pub fn keep(document: &Document, picture: &Picture, found: &Findings) {
    let _guard = PAGE.lock();
    let own = folder().join(document.name);
    let _ = fs::remove_dir_all(&own);
    if !found.sentences.is_empty() {
        fs::create_dir_all(&own).unwrap();
        write(&own, document, picture, found);
    }
    write_page();
}

fn write(own: &std::path::Path, document: &Document, picture: &Picture, found: &Findings) {
    let name = document.name;
    let mut html = format!("<section><h2>{name}</h2><p>{}</p>", escaped(&found.sentences.join("; ")));
    fs::write(own.join("ours.pdf"), &document.pdf).unwrap();
    fs::write(own.join("ours.txt"), &document.text).unwrap();
    let mut pictures = vec![("ours", picture.write())];
    if let Some((expected, shown)) = &found.pictures {
        pictures.extend([("reference", expected.write()), ("difference", shown.write())]);
    }
    html.push_str("<div>");
    for (kind, png) in pictures {
        fs::write(own.join(format!("{kind}.png")), png).unwrap();
        let _ = write!(html, "<figure><figcaption>{kind}</figcaption><img src='{name}/{kind}.png'></figure>");
    }
    html.push_str("</div>");
    if let Some(expected) = &found.text {
        let (ours, expected) = (escaped(&document.text), escaped(expected));
        let _ =
            write!(html, "<h3>Text: ours, reference</h3><div><pre>{ours}</pre><pre>{expected}</pre></div>");
    }
    let _ = write!(html, "<p><a href='{name}/ours.pdf'>our PDF</a></p></section>");
    fs::write(own.join("part.html"), html).unwrap();
}

/// Writes the page from the folders of all cases.
fn write_page() {
    let folder = folder();
    let cases = fs::read_dir(&folder).into_iter().flatten().flatten();
    let mut parts: Vec<PathBuf> = cases.map(|entry| entry.path().join("part.html")).collect();
    parts.retain(|part| part.is_file());
    parts.sort_unstable();
    if parts.is_empty() {
        let _ = fs::remove_dir_all(folder);
        return;
    }
    let mut html =
        format!("<!doctype html><meta charset=utf-8><title>What differs</title><style>{STYLE}</style>");
    html.extend(parts.iter().map(|part| fs::read_to_string(part).unwrap()));
    fs::write(folder.join("index.html"), html).unwrap();
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
