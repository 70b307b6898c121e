//! A byte order mark before a page: it must not become content.

use platen::browser::PageTask;

use crate::support::{TestPool, put_page, static_page};

#[actix::test]
async fn a_byte_order_mark_moves_nothing() {
    let pool = TestPool::start(|_| {});
    // In quirks mode a table would be smaller, and a letter before the doctype would be a line of its own.
    let page = "<!doctype html><style>body{margin:0;font-size:40px}</style><table><td>text</table>";
    let marked = format!("\u{feff}{page}");
    for (one, other) in [(put_page(page), put_page(&marked)), (static_page(page), static_page(&marked))] {
        let of = async |task: &PageTask| {
            let pdf = pool.render(task).await.unwrap().bytes;
            place_of(&pdf)
        };
        assert_eq!(of(&one).await, of(&other).await);
    }
    pool.finish().await;
}

/// The position of a PDF's first word.
fn place_of(pdf: &[u8]) -> String {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, pdf).unwrap();
    let output =
        std::process::Command::new("pdftotext").arg("-bbox").arg(file.path()).arg("-").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().find(|line| line.contains("<word")).unwrap().to_owned()
}
