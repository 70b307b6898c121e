//! Which uploads are accepted, what packages they become, and with which sentences others are refused.

mod contents;
mod hostile;
mod office_formats;
mod raw_archive;
mod refused;
mod round_trip;
mod tolerated;

use std::io::{Cursor, Write as _};

use bytes::Bytes;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::{Package, PackageError};
use crate::config::{Config, TemplatesConfig};

type Named<'a> = (&'a str, &'a [u8]);

const PAGE: &[u8] = b"<p>page</p>";

fn limits() -> TemplatesConfig {
    Config::default().templates
}

fn read(upload: impl Into<Bytes>) -> Result<Package, PackageError> {
    Package::read(&upload.into(), &limits())
}

fn refused(upload: impl Into<Bytes>) -> String {
    match read(upload) {
        Ok(package) => panic!("it was accepted: {:?}", paths(&package)),
        Err(error) => error.0,
    }
}

#[track_caller]
fn assert_says(sentence: &str, words: &str) {
    assert!(sentence.contains(words), "{sentence}");
}

fn paths(package: &Package) -> Vec<&str> {
    package.files.keys().map(String::as_str).collect()
}

/// An archive as a usual program writes it.
fn archive(files: &[Named]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// An Office file as small as one can be.
fn office(main_part: &str, content_type: &str) -> Vec<u8> {
    let types = format!(
        "<?xml version=\"1.0\"?><Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">\
         <Default Extension=\"xlsx\" ContentType=\"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet\"/>\
         <Override PartName=\"/{main_part}\" ContentType=\"application/{content_type}\"/></Types>"
    );
    archive(&[("[Content_Types].xml", types.as_bytes()), (main_part, b"<x/>")])
}

fn docx() -> Vec<u8> {
    office("word/document.xml", "vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml")
}
