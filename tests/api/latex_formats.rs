//! Formats of preambles: later documents of a template are the same as the first ones, only made sooner.

use serde_json::{Value, json};

use crate::app::TestApp;
use crate::unfilled::packed;

/// A bill whose packages take far longer to read than its page to make. Lines before the packages are read after them.
const BILL: &str = "\\documentclass{article}\n\\title{Bill for <%= name %>}\n\\usepackage{longtable}\n\\usepackage{xcolor}\n\
                    \\usepackage{siunitx}\n\\usepackage{hyperref}\n\\hypersetup{pdftitle={<%= name %>}}\n\\begin{document}\n\
                    \\author{Us}\\maketitle\\section{To pay}\\label{bill}\nSee \\ref{bill} of \\today. \\textcolor{red}{Due}: \
                    \\num{<%= sum %>}\n\\setcounter{page}{<%= page %>}.\n\\end{document}\n";

impl TestApp {
    /// What is counted as `outcome` of formats.
    async fn formats(&self, outcome: &str) -> u64 {
        self.metric_of(&format!("platen_tex_formats_total{{outcome=\"{outcome}\"}}")).await
    }

    /// Waits until so many preambles have a format or are known to have none.
    async fn until_formats_decided(&self, count: u64) {
        self.until("a format is made, or refused", async || {
            self.formats("made").await + self.formats("refused").await == count
        })
        .await;
    }

    /// A document of a template that is uploaded again, with the job's view.
    async fn typeset_anew(&self, template: impl Into<Vec<u8>>, data: &Value) -> (Value, Vec<u8>) {
        let job = self.init(json!({"type": "latex", "target": "pdf", "data": data})).await;
        assert_eq!(self.put(&job.template_url.unwrap(), template.into()).await, 200);
        let view = self.finish(&job.id).await;
        let Some(url) = view["output"]["data"].get("url") else { return (view, Vec::new()) };
        (view.clone(), self.fetch(url).await.1)
    }

    async fn typeset_anew_text(&self, template: impl Into<Vec<u8>>, data: &Value) -> String {
        let (view, pdf) = self.typeset_anew(template, data).await;
        assert_eq!((&view["success"], &view["warnings"]), (&json!(true), &json!([])), "{view}");
        self.text_of(&pdf)
    }

    /// A picture of the first page.
    fn drawn(&self, pdf: &[u8]) -> Vec<u8> {
        let file = tempfile::NamedTempFile::new_in(self.scratch()).unwrap();
        std::fs::write(file.path(), pdf).unwrap();
        let output = std::process::Command::new("pdftoppm")
            .args(["-r", "60", "-singlefile"])
            .arg(file.path())
            .output();
        output.unwrap().stdout
    }
}

#[actix_web::test]
async fn a_template_that_comes_again_is_read_ahead_and_makes_the_same_page_of_other_data() {
    let app = TestApp::start().await;
    let ada = json!({"name": "Ada", "sum": 1234.5, "page": 1});
    let (_, first) = app.typeset_anew(BILL, &ada).await;
    assert_eq!(app.formats("made").await, 0, "once is not again");
    let (view, second) = app.typeset_anew(BILL, &ada).await;
    assert_eq!(view["warnings"], json!([]), "the title keeps no package from being read ahead");
    app.until_formats_decided(1).await;
    assert_eq!((app.formats("made").await, app.formats("used").await), (1, 0));
    assert!(app.metric_of("platen_tex_format_bytes").await > 1 << 20);
    let (view, third) = app.typeset_anew(BILL, &ada).await;
    assert_eq!((&view["warnings"], app.formats("used").await), (&json!([]), 1), "{view}");
    for other in [&second, &third] {
        assert_eq!(app.text_of(&first), app.text_of(other));
        assert!(app.drawn(&first) == app.drawn(other), "it looks otherwise");
    }
    // Nothing of one document's data is in another's, nor is its day.
    let (view, pdf) = app.typeset_anew(BILL, &json!({"name": "Zoë", "sum": 7, "page": 1})).await;
    let text = app.text_of(&pdf);
    assert!(
        text.contains("Bill for Zoë") && !text.contains("Ada") && !text.contains("2001"),
        "{view}: {text}"
    );
    let message = crate::libreoffice::poppler_output("pdfinfo", &[], &pdf);
    assert!(message.contains("Zoë") && !message.contains("Ada"), "{message}");
    // An error has its line, as without a format.
    let (view, _) = app.typeset_anew(BILL, &json!({"name": "x", "sum": 1, "page": "none"})).await;
    let sentence = view["error"].as_str().unwrap_or_default();
    assert!(sentence.contains("index.tex:11:") && sentence.contains("Missing number"), "{view}");
    assert_eq!(app.formats("used").await, 3);
}

