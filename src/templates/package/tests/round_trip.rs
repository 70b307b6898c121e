//! A packed package is read as the same package, whatever its files are.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

use super::*;
use crate::domain::kinds::TemplateKind;
use crate::domain::site::Files;

fn content() -> impl Strategy<Value = Bytes> {
    let random = vec(any::<u8>(), 0..300).prop_map(Bytes::from);
    let dense = (any::<u8>(), 0_usize..100_000).prop_map(|(byte, count)| Bytes::from(vec![byte; count]));
    prop_oneof![random, dense, Just(Bytes::from(archive(&[("a/b", PAGE)])))]
}

/// Names with letters of many scripts, which differ in more than capitals.
fn others() -> impl Strategy<Value = Files> {
    let folder = prop_oneof![Just(""), Just("assets/"), Just("a b/é/"), Just("deep/er/still/")];
    let name = ("[a-z0-9äß漢$@ ]{1,8}", prop_oneof!["css", "js", "png", "woff2", "bin", "zip"]);
    let path = (folder, name).prop_map(|(folder, (name, extension))| format!("{folder}_{name}.{extension}"));
    btree_map(path, content(), 0..12)
}

fn entry() -> impl Strategy<Value = (String, TemplateKind, Bytes)> {
    let page = "[a-zäö<>/ \n]{0,200}".prop_map(|text| (TemplateKind::Html, Bytes::from(text)));
    let tags = "[a-z]{0,20}".prop_map(|name| (TemplateKind::Ejs, Bytes::from(format!("<%= {name} %>"))));
    let office = Just((TemplateKind::Docx, Bytes::from(docx())));
    prop_oneof![
        (prop_oneof![Just("index.html"), Just("Brief.htm")], prop_oneof![page, tags])
            .prop_map(|(name, (kind, content))| (name.to_owned(), kind, content)),
        "[a-z]{0,20}".prop_map(|text| ("index.ejs".to_owned(), TemplateKind::Ejs, Bytes::from(text))),
        "[a-z]{0,20}".prop_map(|text| ("main.tex".to_owned(), TemplateKind::Latex, Bytes::from(text))),
        office.prop_map(|(kind, content)| ("index.docx".to_owned(), kind, content)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn a_packed_package_is_read_as_the_same_package((entry, kind, content) in entry(), mut files in others()) {
        files.insert(entry.clone(), content);
        let package = Package { entry: entry.clone(), kind, files };
        let packed = package.pack().unwrap();
        prop_assert_eq!(&Package::read(&packed, &limits()).unwrap(), &package);
        prop_assert_eq!(&Package::reopen(&packed).unwrap(), &package);
        prop_assert_eq!(&package.pack().unwrap(), &packed, "the same bytes for the same files");
        let first = zip::ZipArchive::new(Cursor::new(&packed[..])).unwrap();
        prop_assert_eq!(first.name_for_index(0).unwrap().unwrap().into_owned(), entry);
    }
}

#[test]
fn a_packed_archive_is_small_and_never_a_bomb() {
    let rows: Vec<_> = (0..2_000).map(|row| format!("<td>row {row} of a page</td>")).collect();
    let text = rows.join("\n");
    let zeros = vec![0; 3 << 20];
    let files = [("index.html", text.as_bytes()), ("logo.png", text.as_bytes()), ("zeros.bin", &zeros[..])];
    let files: Files =
        files.into_iter().map(|(path, content)| (path.to_owned(), Bytes::copy_from_slice(content))).collect();
    let package = Package { entry: "index.html".to_owned(), kind: TemplateKind::Html, files };
    let packed = package.pack().unwrap();
    let mut reader = zip::ZipArchive::new(Cursor::new(&packed[..])).unwrap();
    let mut sizes = |name| reader.by_name(name).map(|file| (file.size(), file.compressed_size())).unwrap();
    assert!(sizes("index.html").1 * 4 < sizes("index.html").0);
    assert_eq!(sizes("logo.png").0, sizes("logo.png").1, "compressed already");
    assert_eq!(sizes("zeros.bin").0, sizes("zeros.bin").1, "else it could not be uploaded again");
    assert_eq!(Package::read(&packed, &limits()).unwrap(), package);
    // Uploaded under other limits than today's.
    let lowered = TemplatesConfig { archive_entries_limit: 1, ..limits() };
    assert!(Package::read(&packed, &lowered).is_err());
    assert_eq!(Package::reopen(&packed).unwrap(), package);
    let broken = Package { entry: "none.html".to_owned(), ..package };
    assert!(broken.pack().unwrap_err().0.contains("has no file 'none.html'"));
}
