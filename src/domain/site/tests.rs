//! Files of a template: what replaces the entry, and by which names files are found.

use super::*;

#[test]
fn a_page_replaces_the_entry_and_the_files_are_shared() {
    let files = [("a/index.html", "entry"), ("a/x.css", "p{}")];
    let files = files.map(|(path, text)| (path.to_owned(), Bytes::from_static(text.as_bytes())));
    let site = Site::new("a/index.html", Files::from(files));
    let other = site.clone().with_page(Bytes::from_static(b"page"));
    assert_eq!((site.folder(), site.page().unwrap().as_ref()), ("a", &b"entry"[..]));
    assert_eq!(other.get("a/index.html").unwrap().as_ref(), b"page");
    assert_eq!(other.template().page().unwrap().as_ref(), b"entry");
    assert_eq!(other.get("a/x.css").unwrap().as_ptr(), site.get("a/x.css").unwrap().as_ptr());
    let cached = site.clone().keeping_scripts();
    assert!(cached.scripts().is_none(), "no file of it is a template");
    let cached = Site::single("index.html", Bytes::from_static(b"<%= 1 %>")).keeping_scripts();
    assert!(cached.scripts().is_some());
    assert!(cached.with_page(Bytes::new()).scripts().is_none(), "they are of another page");
    assert_eq!(other.paths().collect::<Vec<_>>(), ["a/index.html", "a/x.css"]);
    assert_eq!(site.unlisted_bytes(), 19);
    assert_eq!(other.listing().get(), r#"["a/index.html","a/x.css"]"#);
    assert_eq!(site.unlisted_bytes(), 0, "written once for all that share the files");
    let header = site.with_entry("headerTemplate", Bytes::from_static(b"b"));
    assert_eq!((header.entry(), header.page().unwrap().as_ref()), ("a/headerTemplate", &b"b"[..]));
    assert_eq!(header.get("a/index.html").unwrap().as_ref(), b"entry");
}

#[test]
fn a_name_in_another_normalisation_means_the_same_file_unless_one_has_exactly_it() {
    // é and ö, each in both forms; in `e\u{323}\u{301}` even the order of the marks may differ.
    let paths = [
        "e\u{301}.html",
        "o\u{308}/e\u{301}.png",
        "\u{f6}.css",
        "both/\u{e9}",
        "both/e\u{301}",
        "e\u{301}\u{323}.txt",
        "plain.txt",
    ];
    let files = paths.map(|path| (path.to_owned(), Bytes::from_static(path.as_bytes())));
    let site = Site::new(paths[0], Files::from(files));
    for (asked, found) in [
        ("\u{e9}.html", Some("e\u{301}.html")),
        ("\u{f6}/\u{e9}.png", Some("o\u{308}/e\u{301}.png")),
        ("o\u{308}/\u{e9}.png", Some("o\u{308}/e\u{301}.png")),
        ("o\u{308}.css", Some("\u{f6}.css")),
        ("both/\u{e9}", Some("both/\u{e9}")),
        ("both/e\u{301}", Some("both/e\u{301}")),
        ("e\u{323}\u{301}.txt", Some("e\u{301}\u{323}.txt")),
        ("\u{1eb9}\u{301}.txt", Some("e\u{301}\u{323}.txt")),
        ("\u{c9}.html", None),
        ("e.html", None),
        ("Plain.txt", None),
    ] {
        assert_eq!(site.find(asked).map(|(path, _)| path), found, "{asked}");
        let content = found.map(str::as_bytes);
        assert_eq!(site.get(asked).map(AsRef::as_ref), content, "{asked}");
        assert_eq!(site.original(asked).map(AsRef::as_ref), content, "{asked}");
        assert_eq!(site.text(asked).as_ref().map(|text| &text.content[..]), content, "{asked}");
    }
    let added: Vec<_> = site.names().filter(|name| !paths.contains(name)).collect();
    assert_eq!(added, ["\u{e9}.html", "\u{f6}/\u{e9}.png", "\u{1eb9}\u{301}.txt"]);
    let page = site.with_page(Bytes::from_static(b"page"));
    assert_eq!(page.get("\u{e9}.html").unwrap().as_ref(), b"page", "the page has its entry's names");
    assert_eq!(page.text("\u{e9}.html").unwrap().content, "page");
    assert_eq!(page.original("\u{e9}.html").unwrap().as_ref(), "e\u{301}.html".as_bytes());
}

#[test]
fn a_text_is_in_its_declared_encoding_or_in_that_of_the_entry() {
    let files: [(&str, &[u8]); 6] = [
        ("index.html", b"<meta charset=windows-1251>\xe4"),
        ("a.ejs", b"\xe4"),
        ("b.css", b"@charset \"latin1\";\xe4"),
        ("c.ejs", "д".as_bytes()),
        ("d.ejs", b"\xff\xfe\x34\x04"),
        ("e.bin", b"\0\xe4"),
    ];
    let files = files.map(|(path, text)| (path.to_owned(), Bytes::from_static(text)));
    let site = Site::new("index.html", Files::from(files));
    let text = |path| site.text(path).map(|text| String::from_utf8(text.content.to_vec()).unwrap());
    assert_eq!(text("index.html").unwrap(), "<meta charset=windows-1251>д");
    assert_eq!(
        ["a.ejs", "b.css", "c.ejs", "d.ejs"].map(|path| text(path).unwrap()),
        ["д", "@charset \"latin1\";ä", "д", "д"]
    );
    assert_eq!((site.text("nothing"), site.legacy_encoding().unwrap().name()), (None, "windows-1251"));
    assert_eq!(site.text("e.bin").unwrap().content, "\0д", "the entry's encoding has all bytes");
    let shown = site.clone().with_page(Bytes::from_static("<meta charset=windows-1251>ä".as_bytes()));
    assert_eq!(shown.text("index.html").unwrap().content, "<meta charset=windows-1251>ä", "it is UTF-8");
    assert_eq!(shown.legacy_encoding(), site.legacy_encoding(), "its files are what they were");
    let plain = Site::single("index.html", Bytes::from_static("<p>ä".as_bytes()));
    assert_eq!(plain.text("index.html").unwrap().content.as_ptr(), plain.page().unwrap().as_ptr());
    assert_eq!(plain.legacy_encoding(), None);
}
