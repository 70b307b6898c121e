//! Presentations whose slides are pictures of pages: of LaTeX, Word and HTML.

use serde_json::{Value, json};

use crate::app::TestApp;
use crate::unfilled::{office_file, unpacked};

const BEAMER: &str = r"\documentclass{beamer}
\title{\VAR{title}}
\begin{document}
\frame{\titlepage}
\begin{frame}{Two steps}
  The efficient office: $a < b$ \& more.
  \begin{itemize}
    \item The first step\pause
    \item The second step
  \end{itemize}
\end{frame}
\end{document}
";

impl TestApp {
    /// The presentation that becomes of a template, and what the job says.
    async fn deck(&self, kind: &str, template: impl Into<Vec<u8>>, opts: Value) -> (Value, Vec<u8>) {
        let data = json!({"title": "Deck of <Q3>"});
        let body = json!({"type": kind, "target": "pptx", "data": data, "formatOpts": opts});
        let job = self.init(body).await;
        assert_eq!(self.put(&job.template_url.unwrap(), template.into()).await, 200);
        let view = self.finish(&job.id).await;
        let Some(url) = view["output"]["data"].get("url") else { return (view, Vec::new()) };
        let (status, file) = self.fetch(url).await;
        assert_eq!(status, 200);
        (view, file)
    }
}

fn text(parts: &[(String, Vec<u8>)], name: &str) -> String {
    let content = parts.iter().find(|(found, _)| found == name);
    let (_, content) = content.unwrap_or_else(|| panic!("there is no {name}"));
    String::from_utf8_lossy(content).into_owned()
}

/// Width and height of a PNG.
fn size(parts: &[(String, Vec<u8>)], name: &str) -> (u32, u32) {
    let (_, picture) = parts.iter().find(|(found, _)| found == name).unwrap();
    let side = |at: usize| u32::from_be_bytes(picture[at..at + 4].try_into().unwrap());
    (side(16), side(20))
}

#[tokio::test]
async fn frames_of_beamer_are_slides_with_their_text_as_notes_and_alternative_text() {
    let app = TestApp::start().await;
    let (view, deck) = app.deck("latex", BEAMER, json!({})).await;
    assert_eq!(view["success"], json!(true), "{view}");
    assert_eq!(view["output"]["metadata"]["pages"], 3, "an overlay is a page: {view}");
    let warning = view["warnings"][0].as_str().unwrap();
    assert!(warning.contains("each slide is a picture of a page"), "{view}");
    let parts = unpacked(&deck);
    // 128 × 96 mm.
    assert!(text(&parts, "ppt/presentation.xml").contains("<p:sldSz cx=\"4608"), "as large as its pages");
    assert_eq!(size(&parts, "ppt/media/image1.png").0.abs_diff(2_400) / 8, 0, "sharp");
    for (slide, words, others) in [
        (1, vec!["Deck of &lt;Q3&gt;"], "step"),
        (2, vec!["Two steps", "The efficient office: ", " &amp; more.", "The first step"], "second"),
        (3, vec!["Two steps", "The first step", "The second step"], "Deck"),
    ] {
        let (notes, shown) = (
            text(&parts, &format!("ppt/notesSlides/notesSlide{slide}.xml")),
            text(&parts, &format!("ppt/slides/slide{slide}.xml")),
        );
        for word in words {
            assert!(notes.contains(word) && shown.contains(word), "no '{word}' in {notes}\n{shown}");
        }
        assert!(!notes.contains(others), "{notes}");
    }
    // LibreOffice reads what was made: its pages are as many, and hold nothing but pictures.
    let (view, pdf) = app.made(("pptx", "pdf"), deck, json!({})).await;
    assert_eq!((&view["success"], &view["output"]["metadata"]["pages"]), (&json!(true), &json!(3)), "{view}");
    assert_eq!(app.text_of(&pdf).trim(), "", "the words are in the pictures");
}

#[tokio::test]
async fn pages_of_word_and_html_are_slides_as_they_are_asked_for() {
    let app = TestApp::with(&[("raster.pages_limit", "2"), ("raster.picture_limit_pixels", "6000000")]).await;
    let (view, deck) = app.deck("docx", office_file("report.docx"), json!({"page": 1, "dpi": 50})).await;
    assert_eq!(view["output"]["metadata"]["pages"], 1, "{view}");
    let (width, height) = size(&unpacked(&deck), "ppt/media/image1.png");
    assert!((400..440).contains(&width) && (540..600).contains(&height), "{width} × {height}");

    let sheets = |count: usize| {
        let sheet = "<p style='break-after:page'><%= title %></p>".repeat(count - 1);
        format!("<style>@page {{ size: 13.333in 7.5in }}</style>{sheet}<p>The end")
    };
    let (view, deck) = app.deck("html", sheets(2), json!({"preferCssPageSize": true})).await;
    assert_eq!((&view["success"], &view["output"]["metadata"]["pages"]), (&json!(true), &json!(2)), "{view}");
    let parts = unpacked(&deck);
    let list = text(&parts, "ppt/presentation.xml");
    assert!(list.contains("cy=\"6858000\""), "{list}");
    assert!(text(&parts, "ppt/notesSlides/notesSlide1.xml").contains("Deck of &lt;Q3&gt;"));
    assert!(text(&parts, "ppt/notesSlides/notesSlide2.xml").contains("The end"));

    let (view, _) = app.deck("html", sheets(3), json!({})).await;
    assert_eq!(view["errorCode"], "options_invalid", "{view}");
    assert!(view["error"].as_str().unwrap().contains("raster.pages_limit"), "{view}");
    let (view, _) = app.deck("html", sheets(2), json!({"dpi": 1200})).await;
    let error = view["error"].as_str().unwrap();
    assert!(error.contains("raster.picture_limit_pixels") && error.contains("at 1200 dpi"), "{view}");
}
