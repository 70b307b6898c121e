//! Templates in other encodings than UTF-8, as the engine reads them.

use bytes::Bytes;
use platen::domain::error::{ErrorCode, JobError, Warnings};
use platen::domain::ids::AccountId;
use platen::domain::site::Site;

use crate::ejs::{assembler, config};
use platen::config::AssembleConfig;

fn site(files: &[(&str, &[u8])]) -> Site {
    let files = files.iter().map(|(name, text)| ((*name).to_owned(), Bytes::copy_from_slice(text)));
    Site::new("index.html", files.collect())
}

/// The page and its warnings.
async fn assemble(files: &[(&str, &[u8])]) -> Result<(String, Vec<String>), JobError> {
    let assembler = assembler(&AssembleConfig { spares: 0, ..config() });
    let (data, mut warnings) = (Bytes::from(r#"{"name":"Zoë 東京"}"#), Warnings::default());
    let page = assembler.assemble(AccountId::generate(), &site(files), &data, &mut warnings).await?;
    Ok((String::from_utf8(page.to_vec()).unwrap(), warnings.lines()))
}

#[tokio::test]
async fn a_template_is_read_in_its_own_encoding() {
    let utf16: Vec<u8> = "\u{feff}<p>ü <%= name %>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (text, wanted) in [
        (&b"<meta charset=iso-8859-1><p>Gr\xfc\xdfe"[..], "<meta charset=iso-8859-1><p>Grüße"),
        (b"<meta charset=iso-8859-1>\xfc <%= name + '\xdf' %>", "<meta charset=iso-8859-1>ü Zoë 東京ß"),
        (b"<meta charset=shift_jis>\x95\x5c <%= name %>", "<meta charset=shift_jis>表 Zoë 東京"),
        (&utf16, "<p>ü Zoë 東京"),
    ] {
        assert_eq!(assemble(&[("index.html", text)]).await.unwrap(), (wanted.to_owned(), vec![]));
    }
}

#[tokio::test]
async fn an_include_has_the_encoding_of_the_entry_unless_it_declares_its_own() {
    let entry = b"<meta charset=windows-1251>\xef<% for (const part of ['a', 'b', 'c', 'd']) { %><%- include(part) %><% } %>";
    let (page, warnings) = assemble(&[
        ("index.html", entry),
        ("a.ejs", b"\xf0<%= 1 %>"),
        ("b.ejs", "р".as_bytes()),
        ("c.ejs", b"<meta charset=latin1>\xf0"),
        ("d.ejs", b"\xef\xbb\xbf\xd0\xb8"),
    ])
    .await
    .unwrap();
    assert_eq!(page, "<meta charset=windows-1251>пр1р<meta charset=latin1>ðи");
    assert_eq!(warnings, Vec::<String>::new());
}

#[tokio::test]
async fn a_guessed_encoding_is_warned_of_and_binary_files_are_refused() {
    let (page, warnings) =
        assemble(&[("index.html", b"a\n\xe4<%- include('a') %>"), ("a.ejs", b"<meta charset=utf-8>\xe4")])
            .await
            .unwrap();
    assert_eq!(page, "a\nä<meta charset=utf-8>\u{fffd}");
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[0].starts_with("index.html: line 2 is not UTF-8 and no encoding is declared"));
    assert!(warnings[1].starts_with("a.ejs: some of it is not UTF-8, which it declares"));
    let error = assemble(&[("index.html", b"<%- include('a.png') %>"), ("a.png", b"\x89PNG\0\xff")]).await;
    let error = error.unwrap_err();
    assert_eq!(error.code, ErrorCode::TemplateError);
    assert!(error.message.contains("the included file is no text"), "{}", error.message);
}
