//! Encodings are detected as by browsers, with warnings where the service differs.

use encoding_rs::{BIG5, EUC_JP, GBK, ISO_2022_JP, ISO_8859_2, SHIFT_JIS, WINDOWS_1251, WINDOWS_1253};

use super::*;

#[test]
fn declarations_are_found_as_browsers_find_them() {
    let late = format!("{}<meta charset=latin1>", " ".repeat(1_010));
    for (page, wanted) in [
        ("<meta charset=latin1>", Some(WINDOWS_1252)),
        (
            "<!doctype html><html lang=de><head><title>a</title><META CharSet = 'ISO-8859-1' />",
            Some(WINDOWS_1252),
        ),
        ("<meta\ncharset=\"windows-1251\">", Some(WINDOWS_1251)),
        ("<meta/charset=shift_jis>", Some(SHIFT_JIS)),
        ("<meta charset= euc-jp >", Some(EUC_JP)),
        ("<meta name=a content='charset=big5' charset=gbk>", Some(GBK)),
        ("<meta http-equiv=Content-Type content='text/html; charset=Big5'>", Some(BIG5)),
        ("<meta content='text/html;charset = \"iso-8859-2\"' http-equiv='content-type'>", Some(ISO_8859_2)),
        (
            "<meta content='a charset b charset=greek; x' http-equiv=content-type>",
            Some(encoding_rs::ISO_8859_7),
        ),
        ("<meta content='text/html; charset=big5'>", None),
        ("<meta http-equiv=refresh content='charset=big5'>", None),
        ("<meta charset=nothing><meta charset=windows-1253>", Some(WINDOWS_1253)),
        ("<meta charset=a charset=big5>", None),
        ("<meta charset=utf-16>", Some(UTF_8)),
        ("<meta charset=x-user-defined>", Some(WINDOWS_1252)),
        ("<meta charset=iso-2022-kr>", None),
        ("<!-- <meta charset=big5> --><meta charset=gbk>", Some(GBK)),
        ("<!--><meta charset=gbk>", Some(GBK)),
        ("<p title='<meta charset=big5>'><meta charset=gbk>", Some(GBK)),
        ("<p title=\"<meta charset=big5>", None),
        (
            "<% if (a < b) { %><?php <meta charset=big5> ?></ <meta charset=big5>><meta charset=gbk>",
            Some(GBK),
        ),
        ("<metadata charset=big5>", None),
        ("<meta charset=big5", None),
        ("<?xml version='1.0' encoding = 'ISO-8859-2'?><html>", Some(ISO_8859_2)),
        ("<?xml version='1.0'?><html encoding='big5'>", None),
        (" <?xml encoding='big5'?>", None),
        (&late, None),
        ("", None),
    ] {
        assert_eq!(declared(page.as_bytes(), Syntax::Page), wanted, "{page}");
    }
    for (sheet, wanted) in [
        ("@charset \"latin1\"; p{}", Some(WINDOWS_1252)),
        ("@charset 'latin1'; p{}", None),
        (" @charset \"latin1\";", None),
        ("@charset \"latin1\"", None),
        ("/* <meta charset=big5> */", None),
    ] {
        assert_eq!(declared(sheet.as_bytes(), Syntax::Sheet), wanted, "{sheet}");
    }
    assert_eq!(Syntax::of("a/b.CSS"), Syntax::Sheet);
}

