//! Archives written byte by byte: what no decent program writes.

use std::io::{Cursor, Read as _};

use zip::ZipArchive;

use super::archive;

/// One entry; every field of it can be false.
#[derive(Clone)]
pub struct RawEntry {
    pub name: Vec<u8>,
    pub flags: u16,
    pub method: u16,
    pub crc: u32,
    pub packed: Vec<u8>,
    /// How much longer than that it is said to be.
    pub reach: u32,
    pub size: u32,
    pub made_by: u16,
    pub attributes: u32,
    pub extra: Vec<u8>,
    /// Behind the packed bytes.
    pub descriptor: Vec<u8>,
    /// Where its header is said to begin, if not where it does.
    pub header_start: Option<u32>,
}

pub fn stored(name: impl AsRef<[u8]>, content: &[u8]) -> RawEntry {
    RawEntry {
        name: name.as_ref().to_vec(),
        flags: 0,
        method: 0,
        crc: crc32fast::hash(content),
        packed: content.to_vec(),
        reach: 0,
        size: u32::try_from(content.len()).unwrap(),
        made_by: 20,
        attributes: 0,
        extra: Vec::new(),
        descriptor: Vec::new(),
        header_start: None,
    }
}

pub fn deflated(name: &str, content: &[u8]) -> RawEntry {
    let whole = archive(&[("x", content)]);
    let mut whole = ZipArchive::new(Cursor::new(whole)).unwrap();
    let mut packed = Vec::new();
    whole.by_index_raw(0).unwrap().read_to_end(&mut packed).unwrap();
    RawEntry { method: 8, packed, ..stored(name, content) }
}

/// As programs do that write into a pipe: sizes come behind the content.
pub fn streamed(name: &str, content: &[u8]) -> RawEntry {
    let entry = deflated(name, content);
    let mut descriptor = b"PK\x07\x08".to_vec();
    for value in [entry.crc, length(&entry.packed), entry.size] {
        descriptor.extend(value.to_le_bytes());
    }
    RawEntry { flags: 8, descriptor, ..entry }
}

/// With the field that holds another name, in UTF-8.
pub fn renamed(name: impl AsRef<[u8]>, to: &str, content: &[u8]) -> RawEntry {
    let entry = stored(name, content);
    let length = u16::try_from(5 + to.len()).unwrap().to_le_bytes();
    let extra =
        [b"\x75\x70", &length[..], &[1], &crc32fast::hash(&entry.name).to_le_bytes(), to.as_bytes()].concat();
    RawEntry { extra, ..entry }
}

/// The same archive with the end record of large ones; `sector` is what some programs put into it.
pub fn enlarged(archive: &[u8], sector: &[u8]) -> Vec<u8> {
    let (body, end) = archive.split_at(archive.len() - 22);
    let mut bytes = body.to_vec();
    bytes.extend(b"PK\x06\x06");
    bytes.extend((44 + sector.len() as u64).to_le_bytes());
    bytes.extend([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    for (at, width) in [(8, 2), (10, 2), (12, 4), (16, 4)] {
        bytes.extend(&end[at..at + width]);
        bytes.extend(vec![0; 8 - width]);
    }
    bytes.extend(sector);
    bytes.extend(b"PK\x06\x07\0\0\0\0");
    bytes.extend((body.len() as u64).to_le_bytes());
    bytes.extend(b"\x01\0\0\0PK\x05\x06\0\0\0\0");
    bytes.extend([0xff; 12]);
    bytes.extend([0; 2]);
    bytes
}

/// The same archive with a comment.
pub fn commented(mut archive: Vec<u8>, comment: &[u8]) -> Vec<u8> {
    let length = archive.len();
    archive[length - 2..].copy_from_slice(&u16::try_from(comment.len()).unwrap().to_le_bytes());
    archive.extend(comment);
    archive
}

/// With a Unix mode, type of file included.
pub fn with_mode(mode: u32, entry: RawEntry) -> RawEntry {
    RawEntry { made_by: 0x031e, attributes: mode << 16, ..entry }
}

pub fn write(entries: &[RawEntry]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut directory = Vec::new();
    for entry in entries {
        let start = entry.header_start.unwrap_or(length(&bytes));
        let known = entry.flags & 8 == 0;
        bytes.extend(b"PK\x03\x04\x14\0");
        bytes.extend(fields(entry, known));
        bytes.extend(&entry.name);
        bytes.extend(&entry.extra);
        bytes.extend(&entry.packed);
        bytes.extend(&entry.descriptor);
        directory.extend(b"PK\x01\x02");
        directory.extend(entry.made_by.to_le_bytes());
        directory.extend([20, 0]);
        directory.extend(fields(entry, true));
        directory.extend([0; 6]);
        directory.extend(entry.attributes.to_le_bytes());
        directory.extend(start.to_le_bytes());
        directory.extend(&entry.name);
        directory.extend(&entry.extra);
    }
    let (start, size) = (length(&bytes), length(&directory));
    let count = u16::try_from(entries.len()).unwrap().to_le_bytes();
    bytes.extend(directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend([count, count].concat());
    bytes.extend(size.to_le_bytes());
    bytes.extend(start.to_le_bytes());
    bytes.extend([0, 0]);
    bytes
}

/// From the flags to the length of the extra field: the same in both headers.
fn fields(entry: &RawEntry, known: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend(entry.flags.to_le_bytes());
    bytes.extend(entry.method.to_le_bytes());
    bytes.extend([0, 0, 0x21, 0]);
    for value in [entry.crc, length(&entry.packed) + entry.reach, entry.size] {
        bytes.extend(if known { value } else { 0 }.to_le_bytes());
    }
    bytes.extend(u16::try_from(entry.name.len()).unwrap().to_le_bytes());
    bytes.extend(u16::try_from(entry.extra.len()).unwrap().to_le_bytes());
    bytes
}

fn length(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap()
}
