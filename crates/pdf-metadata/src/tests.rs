//! Files as LibreOffice writes them, and what is added to them.

use std::fmt::Write as _;

use super::*;

const PACKET: &str = "<?xpacket begin=\"\"?>\n<x:xmpmeta><rdf:RDF>\n <rdf:Description>\n   <dc:title>\n    <rdf:Alt>old</rdf:Alt>\n   \
    </dc:title>\n   <pdf:Producer>P</pdf:Producer>\n  </rdf:Description>\n </rdf:RDF></x:xmpmeta>";

/// A file as LibreOffice lays it out.
fn file() -> Vec<u8> {
    let objects = [
        "<</Type/Catalog/Pages 2 0 R/Metadata 3 0 R>>".to_owned(),
        "<</Type/Pages/Kids[]/Count 7>>".to_owned(),
        format!("<</Type/Metadata/Subtype/XML/Length {}>>\nstream\n{PACKET}\nendstream", PACKET.len()),
        "<</Title<FEFF0061>/Creator<FEFF0062>/CreationDate(D:20260101)>>".to_owned(),
    ];
    let mut file = b"%PDF-1.7\n".to_vec();
    let mut table = "xref\n0 5\n0000000000 65535 f \n".to_owned();
    for (at, object) in objects.iter().enumerate() {
        writeln!(table, "{:010} 00000 n ", file.len()).unwrap();
        file.extend_from_slice(format!("{} 0 obj\n{object}\nendobj\n", at + 1).as_bytes());
    }
    let place = file.len();
    file.extend_from_slice(table.as_bytes());
    let end = format!(
        "trailer\n<</Size 5/Root 1 0 R\n/Info 4 0 R\n/ID [ <AA>\n<BB> ]\n>>\nstartxref\n{place}\n%%EOF\n"
    );
    file.extend_from_slice(end.as_bytes());
    file
}

fn said() -> Metadata {
    Metadata { title: Some("T & ü".to_owned()), keywords: Some("<k>".to_owned()), ..Metadata::default() }
}

#[test]
fn what_is_said_anew_stands_in_both_places_and_the_rest_stays() {
    let file = file();
    let added = String::from_utf8(addition(&file, &said()).unwrap()).unwrap();
    assert!(
        added.contains("4 0 obj\n<</Creator<FEFF0062>/CreationDate(D:20260101)/Title<FEFF0054002000260020")
    );
    assert!(added.contains("/Keywords<FEFF003C006B003E>>>"));
    assert!(added.contains(">T &amp; ü</rdf:li>") && added.contains("<pdf:Keywords>&lt;k&gt;<"), "{added}");
    assert!(!added.contains("old") && added.contains("<pdf:Producer>P<"));
    assert!(added.contains("1 0 obj\n<</ViewerPreferences<</DisplayDocTitle true>>/Type/Catalog"), "{added}");
    assert_eq!((pages(&file), has_title(&file)), (Some(7), Some(true)));
    // Each object is where the new table says.
    let mut whole = file.clone();
    whole.extend_from_slice(added.as_bytes());
    assert_eq!(pages(&whole), Some(7));
    let (_, table) = added.split_once("xref\n").unwrap();
    let lines: Vec<_> = table.lines().collect();
    for pair in lines[..6].chunks(2) {
        let (number, place): (u32, usize) =
            (pair[0].split(' ').next().unwrap().parse().unwrap(), pair[1][..10].parse().unwrap());
        assert!(whole[place..].starts_with(format!("{number} 0 obj\n").as_bytes()));
    }
    let (_, start) = added.rsplit_once("startxref\n").unwrap();
    let start: usize = start.lines().next().unwrap().parse().unwrap();
    assert!(whole[start..].starts_with(b"xref\n1 1\n"));
    assert!(added.contains("/ID [ <AA>\n<BB> ]/Prev "));
}

#[test]
fn a_file_that_is_written_otherwise_has_no_addition() {
    let file = String::from_utf8(file()).unwrap();
    for (from, to) in [
        ("/Subtype/XML", "/Filter/XML "),
        ("startxref\n", "startxref\n9"),
        ("/Info 4", "/Info 9"),
        ("4 0 obj", "4 1 obj"),
        ("</rdf:RDF>", "</rdf:RDX>"),
        ("/Size 5", "/Prev 5"),
    ] {
        assert_eq!(addition(file.replace(from, to).as_bytes(), &said()), None, "{from}");
    }
    for end in 0..file.len() {
        // No file that is cut off makes it fail.
        let _ = (addition(&file.as_bytes()[..end], &said()), pages(&file.as_bytes()[..end]));
    }
    assert_eq!(addition(b"", &said()), None);
}
