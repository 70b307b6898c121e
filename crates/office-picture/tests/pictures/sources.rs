//! What texts of the data mean.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use office_picture::{Limits, Source};

use crate::files;

fn read(text: &str) -> Result<Source, String> {
    Source::read(text, &Limits::default())
}

#[test]
fn a_data_uri_is_its_bytes_in_base64_or_percents() {
    let bytes = files::png(6, 4);
    let mut broken = STANDARD.encode(&bytes);
    broken.insert_str(20, "\r\n  ");
    for text in [
        format!("data:image/png;base64,{}", STANDARD.encode(&bytes)),
        format!("  DATA:image/png;BASE64,{broken}\n"),
        format!("data:;base64,{}", URL_SAFE_NO_PAD.encode(&bytes)),
        format!(
            "data:image/png,{}",
            percent_encoding::percent_encode(&bytes, percent_encoding::NON_ALPHANUMERIC)
        ),
    ] {
        assert_eq!(read(&text), Ok(Source::Bytes(bytes.clone())), "{text}");
    }
}

#[test]
fn base64_of_a_picture_is_its_bytes() {
    for bytes in [
        files::png(6, 4),
        files::jpeg(None),
        files::gif(),
        files::webp(3, 2),
        b"%PDF-1.7 refused later".to_vec(),
    ] {
        assert_eq!(read(&STANDARD.encode(&bytes)), Ok(Source::Bytes(bytes)));
    }
}

#[test]
fn the_text_of_an_svg_is_its_bytes() {
    assert!(matches!(read("<svg xmlns='http://www.w3.org/2000/svg'/>"), Ok(Source::Bytes(_))));
}

#[test]
fn names_of_files_and_addresses_are_what_they_look_like() {
    for name in ["logo.png", "images/logo.png", "logo", "R0lGODlh.d/x", "Qk1234567890", "iVBORw", "a b/ä.jpg"]
    {
        assert_eq!(read(name), Ok(Source::File(name.to_owned())));
    }
    for address in ["https://example.com/a.png?b=1", "HTTP://example.com/"] {
        assert_eq!(read(address), Ok(Source::Address(address.to_owned())));
    }
}

#[test]
fn what_leads_elsewhere_is_refused_by_its_reason() {
    for (text, reason) in [
        ("../secret.png", ".."),
        ("images/../../x.png", ".."),
        ("./x.png", "."),
        ("a//b.png", "empty step"),
        ("/etc/passwd", "begins with /"),
        ("//example.com/x.png", "begins with /"),
        ("images\\logo.png", "backslashes"),
        ("C:/logo.png", "no picture"),
        ("file:///etc/passwd", "no picture"),
        ("ftp://example.com/x.png", "no picture"),
        ("javascript:alert(1)", "no picture"),
        ("a\0.png", "control character"),
        ("https://example.com/a b", "%20"),
        ("data:image/png;base64", "no comma"),
        ("data:image/png;base64,", "no picture behind"),
        ("data:image/png;base64,§§", "no base64"),
        (" ", "empty"),
    ] {
        let fault = read(text).expect_err(text);
        assert!(fault.contains(reason), "{text}: {fault}");
    }
    assert!(read(&"x".repeat(5000)).unwrap_err().contains("no picture in base64"));
    let limits = Limits { bytes: 10, ..Limits::default() };
    assert!(Source::read(&"A".repeat(100), &limits).unwrap_err().contains("too long"));
}
