//! A byte order mark before a page: it must not become content.

use platen::browser::PageTask;

use crate::support::{TestPool, direct, fixed};

#[actix::test]
async fn a_byte_order_mark_moves_nothing() {
    let pool = TestPool::start(|_| {});
    // In quirks mode a table would be smaller, and a letter before the doctype would be a line of its own.
    let page = "<!doctype html><style>body{margin:0;font-size:40px}</style><table><td>text</table>";
    let marked = format!("\u{feff}{page}");
    for (one, other) in [(direct(page), direct(&marked)), (fixed(page), fixed(&marked))] {
        let of = async |task: &PageTask| {
            let pdf = pool.render(task).await.unwrap().bytes;
            place_of(&pdf)
        };
        assert_eq!(of(&one).await, of(&other).await);
    }
    pool.finish().await;
}

/// Where the first word of a PDF stands.
fn place_of(pdf: &[u8]) -> String {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, pdf).unwrap();
    let output =
        std::process::Command::new("pdftotext").arg("-bbox").arg(file.path()).arg("-").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().find(|line| line.contains("<word")).unwrap().to_owned()
}
