//! Links whose addresses have tags.

use crate::support::{DOCUMENT, RELATIONS, docx, p, package, paragraphs, part, try_fill};

fn link(id: &str, inside: &str) -> String {
    format!(
        "<w:p><w:hyperlink xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\" r:id=\"{id}\">{inside}</w:hyperlink></w:p>"
    )
}

fn linked(address: &str, data: &str) -> Result<String, String> {
    let body = format!("{}{}", p("{#l}"), link("rId9", "<w:r><w:t>{.}</w:t></w:r>")) + &p("{/l}");
    let file = package(&body, &[], &[("rId9", address)]);
    let filled = try_fill(file, data, "{}").map_err(|error| error.to_string())?.file;
    let (document, relations) = (part(&filled, DOCUMENT), part(&filled, RELATIONS));
    let mut addresses = Vec::new();
    for (_, rest) in document.match_indices("r:id=\"").map(|(at, found)| (at, &document[at + found.len()..]))
    {
        let id = rest.split('"').next().expect("an id");
        let line = relations.split("<Relationship ").find(|line| line.contains(&format!("Id=\"{id}\"")));
        let line = line.unwrap_or_else(|| panic!("{id} is nobody's: {relations}"));
        addresses.push(
            line.split("Target=\"")
                .nth(1)
                .and_then(|rest| rest.split('"').next())
                .expect("a target")
                .to_owned(),
        );
    }
    assert_eq!(
        relations.matches("/hyperlink\"").count(),
        addresses.iter().collect::<std::collections::BTreeSet<_>>().len(),
        "{relations}"
    );
    Ok(addresses.join(" "))
}

#[test]
fn addresses_of_links_are_filled_in_each_copy() {
    let say = |address: &str| {
        linked(address, r#"{"l":["a b","c&d"],"url":"https://a.example/ä?x=1&y=2"}"#).expect(address)
    };
    assert_eq!(
        say("https://a.example/%7B.%7D?q=%20"),
        "https://a.example/a%20b?q=%20 https://a.example/c&amp;d?q=%20"
    );
    assert_eq!(
        say("https://a.example/{encodeURIComponent(this)}"),
        say("https://a.example/%7BencodeURIComponent(this)%7D")
    );
    assert_eq!(say("%7Burl%7D").split(' ').next(), Some("https://a.example/%C3%A4?x=1&amp;y=2"));
    assert_eq!(say("http://%7Burl%7D").split(' ').next(), Some("https://a.example/%C3%A4?x=1&amp;y=2"));
    assert_eq!(say("mailto:%7B$index%20+%201%7D@a.example"), "mailto:1@a.example mailto:2@a.example");
    for same in [
        "https://a.example/%7B%22a%22:1%7D",
        "https://a.example/%7B28A0092B-C50C-407E-A947-70E740481C1C%7D",
        "https://a.example/%7B",
    ] {
        assert_eq!(say(same), format!("{same} {same}"));
    }
}

/// What a link of this tag leads to, or what is wrong with it.
fn target(url: &str) -> Result<String, String> {
    let data = serde_json::json!({ "url": url }).to_string();
    let filled = try_fill(docx(&p("{:link \"x\" url}")), &data, "{}").map_err(|error| error.to_string())?;
    let relations = part(&filled.file, RELATIONS);
    let (_, target) = relations.split_once(" Target=\"https:").expect("a target");
    Ok(target.split('"').next().expect("its end").to_owned())
}

#[test]
fn what_cannot_stand_in_an_address_is_encoded() {
    for (url, expected) in [
        ("https://a.example/a b\"<>\\^`{|}", "//a.example/a%20b%22%3C%3E%5C%5E%60%7B%7C%7D"),
        ("https://a.example/?a[]=1&b=%zz%20#c#d", "//a.example/?a%5B%5D=1&amp;b=%25zz%20#c%23d"),
        ("https://[::1]:80/[x]", "//[::1]:80/%5Bx%5D"),
        ("https://bücher.example/ä\u{a0}\u{1}", "//bücher.example/ä%C2%A0%01"),
        ("https://u:p@a.example.:443", "//u:p@a.example.:443"),
    ] {
        assert_eq!(target(url).as_deref(), Ok(expected), "{url}");
    }
    let hosts = "https:/x https: https:// https:///x https://[x]/ https://a:99999/ https://a..b/ https://a%20b/ https://a<b/ https://a\"@b/";
    for url in hosts.split(' ').chain(["https://a b/"]) {
        assert!(target(url).is_err_and(|why| why.contains("names no host")), "{url}");
    }
}

#[test]
fn word_opens_what_is_linked() {
    let long = |length: usize| format!("https://a.example/{}", "x".repeat(length - 18));
    assert!(target(&long(2079)).is_ok());
    assert!(target(&long(2080)).expect_err("too long").contains("2079 letters"));
    assert!(target(&long(2070).replace("xxxx", " xxx")).expect_err("too long").contains("2079 letters"));
    let link = |target: &str, tip: &str| {
        let typed =
            serde_json::json!({ "x": { "_type": "link", "text": "t", "target": target, "tooltip": tip } });
        try_fill(docx(&p("{x}")), &typed.to_string(), "{}").map(|filled| part(&filled.file, DOCUMENT))
    };
    let named = |length: usize| link(&format!("#{}", "b".repeat(length)), &"t".repeat(300));
    assert!(named(40).expect("a bookmark").contains(&format!("w:tooltip=\"{}\"", "t".repeat(255))));
    assert!(named(41).expect_err("too long").to_string().contains("at most 40 letters"));
    let html = format!(
        "<p><a href='{}'>one</a> <a href='https://[x/'>two</a></p>",
        long(2070).replace("xxxx", " xxx")
    );
    let filled =
        try_fill(docx(&p("{~x}")), &serde_json::json!({ "x": html }).to_string(), "{}").expect("text");
    assert!(
        !part(&filled.file, DOCUMENT).contains("w:hyperlink") && filled.warnings.len() == 2,
        "{:?}",
        filled.warnings
    );
}

#[test]
fn addresses_lead_where_links_may() {
    for (address, why) in [
        ("%7B.%7D", "a link leads to an address of"),
        ("java%7B.%7D", "a link leads to an address of"),
        ("https://a.example/%7B#l%7D%7B/%7D", "an address holds no sections"),
        ("https://a.example/%7B:toc%7D", ""),
    ] {
        let outcome = linked(address, r#"{"l":["javascript:alert(1)","file:///etc/passwd"]}"#);
        if why.is_empty() {
            assert_eq!(outcome.as_deref(), Ok("https://a.example/%7B:toc%7D https://a.example/%7B:toc%7D"));
        } else {
            assert!(outcome.expect_err(address).contains(why), "{address}");
        }
    }
}

#[test]
fn a_link_that_is_cut_keeps_its_address() {
    let run = |text: &str| format!("<w:r><w:t>{text}</w:t></w:r>");
    let inside = link("rId9", &run("a {#l}b")).replace("</w:p>", &format!("{}</w:p>", run("c{/l}")));
    let filled = try_fill(
        package(&inside, &[], &[("rId9", "https://a.example/%7Bx%7D")]),
        r#"{"l":[1,2],"x":"y"}"#,
        "{}",
    );
    let document = part(&filled.expect("filled").file, DOCUMENT);
    assert_eq!(paragraphs(&document), ["a bcbc"]);
    assert_eq!(document.matches("r:id=\"rId1\"").count(), 3, "{document}");
}
