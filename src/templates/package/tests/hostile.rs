//! Archives made to be costly: the bytes that are read for them are counted, for time depends on the machine.

use std::cell::Cell;
use std::io::{self, Read, Seek, SeekFrom};
use std::rc::Rc;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use zip::ZipArchive;

use super::super::view::{View, open};
use super::super::{ArchiveLimits, archive as unpacking, office};
use super::raw_archive::{self as raw, deflated, renamed, stored, streamed};
use super::*;
use crate::domain::kinds::TemplateKind;
use crate::domain::site::Files;

/// A reader that counts the bytes it is asked for, and one for each call.
struct Counting<R> {
    inner: R,
    work: Rc<Cell<u64>>,
}

impl<R> Counting<R> {
    fn new(inner: R) -> (Self, Rc<Cell<u64>>) {
        let work = Rc::new(Cell::new(0));
        (Self { inner, work: Rc::clone(&work) }, work)
    }
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.work.set(self.work.get() + count as u64 + 1);
        Ok(count)
    }
}

impl<R: Seek> Seek for Counting<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.work.set(self.work.get() + 1);
        self.inner.seek(to)
    }
}

/// Unpacks `upload`; also answers how much was read for it.
fn work(upload: &[u8]) -> (u64, Result<Files, String>) {
    let limits = ArchiveLimits::of(&limits());
    let view = match View::of(upload, &limits) {
        Ok(view) => view,
        Err(error) => return (0, Err(error.0)),
    };
    let (reader, work) = Counting::new(view);
    let files = open(reader, false).and_then(|mut archive| {
        office::format_of(&mut archive)?;
        unpacking::files(&mut archive, upload.len() as u64, &limits)
    });
    (work.get(), files.map_err(|error| error.0))
}

/// Many end records of large archives, each said to reach far, and many others that each let all of them be tried.
fn tangle(records: u64, ends: u64) -> Vec<u8> {
    const RECORD_BYTES: u64 = 56;
    let tail = ends * 42;
    let length = 4 + records * RECORD_BYTES + tail;
    let mut bytes = b"PK\x03\x04".to_vec();
    for _ in 0..records {
        let left = length - bytes.len() as u64 - tail;
        bytes.extend(b"PK\x06\x06");
        bytes.extend((left / 2).to_le_bytes());
        bytes.extend([0; 44]);
    }
    for _ in 0..ends {
        bytes.extend(b"PK\x06\x07\0\0\0\0\x04\0\0\0\0\0\0\0\x01\0\0\0PK\x05\x06\0\0\0\0");
        bytes.extend([0xff; 12]);
        bytes.extend([0; 2]);
    }
    bytes
}

#[test]
fn end_records_that_lead_nowhere_are_not_tried_one_by_one() {
    // The library by itself reads it hundreds of times over, and grows with the square.
    let small = tangle(400, 40);
    let (reader, work) = Counting::new(Cursor::new(&small[..]));
    assert!(ZipArchive::new(reader).is_err());
    assert!(work.get() > 1_000 * small.len() as u64, "it is harmless: {} of {}", work.get(), small.len());

    let large = tangle(17_500, 1_560);
    assert!(large.len() > 1_000_000);
    assert_says(&refused(large.clone()), "many end records, and the last ones fit nothing");
    assert_says(&refused(archive(&[("letter.docx", &large[..])])), "'letter.docx' is no Office file");
}

#[test]
fn an_honest_end_behind_a_tangle_is_found_at_once() {
    let plain = archive(&[("index.html", PAGE), ("x.css", b"p{}")]);
    for honest in [raw::enlarged(&plain, b""), plain] {
        let whole = [tangle(17_500, 1_560), honest].concat();
        let (work, files) = self::work(&whole);
        assert_eq!(files.unwrap().len(), 2);
        assert!(work < 4_000, "{work}");
    }
}

#[test]
fn a_directory_is_copied_without_needless_fields() {
    let mut entry = stored("index.html", PAGE);
    entry.extra = b"\xfe\xca\0\0".repeat(16_000);
    let whole = raw::write(&[entry]);
    let (work, files) = work(&whole);
    assert_eq!(files.unwrap()["index.html"], PAGE);
    assert!(work < 3_000, "{work}");
}

