//! Every fixture is listed, and its archive holds the built files whatever system the archive names as its writer.

use std::fs;
use std::io::{Cursor, Read};

use bytes::Bytes;
use platen::config::Config;
use platen::templates::package::Package;
use zip::ZipArchive;

use crate::fixtures;

#[test]
fn every_fixture_is_listed_and_described() {
    let folder = fixtures::checkout().join("tests/fixtures");
    let described = fs::read_to_string(folder.join("README.md")).unwrap();
    let entries = fs::read_dir(folder).unwrap().flatten().filter(|entry| entry.path().is_dir());
    let mut found: Vec<_> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    found.sort_unstable();
    assert_eq!(found, fixtures::NAMES);
    for name in found {
        assert!(described.contains(&format!("\n| `{name}` | ")), "the README does not describe '{name}'");
    }
}

#[test]
fn archives_hold_the_built_files() {
    for name in fixtures::NAMES {
        let mut archive = ZipArchive::new(Cursor::new(fixtures::archive(name))).unwrap();
        let wrapping = if name == "vite-vue" { "dist/" } else { "" };
        for (path, content) in fixtures::files(name) {
            let mut read = Vec::new();
            archive.by_name(&format!("{wrapping}{path}")).unwrap().read_to_end(&mut read).unwrap();
            assert!(read == content, "{name}: {path}");
        }
    }
}

#[test]
fn some_archives_are_as_odd_as_real_ones() {
    let names = |name: &str| {
        let archive = ZipArchive::new(Cursor::new(fixtures::archive(name))).unwrap();
        archive.file_names().map(|name| name.unwrap().into_owned()).collect::<Vec<_>>()
    };
    let of_macos = names("vite-vue");
    for junk in ["__MACOSX/dist/._index.html", "dist/.DS_Store"] {
        assert!(of_macos.iter().any(|name| name == junk), "{of_macos:?}");
    }
    assert!(names("vite-react").iter().any(|name| name == "assets/"));
    // Bit 3 of an entry's flags: the sizes stand behind the content.
    let flags = |name: &str| fixtures::archive(name)[6];
    assert_eq!(["parcel", "vite-vue", "paged"].map(|name| flags(name) & 8), [8, 8, 0]);
}

#[test]
fn the_service_reads_what_was_built_out_of_every_archive() {
    for name in fixtures::NAMES {
        let package = Package::read(&Bytes::from(fixtures::archive(name)), &Config::default().templates);
        let package = package.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(package.entry, "index.html", "{name}");
        let (read, built) = (package.files, fixtures::files(name));
        assert!(read.keys().eq(built.keys()), "{name}: {:?}", read.keys());
        assert!(read == built, "{name}: the content is another");
    }
}
