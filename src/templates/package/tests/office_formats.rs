//! Older and foreign Office formats: known by their content, by whatever name they come.

use super::{Named, archive, assert_says, docx, limits, office, read, refused};
use crate::domain::kinds::TemplateKind;
use crate::templates::package::Package;

const SECTOR: usize = 512;

/// A compound file with these streams at its top, each of so many bytes; within a storage beside them lies one more.
fn compound(streams: &[(&str, &[u8])], within: &str) -> Vec<u8> {
    let entry = |name: &str, kind: u8, (next, child): (u32, u32), (start, size): (u32, u32)| {
        let mut bytes = vec![0; 128];
        let letters: Vec<u8> = name.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect();
        bytes[..letters.len()].copy_from_slice(&letters);
        bytes[64..66].copy_from_slice(&u16::try_from(letters.len()).unwrap().to_le_bytes());
        bytes[66] = kind;
        for (at, number) in [(68, u32::MAX), (72, next), (76, child), (116, start), (120, size)] {
            bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
        }
        bytes
    };
    let number = |place: usize| u32::try_from(place).unwrap();
    // Sector 0 is the table, the directory follows, then the streams of 4,096 bytes.
    let count = streams.len() + 3;
    let directory_sectors = count.div_ceil(SECTOR / 128);
    let none = u32::MAX;
    let mut directory = entry("Root Entry", 5, (none, 1), (none, 0));
    let mut content = Vec::new();
    for (at, (name, start)) in streams.iter().enumerate() {
        let sector = 1 + directory_sectors + content.len() / SECTOR;
        directory.extend(entry(name, 2, (number(at + 2), none), (number(sector), 4_096)));
        let mut stream = start.to_vec();
        stream.resize(4_096, 0);
        content.extend(stream);
    }
    directory.extend(entry("ObjectPool", 1, (none, number(count - 1)), (none, 0)));
    directory.extend(entry(within, 2, (none, none), (none, 0)));
    directory.resize(directory_sectors * SECTOR, 0);

    let mut file = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec();
    file.resize(SECTOR, 0xff);
    for (at, number) in [(30, 9_u32), (48, 1), (56, 4_096), (76, 0)] {
        file[at..at + 4].copy_from_slice(&number.to_le_bytes());
    }
    let mut table: Vec<u8> = [0xffff_fffd_u32].iter().flat_map(|link| link.to_le_bytes()).collect();
    let chain = (1..=directory_sectors)
        .map(|sector| if sector == directory_sectors { 0xffff_fffe } else { number(sector + 1) });
    table.extend(chain.flat_map(u32::to_le_bytes));
    table.resize(SECTOR, 0xff);
    file.extend(table);
    file.extend(directory);
    file.extend(content);
    file
}

fn open_document(kind: &str) -> Vec<u8> {
    let kind = format!("application/vnd.oasis.opendocument.{kind}");
    archive(&[("mimetype", kind.as_bytes()), ("content.xml", b"<x/>"), ("META-INF/manifest.xml", b"<m/>")])
}

fn word(flags: [u8; 2]) -> Vec<u8> {
    [b"\xec\xa5\xc1\0\0\0\0\0\0\0".as_slice(), &flags].concat()
}

/// One of each, with its name and type.
fn all() -> Vec<(&'static str, TemplateKind, Vec<u8>)> {
    use TemplateKind::{Docx, Pptx, Xlsx};
    vec![
        ("odt", Docx, open_document("text")),
        ("odt", Docx, open_document("text-template")),
        ("ods", Xlsx, open_document("spreadsheet")),
        ("odp", Pptx, open_document("presentation")),
        // What is embedded does not count.
        ("doc", Docx, compound(&[("1Table", b""), ("WordDocument", &word([0, 0x12]))], "Workbook")),
        ("xls", Xlsx, compound(&[("Workbook", b"")], "WordDocument")),
        ("xls", Xlsx, compound(&[("Book", b"")], "PowerPoint Document")),
        ("ppt", Pptx, compound(&[("Current User", b""), ("PowerPoint Document", b"")], "EncryptedPackage")),
        ("rtf", Docx, b"{\\rtf1\\ansi words}".to_vec()),
    ]
}

#[test]
fn an_older_format_is_taken_as_the_type_of_its_successor_whatever_its_name() {
    for (extension, kind, file) in all() {
        let package = read(file.clone()).unwrap();
        let name = format!("index.{extension}");
        assert_eq!((package.kind, package.entry.as_str()), (kind, name.as_str()));
        assert_eq!(&package.files[&name][..], &file[..], "it is kept whole");
        assert_eq!(Package::check_office(&file, &limits()), Ok(()));
        // Saved and opened again; then beside other files.
        let reopened = Package::reopen(&package.pack().unwrap()).unwrap();
        assert_eq!((reopened.kind, reopened.entry), (kind, name));
        let index = format!("index.{extension}");
        for entry in [index.as_str(), "Letter.DOC", "a.pptx"] {
            let packed = archive(&[(entry, &file), ("img/logo.png", b"png"), ("notes.txt", b"x")]);
            let package = read(packed).unwrap();
            assert_eq!((package.kind, package.entry.as_str()), (kind, entry), "the content decides");
        }
    }
}

