//! What a hostile or broken archive is refused for: the sentence names the entry and what to do.

use super::raw_archive::{self as raw, RawEntry, deflated, renamed, stored, with_mode};
use super::*;

/// The sentence for an archive of these entries and an index.html.
fn sentence(entries: Vec<RawEntry>) -> String {
    refused(raw::write(&[vec![stored("index.html", PAGE)], entries].concat()))
}

fn limited(entries: &[RawEntry], limits: &TemplatesConfig) -> Result<Package, String> {
    let entries = [&[stored("index.html", PAGE)], entries].concat();
    Package::read(&Bytes::from(raw::write(&entries)), limits).map_err(|error| error.0)
}

#[test]
fn names_that_lead_out_of_the_archive_are_refused() {
    let cases: [(&[u8], &str); 18] = [
        (b"../evil.css", "'../evil.css' leads out of its folder by '..'"),
        (b"a/../../evil.css", "'a/../../evil.css' leads out"),
        (b"a/../b.css", "'a/../b.css' leads out"),
        (b"..\\evil.css", "'..\\evil.css' leads out"),
        (b"a\\..\\..\\evil.css", "leads out"),
        (b"a/..", "'a/..' leads out"),
        (b"a/../", "'a/../' leads out"),
        (b"__MACOSX/../../x", "leads out"),
        (b"/etc/passwd", "'/etc/passwd' has an absolute path"),
        (b"\\etc\\passwd", "has an absolute path"),
        (b"//host/share", "has an absolute path"),
        (b"\\\\host\\share", "has an absolute path"),
        (b"C:\\x.css", "'C:\\x.css' has an absolute path"),
        (b"c:x.css", "has an absolute path"),
        (b"a\0.css", "'a\\u{0}.css' has a control character"),
        (b"a\n.css", "'a\\u{a}.css' has a control character"),
        (b"a\x7f.css", "has a control character"),
        ("a\u{85}.css".as_bytes(), "'a\\u{85}.css' has a control character"),
    ];
    for (name, words) in cases {
        let error = sentence(vec![stored(name, b"x")]);
        assert_says(&error, words);
        assert_says(&error, "; ");
    }
    let error = sentence(vec![stored(format!("{}\u{202e}/../x", "long".repeat(100)), b"x")]);
    assert!(error.len() < 300 && error.contains("…'"), "{error}");
}

#[test]
fn entries_that_are_no_files_are_refused() {
    let types = [
        (0o120_777, "is a symbolic link; pack the file itself"),
        (0o010_644, "is a pipe"),
        (0o020_644, "is a device"),
        (0o060_644, "is a device"),
        (0o140_644, "is a socket"),
    ];
    for (mode, words) in types {
        let error = sentence(vec![with_mode(mode, stored("a/odd", b"/etc/passwd"))]);
        assert_says(&error, &format!("'a/odd' {words}"));
    }
}

#[test]
fn names_that_are_used_twice_are_refused() {
    let pair = |one: &str, other: &str| sentence(vec![stored(one, b"1"), stored(other, b"2")]);
    assert_says(&pair("a.css", "a.css"), "the entry 'a.css' twice; pack it once");
    assert_says(&pair("a/b.css", "a\\b.css"), "the entry 'a/b.css' twice");
    assert_says(&pair("a/b.css", "./a/b.css"), "the entry 'a/b.css' twice");
    assert_says(&sentence(vec![stored("index.html", b"another")]), "the entry 'index.html' twice");
    // One of them only by the field for names in UTF-8.
    let error = sentence(vec![stored("y.css", b"1"), renamed("x.css", "y.css", b"2")]);
    assert_says(&error, "the entry 'y.css' twice");
    // What may repeat under its first name hides nothing that may not under its last.
    let error = sentence(vec![
        renamed("._a", "p1", b"1"),
        renamed("._a", "p2", b"2"),
        renamed("x", "index.html", b"another"),
    ]);
    assert_says(&error, "the entry 'index.html' twice");
    let capitals = "'a/Logo.png' and 'a/logo.PNG' differ only in capital letters";
    assert_says(&pair("a/Logo.png", "a/logo.PNG"), capitals);
    assert_says(&pair("Ä.css", "ä.css"), "differ only in capital letters");
    for (one, other) in
        [("a", "a/b"), ("a/b", "a"), ("A", "a/b/c"), ("a/b/c", "a/B"), ("a", "a/"), ("a/", "a")]
    {
        let error = pair(one, other);
        assert_says(&error, "as a file and");
        assert_says(&error, "as a folder; rename one");
    }
}