#[test]
fn a_text_is_decoded_as_browsers_decode_it() {
    let page = |name: &str, encoding: &'static Encoding, text: &str| {
        let text = format!("<meta charset={name}>{text}");
        let (bytes, _, lossy) = encoding.encode(&text);
        assert!(!lossy);
        (bytes.into_owned(), text, encoding)
    };
    for (bytes, text, encoding) in [
        page("iso-8859-1", WINDOWS_1252, "Grüße, señor – 5 €"),
        page("windows-1251", WINDOWS_1251, "Привет"),
        page("shift_jis", SHIFT_JIS, "表示、ソース"),
        page("iso-2022-jp", ISO_2022_JP, "日本語"),
        page("gbk", GBK, "联通"),
        page("utf-8", UTF_8, "Grüße 東京"),
    ] {
        let wanted = Decoded { text: Cow::Owned(text), encoding, warning: None };
        assert_eq!(decode(&bytes, Syntax::Page, None), Some(wanted));
    }
    let wide = |unit: fn(u16) -> [u8; 2]| -> Vec<u8> {
        "\u{feff}<meta charset=latin1>ü東".encode_utf16().flat_map(unit).collect()
    };
    for bytes in [wide(u16::to_le_bytes), wide(u16::to_be_bytes)] {
        assert_eq!(decode(&bytes, Syntax::Page, None).unwrap().text, "<meta charset=latin1>ü東");
    }
    let marked = "\u{feff}<meta charset=latin1>ü";
    let decoded = decode(marked.as_bytes(), Syntax::Page, None).unwrap();
    assert_eq!((decoded.text.as_ref(), decoded.encoding, decoded.warning), (marked, UTF_8, None));
    assert!(matches!(decoded.text, Cow::Borrowed(_)), "not even copied");
}

#[test]
fn doubtful_encodings_are_warnings_for_the_author() {
    for (bytes, around, text, warning) in [
        (&b"a\nb\xe4"[..], None, "a\nbä", Some(EncodingWarning::Guessed(2))),
        (b"b\xe4", Some(WINDOWS_1251), "bд", None),
        (b"b\xe4", Some(UTF_8), "b\u{fffd}", Some(EncodingWarning::Damaged(UTF_8))),
        (b"b\xe4", Some(UTF_16LE), "bä", Some(EncodingWarning::Guessed(1))),
        ("bä".as_bytes(), Some(WINDOWS_1251), "bä", None),
        (
            "<meta charset=latin1>ä".as_bytes(),
            None,
            "<meta charset=latin1>ä",
            Some(EncodingWarning::Contradicted(WINDOWS_1252)),
        ),
        (b"<meta charset=latin1>a", None, "<meta charset=latin1>a", None),
        (
            b"<meta charset=utf-8>\xe4b",
            None,
            "<meta charset=utf-8>\u{fffd}b",
            Some(EncodingWarning::Damaged(UTF_8)),
        ),
        (b"\xef\xbb\xbf\xe4b", None, "\u{fffd}b", Some(EncodingWarning::Damaged(UTF_8))),
    ] {
        let decoded = decode(bytes, Syntax::Page, around).unwrap();
        assert_eq!((decoded.text.as_ref(), decoded.warning), (text, warning));
    }
    assert_eq!(decode(b"\x89PNG\0", Syntax::Page, None), None);
    assert!(decode(b"a\0", Syntax::Page, None).is_some(), "UTF-8 all the same");
    assert!(EncodingWarning::Guessed(2).of("a.html").starts_with("a.html: line 2 is not UTF-8"));
}

#[test]
fn a_page_that_misleads_gets_one_byte_order_mark() {
    let page = |text: &str| Bytes::from(text.to_owned());
    for same in ["<p>ä", "<meta charset=utf-8>ä", "<meta charset=latin1>a", "\u{feff}<meta charset=latin1>ä"]
    {
        let same = page(same);
        assert_eq!(with_bom_if_misleading(same.clone()).as_ptr(), same.as_ptr());
    }
    let late = format!("{}<meta charset=latin1>ä", " ".repeat(2_000));
    for text in ["<meta charset=latin1>ä", "<meta charset=gbk>東", &late] {
        let marked = with_bom_if_misleading(page(text));
        assert_eq!(marked, page(&format!("\u{feff}{text}")));
        assert_eq!(decode(&marked, Syntax::Page, None).unwrap().warning, None);
        assert_eq!(without_bom(marked), page(text));
    }
}

#[test]
fn a_declaration_of_thousands_of_attributes_is_read_at_once() {
    let names: String = (0..16_000).flat_map(|at| [" ".to_owned(), at.to_string()]).collect();
    let page = format!("<meta{} charset=iso-8859-2 charset=utf-8>\u{e4}", &names[..WIDE_WINDOW_BYTES - 100]);
    let begun = std::time::Instant::now();
    for _ in 0..8 {
        assert!(
            with_bom_if_misleading(Bytes::from(page.clone())).starts_with(BOM),
            "the first of a name counts"
        );
    }
    assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
}