#[test]
fn an_old_file_beside_the_template_is_no_second_template() {
    let old = compound(&[("WordDocument", &word([0, 0]))], "x");
    let docx = docx();
    let files: [Named; 3] = [("letter.docx", &docx), ("old.doc", &old), ("older.rtf", b"{\\rtf1}")];
    assert_eq!(read(archive(&files)).unwrap().entry, "letter.docx");
    assert_eq!(read(archive(&[("page.html", b"<p>"), ("form.doc", &old)])).unwrap().entry, "page.html");
    let wanted = |kind, files: &[Named]| {
        Package::read_for(Some(kind), &archive(files).into(), &limits()).map(|package| package.entry)
    };
    let sheet = office("xl/workbook.xml", "vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml");
    let both: [Named; 3] = [("a.xlsx", &sheet), ("b.odt", &open_document("text")), ("index.html", b"<p>")];
    assert_eq!(wanted(TemplateKind::Docx, &both).unwrap(), "b.odt");
    assert_eq!(wanted(TemplateKind::Xlsx, &both).unwrap(), "a.xlsx");
    let error = wanted(TemplateKind::Docx, &[("b.odt", &old), ("c.doc", &old)]).unwrap_err().0;
    assert_says(&error, "'b.odt', 'c.doc'; rename the one that is it to index.doc or index.odt");
}

#[test]
fn what_has_a_password_or_is_another_programs_is_refused_by_name() {
    let manifest = b"<manifest:file-entry><manifest:encryption-data/></manifest:file-entry>";
    let kind = b"application/vnd.oasis.opendocument.text";
    let odt = archive(&[("mimetype", kind), ("META-INF/manifest.xml", manifest), ("content.xml", b"x")]);
    for protected in [
        compound(&[("EncryptionInfo", b""), ("EncryptedPackage", b"")], "x"),
        compound(&[("PowerPoint Document", b""), ("EncryptedSummary", b"")], "x"),
        compound(&[("WordDocument", &word([0, 0x13]))], "x"),
        odt,
    ] {
        let error = refused(protected.clone());
        assert_eq!(error, "the Office file is protected by a password; save it without one");
        let error = Package::check_office(&protected, &limits()).unwrap_err().0;
        assert_says(&error, "protected by a password");
        let error = refused(archive(&[("index.docx", &protected)]));
        assert_says(&error, "'index.docx'");
        assert_says(&error, "protected by a password");
    }
    let error = refused(compound(&[("__properties_version1.0", b"")], "WordDocument"));
    assert_says(&error, "another program's of that time (Outlook");
    assert_says(&refused(open_document("graphics")), "an OpenDocument file of the kind 'graphics'");
}

#[test]
fn a_compound_file_that_is_cut_or_chained_in_circles_is_refused() {
    let whole = compound(&[("1Table", b""), ("WordDocument", &word([0, 0]))], "Workbook");
    for length in (8..whole.len().min(3 * SECTOR)).step_by(7) {
        let _ = read(whole[..length].to_vec());
    }
    let with = |at: usize, number: u32| {
        let mut changed = whole.clone();
        changed[at..at + 4].copy_from_slice(&number.to_le_bytes());
        changed
    };
    // The directory's chain, the tree's brothers and children, the table's place.
    let directory = 2 * SECTOR;
    for at in
        [30, 48, 68, 76, SECTOR + 4, SECTOR + 8, directory + 76, directory + 128 + 72, directory + 256 + 72]
    {
        for number in [0, 1, 2, 9, 12, 0x7fff_ffff, 0xffff_fffa, u32::MAX] {
            let _ = read(with(at, number));
        }
    }
    assert_eq!(read(with(SECTOR + 4, 1)).unwrap().entry, "index.doc", "a directory in a circle ends");
    assert_says(&refused(with(30, 62)), "damaged old Office file");
}

#[test]
fn what_does_not_begin_as_its_format_does_is_refused() {
    let kind = b"application/vnd.oasis.opendocument.text";
    let repacked =
        archive(&[("content.xml", b"<x/>"), ("mimetype", kind), ("META-INF/manifest.xml", b"<m/>")]);
    let error = refused(repacked.clone());
    assert_says(&error, "an OpenDocument text (.odt), and an entry 'mimetype' is not its first one");
    let types = b"<Types>wordprocessingml.document.main+xml</Types>";
    let both = archive(&[("mimetype", kind), ("[Content_Types].xml", types)]);
    assert_says(&refused(both), "a Word file (.docx), and an entry 'mimetype' is its first one");
    let inner = refused(archive(&[("letter.odt", &repacked), ("notes.txt", b"x")]));
    assert_says(&inner, "'mimetype' is not its first one");
    let other = archive(&[("mimetypes/a.xml", b"<x/>"), ("[Content_Types].xml", types)]);
    assert_eq!(read(other).unwrap().kind, TemplateKind::Docx);
}