#[test]
fn encrypted_and_oddly_compressed_entries_are_refused() {
    let locked = RawEntry { flags: 1, ..stored("secret.css", b"x") };
    let error = sentence(vec![locked]);
    assert_eq!(error, "the archive's entry 'secret.css' is encrypted; pack it without a password");
    let strong = RawEntry { flags: 1, method: 99, ..stored("secret.css", b"x") };
    assert_says(&sentence(vec![strong]), "'secret.css' is encrypted");
    let methods = [
        (6, "implode"),
        (9, "deflate64"),
        (12, "bzip2"),
        (14, "LZMA"),
        (20, "zstd"),
        (93, "zstd"),
        (95, "xz"),
        (98, "PPMd"),
        (77, "an unknown method"),
    ];
    for (method, name) in methods {
        let error = sentence(vec![RawEntry { method, ..stored("a.css", b"x") }]);
        assert_says(&error, &format!("'a.css' is compressed by {name}"));
        assert_says(&error, "pack it by deflate");
    }
}

#[test]
fn damaged_archives_are_refused() {
    let text = "some text that shrinks, some text that shrinks, some text that shrinks".repeat(9);
    let good = deflated("a.css", text.as_bytes());
    let mut flipped = good.packed.clone();
    flipped[9] ^= 0x55;
    let cases = [
        RawEntry { crc: good.crc ^ 1, ..good.clone() },
        RawEntry { crc: 7, ..stored("a.css", b"text") },
        RawEntry { packed: flipped, ..good.clone() },
        RawEntry { packed: good.packed[..9].to_vec(), ..good.clone() },
        RawEntry { packed: Vec::new(), ..good.clone() },
        RawEntry { size: good.size - 1, ..good.clone() },
        RawEntry { header_start: Some(3), ..good.clone() },
        RawEntry { header_start: Some(u32::MAX - 1), ..good.clone() },
    ];
    for entry in cases {
        let error = sentence(vec![entry]);
        assert_says(&error, "the archive's entry 'a.css' is damaged (");
        assert_says(&error, "pack it anew");
    }
    let error = sentence(vec![RawEntry { reach: 1, ..stored("a.css", b"text") }]);
    assert_says(&error, "'a.css' is damaged (it reaches into the archive's directory)");
    let whole = raw::write(&[stored("index.html", PAGE), good]);
    for end in [4, 5, 30, whole.len() / 2, whole.len() - 23, whole.len() - 1] {
        let error = refused(whole[..end].to_vec());
        assert!(error.starts_with("the archive is damaged or cut off ("), "{end}: {error}");
        assert_says(&error, "pack it anew, as zip, and upload it again");
    }
    let several = [b"PK\x07\x08", &whole[..]].concat();
    assert_eq!(read(several).unwrap().files.len(), 2, "one that was to be split, and is not");
    let mut split = whole;
    let length = split.len();
    split[length - 18] = 1;
    assert_says(&refused(split), "split over several disks");
}

