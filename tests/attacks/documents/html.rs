//! The attacks of documents once more where the document becomes HTML: other export filters of LibreOffice, which write pictures
//! into the page.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::links::LINKS;
use super::tries::ATTACKS;
use super::{ALLOWED_WORDS, MAGENTA, PlantedFiles, SECRET, convert_to, drawing, magenta, word};
use crate::app::TestApp;
use crate::canary::Canary;
use crate::table::{Outcome, report};

/// Data of the machine in a page.
fn foreign(page: &str) -> Vec<String> {
    let words = ALLOWED_WORDS.iter().chain([&SECRET]).filter(|word| page.contains(**word));
    let mut found: Vec<_> = words.map(|word| format!("'{word}' in: {page}")).collect();
    let pictures = page.split("data:image/png;base64,").skip(1);
    found.extend(pictures.filter(|picture| is_magenta(picture)).map(|_| "the planted picture".to_owned()));
    found
}

fn is_magenta(picture: &str) -> bool {
    let base64: String =
        picture.chars().take_while(|letter| !matches!(letter, '"' | '\'' | ')' | '&')).collect();
    let file = STANDARD.decode(base64).unwrap();
    let seen = crate::support::picture_of(&file).count([MAGENTA[0], MAGENTA[1], MAGENTA[2], 255]);
    seen > 100
}

#[actix::test]
async fn documents_reach_nothing_when_they_become_html() {
    let app = TestApp::on_disk(&[]).await;
    let planted = PlantedFiles::new();
    let mut outcomes = Vec::new();
    for attack in ATTACKS.iter().chain(LINKS) {
        let canary = Canary::listen();
        let document = (attack.make)(&planted.aim(&canary));
        let (view, page) = convert_to(&app, (attack.kind, "html"), document).await;
        let page = String::from_utf8(page).unwrap();
        let mut leaks = canary.hits();
        leaks.extend((!page.contains("own text")).then(|| format!("it was not opened: {view} {page}")));
        leaks.extend(foreign(&page));
        leaks.extend(planted.written().iter().map(|path| format!("it wrote {}", path.display())));
        let runs =
            ["<script", "javascript:", "vbscript:", " onload=", " onerror=", "<iframe", "<object", "<embed"];
        let lower = page.to_ascii_lowercase();
        leaks.extend(
            runs.iter().filter(|word| lower.contains(**word)).map(|word| format!("{word} in the page")),
        );
        let messages = format!("{} {}", view["error"], view["warnings"]);
        outcomes.push(Outcome {
            name: attack.name.to_owned(),
            carrier: attack.kind.to_owned(),
            leaks,
            messages,
        });
    }
    report("Documents as HTML: the network and the machine (A, B, D, E)", outcomes);
    // The control: planted content is found where it is allowed.
    let own = drawing("r:embed=\"r1\"") + &format!("<w:p><w:r><w:t>{SECRET}</w:t></w:r></w:p>");
    let own = word(&own, &[("image", "media/p.png")], &[("word/media/p.png", &magenta())]);
    let (view, page) = convert_to(&app, ("docx", "html"), own).await;
    assert_eq!(foreign(&String::from_utf8(page).unwrap()).len(), 2, "{view}");
}
