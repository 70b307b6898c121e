//! What real programs write is accepted, even where strict readers refuse it.

use std::io::{Cursor, Write as _};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::raw_archive::{self as raw, RawEntry, deflated, renamed, stored, streamed, with_mode};
use super::*;

/// The paths that these entries become, beside an index.html.
fn accepted(entries: Vec<RawEntry>) -> Vec<String> {
    let entries = [entries, vec![stored("index.html", PAGE)]].concat();
    let package = read(raw::write(&entries)).unwrap();
    assert_eq!(package.files["index.html"], PAGE);
    package.files.into_keys().filter(|path| path != "index.html").collect()
}

#[test]
fn names_are_read_whatever_their_encoding() {
    let utf8 = |flags, name: &str| RawEntry { flags, ..stored(name, b"x") };
    assert_eq!(accepted(vec![utf8(0x800, "bücher/ä.css")]), ["bücher/ä.css"]);
    assert_eq!(accepted(vec![utf8(0, "bücher/漢字.css")]), ["bücher/漢字.css"], "the flag is missing");
    assert_eq!(accepted(vec![stored(b"b\x81cher.css", b"x")]), ["bücher.css"], "code page 437");
    let lying = RawEntry { flags: 0x800, ..stored(b"b\xfccher.css", b"x") };
    assert_eq!(accepted(vec![lying]).len(), 1, "flagged as UTF-8, and not");
    assert_eq!(
        accepted(vec![stored("a\\b\\c.css", b"x")]),
        ["a/b/c.css"],
        "as old programs of Windows wrote them"
    );
    assert_eq!(accepted(vec![stored("./a//./b.css", b"x"), stored("./", b"")]), ["a/b.css"]);
    assert_eq!(accepted(vec![stored("a/..b/c...css", b"x"), stored("...", b"")]), ["...", "a/..b/c...css"]);
    // The name in UTF-8 in a field of its own, beside one in another encoding.
    assert_eq!(accepted(vec![renamed("b?cher.css", "bücher.css", b"x")]), ["bücher.css"]);
    let left_behind = RawEntry { name: b"new.css".to_vec(), ..renamed("old.css", "öld.css", b"x") };
    assert_eq!(accepted(vec![left_behind]), ["new.css"], "renamed by a program that knows no such field");
    let twice = vec![renamed("a.css", "b.css", b"1"), renamed("a.css", "c.css", b"2")];
    assert_eq!(accepted(twice), ["b.css", "c.css"]);
}

#[test]
fn files_added_by_operating_systems_are_dropped() {
    let junk = [
        "__MACOSX/._index.html",
        "__MACOSX/wrap/._x",
        "a/__MACOSX/x.css",
        ".DS_Store",
        "a/.DS_Store",
        "._index.html",
        "Thumbs.db",
        "a/thumbs.db",
        "Desktop.ini",
        "a/Icon\r",
        "__MACOSX/a/._Icon\r",
        "__MACOSX/a\\b\\c",
    ];
    let entries = junk.map(|name| stored(name, b"\0junk")).to_vec();
    assert_eq!(accepted([entries, vec![stored("a/.well-known", b"x")]].concat()), ["a/.well-known"]);
    let deep = format!("__MACOSX/{}{}", "a/".repeat(99), "b".repeat(999));
    assert_eq!(accepted(vec![stored(deep, b"")]), [] as [&str; 0]);
    // Junk is not looked at, so nothing in it is a reason to refuse the rest.
    let link = with_mode(0o120_777, stored("__MACOSX/._link", b"target"));
    let twice = [stored("._x", b"1"), stored("._X", b"2"), stored("._x", b"3")];
    assert_eq!(accepted([vec![link], twice.to_vec()].concat()), [] as [&str; 0]);
}

#[test]
fn one_wrapping_folder_is_taken_off() {
    let files: [&[Named]; 4] = [
        &[("build/index.html", PAGE), ("build/assets/x.css", b"")],
        &[("build/", b""), ("build/index.html", PAGE), ("build/assets/", b""), ("build/assets/x.css", b"")],
        &[
            (".DS_Store", b""),
            ("build/index.html", PAGE),
            ("build/assets/x.css", b""),
            ("__MACOSX/build/._x", b""),
        ],
        &[("build\\index.html", PAGE), ("build\\assets\\x.css", b""), ("empty/", b"")],
    ];
    for files in files {
        assert_eq!(paths(&read(archive(files)).unwrap()), ["assets/x.css", "index.html"], "{files:?}");
    }
    let beside = archive(&[("build/x.css", b""), ("index.html", PAGE)]);
    assert_eq!(paths(&read(beside).unwrap()), ["build/x.css", "index.html"], "it wraps not everything");
}