#[test]
fn counts_are_limited_before_anything_is_allocated() {
    const ENTRIES: u32 = 140_000;
    let mut directory = [&b"PK\x01\x02"[..], &[0; 42]].concat().repeat(ENTRIES as usize);
    let size = u32::try_from(directory.len()).unwrap();
    directory.extend(b"PK\x05\x06\0\0\0\0\0\0\0\0");
    directory.extend(size.to_le_bytes());
    directory.extend([0; 6]);
    let mut many = raw::enlarged(&directory, b"");
    for at in [24, 32] {
        let at = size as usize + at;
        many[at..at + 8].copy_from_slice(&u64::from(ENTRIES).to_le_bytes());
    }
    let upload = [&b"PK\x07\x08"[..], &many].concat();
    assert_says(&refused(upload), "has 140000 entries, more than 10000");
    let files = Files::from([("letter.docx".to_owned(), Bytes::from(many.clone()))]);
    let package = Package { entry: "letter.docx".to_owned(), kind: TemplateKind::Docx, files };
    let error = Package::reopen(&package.pack().unwrap()).unwrap_err().0;
    assert_says(&error, "inside it, the archive has 140000 entries, more than 131072");
    // A count for which there is no room is no reason to make any.
    let lying = size as usize + 24;
    many[lying..lying + 16].fill(0xfe);
    assert_says(&refused([&b"PK\x07\x08"[..], &many].concat()), "no room for the entries");
}

/// Archives of every kind that is read.
fn whole() -> Vec<Vec<u8>> {
    let text = "some text that shrinks ".repeat(40);
    let plain = archive(&[("index.html", text.as_bytes()), ("a/b/c.css", b"p{}"), ("a/x.bin", &[7; 300])]);
    let odd = raw::write(&[
        streamed("index.html", text.as_bytes()),
        renamed("b?cher.css", "bücher.css", b"x"),
        deflated("__MACOSX/._x", b"junk"),
        stored("a/", b""),
    ]);
    vec![
        raw::enlarged(&plain, b""),
        raw::enlarged(&odd, b"sector"),
        [&b"words"[..], &raw::commented(plain.clone(), b"PK\x05\x06 a comment")].concat(),
        archive(&[("box/letter.docx", &docx()[..])]),
        docx(),
        plain,
        odd,
        tangle(9, 9),
    ]
}

/// What comes in the place of some bytes: any, many of one, or a piece of an archive.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let same = (prop_oneof![Just(0), Just(0xff), any::<u8>()], 0..9_usize);
    let cut = (select(whole()), any::<Index>(), 1..400_usize).prop_map(|(archive, from, count)| {
        let from = from.index(archive.len());
        archive[from..archive.len().min(from + count)].to_vec()
    });
    prop_oneof![4 => vec(any::<u8>(), 1), 2 => same.prop_map(|(byte, count)| vec![byte; count]), 3 => cut]
}

/// How many bytes it takes the place of; none: as many as it has.
fn removed() -> impl Strategy<Value = Option<usize>> {
    prop_oneof![7 => Just(None), 3 => (0..80_usize).prop_map(Some), 1 => Just(Some(1 << 20))]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

    #[test]
    fn no_mutation_makes_an_archive_costly(
        mut bytes in prop_oneof![4 => select(whole()), 1 => vec(any::<u8>(), 0..400)],
        mutations in vec((any::<Index>(), piece(), removed()), 1..6)
    ) {
        for (at, piece, removed) in mutations {
            let at = at.index(bytes.len() + 1);
            let end = bytes.len().min(at + removed.unwrap_or(piece.len()));
            bytes.splice(at..end, piece);
        }
        let length = bytes.len() as u64;
        let view = View::of(&bytes, &ArchiveLimits::WIDEST);
        if let Ok(mut view) = view {
            prop_assert!(view.seek(SeekFrom::End(0)).unwrap() <= length + 98, "no more than was there");
        }
        let (work, files) = work(&bytes);
        prop_assert!(work <= 5 * length + 4_096, "{} for {}", work, length);
        let unpacked: usize = files.iter().flatten().map(|(_, content)| content.len()).sum();
        prop_assert!(unpacked as u64 <= 200 * length + (1 << 20));
        let upload = Bytes::from(bytes);
        let _ = Package::reopen(&upload);
        if let Ok(package) = Package::read(&upload, &limits()) {
            prop_assert_eq!(Package::reopen(&package.pack().unwrap()).unwrap().entry, package.entry);
        }
    }
}
