//! The page count of a PDF is that of its pages, whatever its author wrote into it.

use platen::browser::PageTask;

use crate::support::{TestPool, asking, info_of, scripted, static_page, with_bytes};

/// PDF syntax that a counter by text search would count.
const WORDS: &str = "/Type /Page /Type /Page&gt;&gt; endobj 9 0 obj &lt;&lt;/Type /Pages /Count 99&gt;&gt; endobj \
    trailer &lt;&lt;/Root 9 0 R&gt;&gt;) \\) startxref";

/// A picture of one pixel, with `comment` in it.
fn jpeg(comment: &[u8]) -> Vec<u8> {
    let length = u16::try_from(comment.len() + 2).unwrap().to_be_bytes();
    let mut bytes = b"\xff\xd8\xff\xfe".to_vec();
    bytes.extend(length);
    bytes.extend(comment);
    bytes.extend(b"\xff\xdb\0\x43\0");
    bytes.extend([0xff; 64]);
    bytes.extend(b"\xff\xc2\0\x0b\x08\0\x01\0\x01\x01\x01\x11\0\xff\xc4\0\x14\x10\x01");
    bytes.extend([0; 16]);
    bytes.extend(b"\xff\xda\0\x08\x01\x01\0\x01\x3f\x10");
    bytes
}

#[actix::test]
async fn page_counts_ignore_look_alike_pdf_syntax_in_content() {
    let comment = b"\nendstream\nendobj\n1 0 obj <</Type /Pages /Count 99>> endobj /Type /Page /Type /Page ";
    let page = format!(
        "<!doctype html><meta charset=utf-8><title>{WORDS}</title><h1 title='{WORDS}'>{WORDS}</h1>\
         <a href='https://example.com/?/Type /Page /Type /Page'>{WORDS} 東京</a>\
         <img src=a.jpg alt='{WORDS}'><h2 style='break-before:page'>two</h2>"
    );
    let metadata = r#""metadata":{"author":"/Type /Page","subject":"(/Type /Pages","keywords":"/Count 9"}"#;
    for chunk_bytes in [4_096, 1 << 22] {
        let pool = TestPool::start(|config| config.output_chunk_bytes = chunk_bytes);
        let plain = with_bytes(&page, &[("a.jpg", &jpeg(comment))]);
        let options = [
            "{}".to_owned(),
            format!(r#"{{"outline":true,{metadata}}}"#),
            r#"{"tagged":false}"#.to_owned(),
            r#"{"fromPage":2}"#.to_owned(),
        ];
        for options in options {
            let rendered = pool.render(&asking(&options, plain.clone())).await.unwrap();
            let pages = info_of(&rendered.bytes, "Pages");
            assert_eq!(rendered.pages.map(|pages| pages.to_string()), Some(pages), "{options}");
            let kept = memchr::memmem::find(&rendered.bytes, b"endobj\n1 0 obj <</Type /Pages /Count 99>>");
            assert_eq!(kept.is_some(), !options.contains("fromPage"), "the picture is embedded as it is");
        }
        pool.finish().await;
    }
}

#[actix::test]
async fn a_long_document_is_counted_in_small_pieces() {
    let pool = TestPool::start(|config| config.output_chunk_bytes = 4_096);
    let page = format!("<style>p{{break-after:page}}</style>{}", "<p>/Type /Page</p>".repeat(700));
    for task in [static_page(&page), scripted(&page), asking(r#"{"outline":true}"#, static_page(&page))] {
        let rendered = pool.render(&task).await.unwrap();
        let pages = rendered.pages.map(|pages| pages.to_string());
        assert_eq!(pages, Some(info_of(&rendered.bytes, "Pages")));
        assert!(rendered.pages.unwrap() >= 700);
    }
    let picture = PageTask { output: platen::browser::PageOutput::Png, ..scripted("<p>one") };
    assert_eq!(pool.render(&picture).await.unwrap().pages, None);
    pool.finish().await;
}