#[test]
fn folders_modes_and_unknown_fields_are_ignored() {
    let folders = [
        stored("a/", b""),
        stored("b\\", b""),
        with_mode(0o040_755, stored("c", b"")),
        RawEntry { attributes: 0x10, ..stored("d", b"") },
        stored("a/", b""),
    ];
    assert_eq!(accepted(folders.to_vec()), [] as [&str; 0]);
    let file = with_mode(0o100_644, stored("a/x.css", b"x"));
    let empty = stored("a/empty.css", b"");
    assert_eq!(accepted([folders.to_vec(), vec![file, empty]].concat()), ["a/empty.css", "a/x.css"]);
    // A field of a length that nobody knows, and padding that is no field at all.
    let padded = RawEntry { extra: b"\xfe\xca\x04\0abcd\0\0\0".to_vec(), ..stored("x.css", b"x") };
    assert_eq!(accepted(vec![padded]), ["x.css"]);
}

#[test]
fn sizes_may_come_behind_the_content() {
    let text = "long ".repeat(1_000);
    let bytes = raw::write(&[streamed("index.html", text.as_bytes()), streamed("a.css", b"p{}")]);
    let package = read(bytes).unwrap();
    assert_eq!(
        (&package.files["index.html"][..], &package.files["a.css"][..]),
        (text.as_bytes(), &b"p{}"[..])
    );
    let mut unsigned = streamed("index.html", text.as_bytes());
    unsigned.descriptor.drain(..4);
    let package = read(raw::write(&[unsigned, deflated("a.css", b"p{}")])).unwrap();
    assert_eq!(package.files["index.html"], text.as_bytes());
}

#[test]
fn bytes_around_the_archive_do_no_harm() {
    let plain = archive(&[("index.html", PAGE), ("x.css", b"p{}")]);
    let assert_read = |case: Vec<u8>| assert_eq!(read(case).unwrap().files["x.css"], &b"p{}"[..]);
    let longest = vec![b'.'; 65_535];
    let remarks: [&[u8]; 3] = [b"a comment", b"PK\x05\x06 and words that are no end record", &longest];
    // With the usual end record, with that of large archives, and with a sector of a program's own in that.
    for whole in [raw::enlarged(&plain, b""), raw::enlarged(&plain, b"a sector of its own"), plain.clone()] {
        assert_read([&whole[..], b"\r\nwords behind it\0"].concat());
        for remark in remarks {
            assert_read(raw::commented(whole.clone(), remark));
        }
        assert_read(whole);
    }
    for whole in [raw::enlarged(&plain, b""), plain] {
        let whole = [b"#!/bin/sh\nexec unzip\n", &whole[..]].concat();
        assert_read(raw::commented(whole.clone(), b"a comment"));
        assert_read(whole);
    }
}

#[test]
fn large_headers_and_both_methods_are_read() {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().large_file(true);
    for (name, method) in [("index.html", CompressionMethod::Deflated), ("a.css", CompressionMethod::Stored)]
    {
        writer.start_file(name, options.compression_method(method)).unwrap();
        writer.write_all(PAGE).unwrap();
    }
    writer.set_raw_zip64_extensible_data_sector(Box::new([0; 8]));
    let whole = writer.finish().unwrap().into_inner();
    assert!(whole.windows(4).any(|window| window == b"PK\x06\x06"), "no end of the large kind");
    assert_eq!(read(whole).unwrap().files["a.css"], PAGE);
}

#[test]
fn an_archive_may_lie_in_a_template_as_a_file() {
    let inner = archive(&[("../x", b"never unpacked"), ("a", b"")]);
    let package = read(archive(&[("index.html", PAGE), ("download.zip", &inner)])).unwrap();
    assert_eq!(package.files["download.zip"], inner);
}