#[test]
fn bombs_are_refused() {
    let small = TemplatesConfig { archive_bytes_limit: 3 << 20, ..limits() };
    let zeros = |name: &str, mib: usize| deflated(name, &vec![0; mib << 20]);
    let error = limited(&[zeros("bomb.bin", 2)], &limits()).unwrap_err();
    assert_says(&error, "'bomb.bin' becomes more than 200 times as large");
    assert_says(&error, "(templates.archive_ratio_limit)");
    // Its declared size is false: what counts is what comes out.
    let lying = RawEntry { size: 100, ..zeros("bomb.bin", 2) };
    assert_says(&limited(&[lying], &limits()).unwrap_err(), "'bomb.bin' is damaged (File is larger");
    let lying = RawEntry { size: u32::MAX, ..stored("a.bin", b"small") };
    assert_eq!(limited(&[lying], &limits()).unwrap().files["a.bin"], &b"small"[..]);

    assert!(limited(&[zeros("a.bin", 1)], &limits()).is_ok(), "so much is no bomb");
    let many: Vec<_> = (0..9).map(|number| zeros(&format!("{number}.bin"), 1)).collect();
    let error = limited(&many, &limits()).unwrap_err();
    assert_says(&error, "the archive becomes more than 200 times as large");
    assert_says(&error, "reached at '2.bin'");

    let large = stored("a.bin", &vec![7; 2 << 20]);
    let more = stored("b.bin", &vec![7; 1 << 20]);
    let error = limited(&[large.clone(), more], &small).unwrap_err();
    assert_says(&error, "more than 3145728 bytes when it is unpacked (templates.archive_bytes_limit)");
    assert_says(&error, "reached at 'b.bin'");
    assert!(limited(&[large], &small).is_ok());
}

#[test]
fn entries_that_share_bytes_are_refused() {
    let first = deflated("a.css", &[b'a'; 5_000]);
    let start = raw::write(&[stored("index.html", PAGE)]).len() - 22 - 46 - "index.html".len();
    let again = RawEntry {
        name: b"b.css".to_vec(),
        header_start: Some(u32::try_from(start).unwrap()),
        ..first.clone()
    };
    let error = sentence(vec![first.clone(), again]);
    assert_says(&error, "'a.css' and 'b.css' share bytes, as in a zip bomb");
    // One entry whose content is the header and content of the next.
    let mut quine = stored("a.css", b"");
    quine.packed = Vec::new();
    let inner = raw::write(&[first]);
    let outer = RawEntry { name: b"b.css".to_vec(), ..stored("b.css", &inner) };
    let at = u32::try_from(start + 30 + "b.css".len()).unwrap();
    let hidden = RawEntry { header_start: Some(at), ..deflated("a.css", &[b'a'; 5_000]) };
    let error = sentence(vec![outer, hidden]);
    assert_says(&error, "'b.css' and 'a.css' share bytes");
}

#[test]
fn entries_depth_and_paths_are_limited() {
    let tight = TemplatesConfig {
        archive_entries_limit: 3,
        archive_depth_limit: 2,
        archive_path_limit_bytes: 16,
        ..limits()
    };
    assert!(limited(&[stored("a/b/c.css", b""), stored("0123456789ab.css", b"")], &tight).is_ok());
    let cases = [
        (
            stored("a/b/c/d.css", b""),
            "'a/b/c/d.css' lies in more than 2 folders",
            "templates.archive_depth_limit",
        ),
        (stored("0123456789abc.css", b""), "is longer than 16 bytes", "templates.archive_path_limit_bytes"),
        (stored("ääääää.css", b""), "", ""),
    ];
    for (entry, words, key) in cases {
        match limited(&[entry], &tight) {
            Err(error) => assert!(!key.is_empty() && error.contains(words) && error.contains(key), "{error}"),
            Ok(_) => assert_eq!(key, ""),
        }
    }
    let folders = [stored("a/", b""), stored("b/", b""), stored("__MACOSX/x", b"")];
    let error = limited(&folders, &tight).unwrap_err();
    assert_says(&error, "has 4 entries, more than 3 (templates.archive_entries_limit)");
}
