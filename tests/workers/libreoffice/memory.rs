//! A server's memory after a document.

use std::io::Cursor;
use std::os::unix::fs::FileExt as _;

use platen::domain::format_opts::Metadata;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::{MADE, USUAL, run, servers, usual, word_of};
use crate::foreign::Foreign;

/// A child is a fork of its server and has its memory; the next document may be another account's.
#[tokio::test]
async fn nothing_of_a_document_is_left_in_the_memory_of_the_server() {
    const MARK: &str = "vQ7nothing-of-this-stays";
    let foreign = Foreign::new();
    let pool = USUAL.pool(&foreign);
    // A document that is long enough to be read in many pieces, with the mark in it uncompressed.
    let document = stored(&word_of(&format!("<!--{}--><w:p/>", MARK.repeat(50_000))));
    let mut job = usual("docx");
    job.metadata = Some(Metadata { title: Some(MARK.to_owned()), ..Metadata::default() });
    assert_eq!(run(&pool, job, &document).await.unwrap().0, MADE);
    let server = servers(&foreign)[0];
    let held = |mark: &str| memory(server).windows(mark.len()).any(|bytes| bytes == mark.as_bytes());
    assert!(!held(MARK));
    assert!(held("libreoffice-server"), "the memory was read");
}

/// The same archive without compression.
fn stored(file: &[u8]) -> Vec<u8> {
    let mut archive = ZipArchive::new(Cursor::new(file)).unwrap();
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for at in 0..archive.len() {
        let mut entry = archive.by_index(at).unwrap();
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        writer.start_file(entry.name().unwrap(), options).unwrap();
        std::io::copy(&mut entry, &mut writer).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// All that a process has in memory that it may write to.
fn memory(process: u32) -> Vec<u8> {
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).unwrap();
    let file = std::fs::File::open(format!("/proc/{process}/mem")).unwrap();
    let mut memory = Vec::new();
    for line in maps.lines().filter(|line| line.contains(" rw")) {
        let (start, end) = line.split_once(' ').unwrap().0.split_once('-').unwrap();
        let [start, end] = [start, end].map(|text| u64::from_str_radix(text, 16).unwrap());
        let mut part = vec![0; usize::try_from(end - start).unwrap()];
        if file.read_exact_at(&mut part, start).is_ok() {
            memory.append(&mut part);
        }
    }
    memory
}