#[actix_web::test]
async fn no_document_uses_a_format_of_another_account_or_of_changed_files() {
    let mut app = TestApp::start().await;
    let main = "\\documentclass{article}\n\\title{<%= name %>}\n\\usepackage{house}\n\\count200=<%= trap %>\n\\begin{document}\n\
                \\house: <%= name %>\n\\end{document}\n";
    let archive = |house: &str| packed(&[("main.tex", main.as_bytes()), ("house.sty", house.as_bytes())]);
    let data = json!({"name": "Ada", "trap": 0});
    // It waits until no test asks any more, and takes over each document that begins with its format, its own included.
    let hostile = archive(
        "\\newcommand\\house{Old house}\\everyjob\\expandafter{\\the\\everyjob\\ifnum\\year>2024 \
         \\AtBeginDocument{Taken \\ifnum\\count200=7 \\nosuchcommand\\fi}\\fi}",
    );
    for _ in 0..2 {
        let text = app.typeset_anew_text(hostile.clone(), &data).await;
        assert!(text.contains("Old house: Ada") && !text.contains("Taken"), "{text}");
    }
    app.until_formats_decided(1).await;
    assert!(app.typeset_anew_text(hostile.clone(), &data).await.contains("Taken"), "it is used");
    assert_eq!(app.formats("used").await, 1);
    // A document that fails with it is made without.
    let text = app.typeset_anew_text(hostile.clone(), &json!({"name": "Ada", "trap": 7})).await;
    assert!(text.contains("Old house: Ada") && !text.contains("Taken"), "{text}");
    assert_eq!(app.formats("used").await, 2);
    let house = archive("\\newcommand\\house{First house}");
    for _ in 0..2 {
        assert!(app.typeset_anew_text(house.clone(), &data).await.contains("First house: Ada"));
    }
    app.until_formats_decided(2).await;
    let text = app.typeset_anew_text(house.clone(), &data).await;
    assert!(text.contains("First house: Ada") && !text.contains("Taken"), "{text}");
    assert_eq!(app.formats("used").await, 3);
    let changed = archive("\\newcommand\\house{Second house}");
    assert!(app.typeset_anew_text(changed, &data).await.contains("Second house: Ada"));
    app.command(&["account", "create", "other"]);
    app.token = app.command(&["token", "create", "--account", "other"]);
    for (files, words) in [(house, "First house: Ada"), (hostile, "Old house: Ada")] {
        let text = app.typeset_anew_text(files, &data).await;
        assert!(text.contains(words) && !text.contains("Taken"), "{text}");
    }
    assert_eq!(app.formats("used").await, 3, "the same files are another account's");
}

#[actix_web::test]
async fn preambles_that_a_format_cannot_keep_are_read_each_time_and_formats_are_bounded() {
    let app = TestApp::with(&[("tex.formats_limit_mb", "50")]).await;
    let article = |preamble: &str| {
        format!(
            "\\documentclass{{article}}\n{preamble}\n\\begin{{document}}\nfor <%= name %>\n\\end{{document}}\n"
        )
    };
    let data = json!({"name": "Ada"});
    // The day of the preamble would be that of its reading.
    let day = article("\\edef\\day{\\the\\day}\\newcommand\\then{\\day}\\AtBeginDocument{\\then}");
    for refused in [0, 0, 1] {
        app.until_formats_decided(refused).await;
        app.typeset_anew_text(day.clone(), &data).await;
    }
    assert_eq!((app.formats("made").await, app.formats("used").await), (0, 0));
    // Of three formats two fit.
    for count in 1..=3 {
        let template = article(&format!("\\newcommand\\which{{{count}}}"));
        for _ in 0..2 {
            app.typeset_anew_text(template.clone(), &data).await;
        }
        app.until_formats_decided(1 + count).await;
        if count == 2 {
            app.typeset_anew_text(article("\\newcommand\\which{1}"), &data).await;
        }
        assert!(app.metric_of("platen_tex_format_bytes").await <= 50 << 20);
    }
    assert_eq!((app.formats("made").await, app.formats("evicted").await), (3, 1));
    app.typeset_anew_text(article("\\newcommand\\which{1}"), &data).await;
    assert_eq!(app.formats("used").await, 2, "the one that was used last stays");
    // A line that is read later than it stands may be missed where it stands, which only this text itself tells; and
    // not where its code writes what is missed.
    let moved = |body: &str| {
        format!(
            "\\documentclass{{article}}\n\\newcommand\\who{{<%= name %>}}\n\\ifdefined\\who\\def\\told{{early}}\\else\\def\\told{{late}}\\fi\n\
             \\begin{{document}}\n\\who: {body}\n\\end{{document}}\n"
        )
    };
    let data = json!({"name": "Ada", "code": "\\told", "place": "center"});
    for (count, body) in (5..).zip(["x", "<%- code %>", "\\told\\begin{<%= place %>}x\\end{<%= place %>}"]) {
        for _ in 0..2 {
            app.typeset_anew_text(moved(body), &data).await;
        }
        app.until_formats_decided(count).await;
        let text = app.typeset_anew_text(moved(if body == "x" { "\\told" } else { body }), &data).await;
        assert!(text.contains("Ada: early"), "{body}: {text}");
    }
    // Code before the packages that does more than fill a macro is warned of once, at the second document.
    let late = "\\documentclass{article}\n\\newcommand{\\who}{<%- name %>}\n\\usepackage{array,xcolor}\n\\usepackage{longtable}\n\
                \\begin{document}\nx\n\\end{document}\n";
    let mut warnings = Vec::new();
    for _ in 0..3 {
        warnings.push(app.typeset_anew(late, &data).await.0["warnings"].clone());
    }
    let sentence = warnings[1][0].as_str().unwrap_or_default();
    assert!(sentence.starts_with("index.tex:2: ") && sentence.contains("3 packages"), "{warnings:?}");
    assert_eq!((&warnings[0], &warnings[2]), (&json!([]), &json!([])));
}
