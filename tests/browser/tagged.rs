//! Which PDFs are tagged: by option and by page count; and what else makes a PDF large.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use platen::browser::{PageOutput, PageTask};

use crate::support::{TestPool, asking, info_of, put_page, scripted, static_page, words_of};

/// 54 pages of a few letters each: an estimate by area would miss their number.
fn broken() -> String {
    format!("<style>p{{break-after:page}}</style>{}<i>end</i>", "<p>x</p>".repeat(53))
}

async fn printed(pool: &TestPool, opts: &str, task: PageTask) -> (Vec<u8>, Vec<String>) {
    let rendered = pool.render(&asking(opts, task)).await.unwrap();
    (rendered.bytes, rendered.warnings)
}

#[actix::test]
async fn pages_are_counted_before_they_are_tagged() {
    let pool = TestPool::start(|config| config.tagged_pages_limit = 20);
    let expected = "54 pages, more than 20: the PDF is not tagged (browser.tagged_pages_limit); the option tagged: true \
                tags it all the same";
    for task in [put_page(&broken()), static_page(&broken()), scripted(&broken())] {
        let (pdf, warnings) = printed(&pool, "{}", task.clone()).await;
        assert_eq!((info_of(&pdf, "Pages"), info_of(&pdf, "Tagged")), ("54".to_owned(), "no".to_owned()));
        assert_eq!(warnings, [expected]);
        // Only the pages of the range count.
        let (pdf, warnings) = printed(&pool, r#"{"fromPage":30}"#, task.clone()).await;
        assert_eq!((info_of(&pdf, "Pages"), info_of(&pdf, "Tagged")), ("25".to_owned(), "no".to_owned()));
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        let (pdf, warnings) = printed(&pool, r#"{"fromPage":35}"#, task).await;
        assert_eq!((info_of(&pdf, "Pages"), info_of(&pdf, "Tagged")), ("20".to_owned(), "yes".to_owned()));
        assert_eq!(warnings, [""; 0]);
    }
    // A page that is long on the screen and short on paper.
    let filler = "x".repeat(200 << 10);
    let short = format!(
        "<!-- {filler} --><style>@media print{{div{{display:none}}}}</style><div style='height:99999px'></div>paper"
    );
    for task in [static_page(&short), scripted(&short)] {
        let (pdf, warnings) = printed(&pool, "{}", task).await;
        assert_eq!((info_of(&pdf, "Pages"), info_of(&pdf, "Tagged")), ("1".to_owned(), "yes".to_owned()));
        assert_eq!(warnings, [""; 0]);
    }
    pool.finish().await;
}

#[actix::test]
async fn a_file_that_is_read_in_pieces_is_whole_after_its_pages_were_counted() {
    let pool = TestPool::start(|config| config.output_chunk_bytes = 4_096);
    let rows: Vec<String> = (0..400).map(|row| format!("<tr><td>row-{row}<td>{row}")).collect();
    let rows = rows.concat();
    for task in [put_page(&format!("<table>{rows}</table>")), scripted(&format!("<table>{rows}</table>"))] {
        let (pdf, warnings) = printed(&pool, "{}", task).await;
        assert_eq!((info_of(&pdf, "Tagged"), warnings), ("yes".to_owned(), Vec::new()));
        assert!(
            pdf.len() > 10 * 4_096 && pdf.starts_with(b"%PDF") && pdf.trim_ascii_end().ends_with(b"%%EOF")
        );
        assert_eq!(info_of(&pdf, "File size"), format!("{} bytes", pdf.len()));
        let words = words_of(&pdf).len();
        assert_eq!(words, 800);
    }
    pool.finish().await;
}

#[actix::test]
async fn tags_are_as_asked_for() {
    let pool = TestPool::start(|config| config.tagged_pages_limit = 20);
    let rows = format!("<h1>Table</h1><table>{}</table>", "<tr><td>a<td>b<td>c".repeat(300));
    for task in [put_page(&rows), scripted(&rows)] {
        let (tagged, _) = printed(&pool, "{}", task.clone()).await;
        let (plain, warnings) = printed(&pool, r#"{"tagged":false}"#, task).await;
        assert_eq!((info_of(&plain, "Tagged"), warnings), ("no".to_owned(), Vec::new()));
        assert_eq!(info_of(&tagged, "Tagged"), "yes");
        assert!(plain.len() * 4 < tagged.len(), "{} and {}", plain.len(), tagged.len());
    }
    for opts in [r#"{"tagged":true}"#, r#"{"outline":true}"#] {
        let (pdf, warnings) = printed(&pool, opts, put_page(&broken())).await;
        assert_eq!((info_of(&pdf, "Pages"), info_of(&pdf, "Tagged")), ("54".to_owned(), "yes".to_owned()));
        assert_eq!(warnings, [""; 0]);
    }
    pool.finish().await;
}

#[actix::test]
async fn a_file_that_is_too_large_with_tags_is_printed_without_them() {
    let pool = TestPool::start(|config| config.output_chunk_bytes = 4_096);
    let rows = format!("<h1>Table</h1><table>{}</table>", "<tr><td>a<td>b<td>c".repeat(300));
    for task in [put_page(&rows), scripted(&rows)] {
        let (tagged, _) = printed(&pool, "{}", task.clone()).await;
        let limit_bytes = tagged.len() as u64 - 1;
        let (plain, warnings) = printed(&pool, "{}", PageTask { limit_bytes, ..task.clone() }).await;
        assert_eq!(info_of(&plain, "Tagged"), "no");
        assert_eq!(info_of(&plain, "File size"), format!("{} bytes", plain.len()));
        let expected = format!(
            "with its tags it is larger than {limit_bytes} bytes (storage.output_limit_bytes): the PDF is not tagged"
        );
        assert_eq!(warnings, [expected]);
        let limit_bytes = tagged.len() as u64;
        let (pdf, warnings) = printed(&pool, "{}", PageTask { limit_bytes, ..task }).await;
        assert_eq!((info_of(&pdf, "Tagged"), warnings), ("yes".to_owned(), Vec::new()));
    }
    pool.finish().await;
}

/// Eight seconds go before the print and six with it, so a second one would not end within nineteen.
#[actix::test]
async fn a_second_print_that_would_come_too_late_is_not_begun() {
    let pool = TestPool::start(|config| {
        config.tagged_pages_limit = 20;
        config.print_timeout_ms = 19_000;
    });
    let slow = "<title>t</title><script>const busy = ms => { const end = performance.now() + ms; \
        while (performance.now() < end); };\
        new MutationObserver(() => busy(8000)).observe(document.querySelector('title'), { childList: true });\
        addEventListener('beforeprint', () => busy(6000));</script>";
    let opts = r#"{"metadata":{"title":"other"}}"#;
    let (pdf, warnings) = printed(&pool, opts, scripted(&format!("{slow}{}", broken()))).await;
    assert_eq!((info_of(&pdf, "Pages"), info_of(&pdf, "Tagged")), ("54".to_owned(), "yes".to_owned()));
    let expected = "54 pages, the limit of tagged ones is 20 (browser.tagged_pages_limit): there was no time to print the \
                PDF again, so it is tagged";
    assert_eq!(warnings, [expected]);
    pool.finish().await;
}

/// As `docs/format-options.md` describes for pictures.
#[actix::test]
async fn a_jpeg_is_in_the_file_as_it_is_and_a_png_is_not() {
    let pool = TestPool::start(|_| {});
    let motley = "<svg width=400 height=400><filter id=f><feTurbulence type='fractalNoise' baseFrequency='.02' \
        numOctaves='6'/></filter><rect width=400 height=400 filter='url(#f)'/></svg>";
    let seen = asking(r#"{"viewport":{"width":400,"height":400}}"#, scripted(motley));
    for (output, kind, is_kept) in [(PageOutput::Jpg, "jpeg", true), (PageOutput::Png, "png", false)] {
        let picture = pool.render(&PageTask { output, ..seen.clone() }).await.unwrap().bytes;
        let address = format!("data:image/{kind};base64,{}", STANDARD.encode(&picture));
        for page in [
            format!("<img src='{address}' style='width:200px;border-radius:9px'>"),
            format!("<div style='width:200px;height:200px;background:url({address}) 0 0/100%'>"),
        ] {
            let pdf = pool.render(&put_page(&page)).await.unwrap().bytes;
            let holds = pdf.windows(picture.len()).any(|part| part == picture);
            assert_eq!(holds, is_kept, "{kind}");
            assert_eq!(
                pdf.len() < picture.len() + 10_000,
                is_kept,
                "{kind}: {} of {}",
                pdf.len(),
                picture.len()
            );
        }
    }
    pool.finish().await;
}
