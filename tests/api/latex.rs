//! LaTeX through the whole service: templates as text and as archives, their data, warnings and errors.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::app::{TestApp, bounded};
use crate::libreoffice::poppler_output;
use crate::missing_engine::Hidden;
use crate::small_disk::rerun_in_mount_namespace;
use crate::unfilled::packed;

/// A picture of one pixel.
pub const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// A document with this body and this preamble.
pub fn document(preamble: &str, body: &str) -> String {
    format!("\\documentclass{{article}}\n{preamble}\n\\begin{{document}}\n{body}\n\\end{{document}}\n")
}

impl TestApp {
    /// Renders a template of LaTeX: the view and the file.
    pub async fn typeset(
        &self,
        target: &str,
        template: impl Into<Vec<u8>>,
        (data, options): (Value, Value),
    ) -> (Value, Vec<u8>) {
        let body = json!({"type": "latex", "target": target, "data": data, "formatOpts": options});
        let job = self.init(body).await;
        assert_eq!(self.put(&job.template_url.unwrap(), template.into()).await, 200);
        let view = self.finish(&job.id).await;
        let Some(url) = view["output"]["data"].get("url") else { return (view, Vec::new()) };
        let (status, file) = self.fetch(url).await;
        assert_eq!(status, 200);
        (view, file)
    }

    /// The text of a document that is made without a warning.
    async fn typeset_text(&self, template: String, data: Value) -> String {
        let (view, pdf) = self.typeset("pdf", template, (data, json!({}))).await;
        assert_eq!((&view["success"], &view["warnings"]), (&json!(true), &json!([])), "{view}");
        self.text_of(&pdf)
    }
}

#[actix_web::test]
async fn a_letter_is_text_of_a_request_and_pages_and_pictures_come_of_it() {
    let app = TestApp::start().await;
    let letter = document(
        "% a letter\n\\usepackage{shellesc}",
        "<%# to nobody %>Dear \\VAR{to.name},\n\n<% for (const line of lines) { %><%= line %>\\\\\n<% } %>\\newpage <%= \
         new Intl.NumberFormat('de-DE', { style: 'currency', currency: 'EUR' }).format(sum) %> (<%= \
         new Date().getHours() * 60 + new Date().getMinutes() %> \\number\\time)",
    );
    let data = json!({"to": {"name": "Ada"}, "lines": ["one", "two"], "sum": 1234.5});
    let body = json!({"type": "latex", "target": "pdf", "template": letter, "data": data});
    let (status, answer) = app.post("/v1/documents/immediate-render", &body).await;
    assert_eq!(status, 200, "{answer}");
    let (_, pdf) = app.fetch(&answer["url"]).await;
    let text = app.text_of(&pdf);
    assert!(text.contains("Dear Ada,") && text.contains("one\ntwo") && text.contains("1.234,50 €"), "{text}");
    let options = json!({"timezone": "Asia/Kathmandu"});
    let (view, pdf) = app.typeset("pdf", letter.clone(), (data.clone(), options)).await;
    assert_eq!((&view["output"]["metadata"]["pages"], &view["warnings"]), (&json!(2), &json!([])), "{view}");
    let text = app.text_of(&pdf);
    let minutes: Vec<i32> =
        text.rsplit(['(', ')']).nth(1).unwrap().split(' ').map(|of_day| of_day.parse().unwrap()).collect();
    assert!((minutes[1] - minutes[0]).rem_euclid(1440) < 60, "TeX's clock is that of the zone: {text}");
    for (target, start) in [("png", &b"\x89PNG"[..]), ("jpg", b"\xff\xd8\xff")] {
        let (view, picture) = app.typeset(target, letter.clone(), (data.clone(), json!({"dpi": 50}))).await;
        assert!(picture.starts_with(start), "{view}");
    }
}

#[actix_web::test]
async fn data_is_printed_unchanged() {
    let app = TestApp::start().await;
    let odd = "\\ { } $ % & # _ ^ ~ < > \" ' ` | [ ] * -- --- ,, ?` !` << >> \\section{x} \u{2212}5 é ß ł \u{20ac} „q“ –";
    let values = ["%", "#1", "\\", "[x]", "*", "{", "}", "^^41", "a_b", "$x$", "<%= 7 %>", "\\input{x}"];
    let body = "<%= odd %>\n\n\\section{<%= odd %>}\n<% for (const value of values) { %>(<%= value %>)\\\\\n<%= value %>\\\\\n<% } \
                %>(<%= broken %>) (<%= typed %>)";
    // Signs that are spaces, dashes, or places for a line's end.
    let typed =
        "£5 ¥6 7° 8\u{202f}9 a\u{2009}b c\u{2007}d e\u{2010}f g\u{2011}h i\u{ad}j k\u{200b}l m\u{a0}n";
    let data = json!({"odd": odd, "typed": typed, "values": values, "broken": "one\r\n\n two\u{2028}three\u{0}\u{7}"});
    for engine in ["pdflatex", "lualatex", "xelatex"] {
        let options = json!({"engine": engine});
        let (view, pdf) = app.typeset("pdf", document("", body), (data.clone(), options)).await;
        assert_eq!((&view["success"], &view["warnings"]), (&json!(true), &json!([])), "{engine}: {view}");
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ");
        let text = words(&app.text_of(&pdf));
        assert_eq!(text.matches(odd).count(), 2, "{engine}: {text}");
        for value in values {
            assert!(text.contains(&format!("({value}) {value}")), "{engine}, {value}: {text}");
        }
        let typed = "(£5 ¥6 7° 8 9 a b c d e-f g-h ij kl m n)";
        assert!(text.contains("(one two three)") && text.contains(typed), "{engine}: {text}");
    }
}

#[actix_web::test]
async fn letters_that_pdflatex_lacks_are_made_by_another_one_which_is_reported() {
    let app = TestApp::start().await;
    let data = json!({"text": "Ωμέγα 漢字類金 かな 한국어 Привет é 😀"});
    let source = document("\\usepackage[T1]{fontenc}", "(<%= text %>) \\textbf{<%= text %>} $x$");
    let (view, pdf) = app.typeset("pdf", source.clone(), (data.clone(), json!({}))).await;
    assert_eq!(view["success"], json!(true), "{view}");
    assert!(view["warnings"][0].as_str().unwrap().contains("so lualatex made it"), "{view}");
    assert!(app.text_of(&pdf).contains("(Ωμέγα 漢字類金 かな 한국어 Привет é 😀)"), "{}", app.text_of(&pdf));
    // A sign that only a coloured font has is a picture.
    let (view, _) = app.typeset("pdf", source.clone(), (json!({"text": "🎉"}), json!({}))).await;
    assert_eq!(
        (&view["success"], view["warnings"].as_array().map(Vec::len)),
        (&json!(true), Some(1)),
        "{view}"
    );
    let (view, _) = app.typeset("pdf", source, (data, json!({"engine": "pdflatex"}))).await;
    assert_eq!(view["errorCode"], json!("template_error"), "who asks for it gets no other one: {view}");
    assert!(view["error"].as_str().unwrap().contains("index.tex:4: "), "{view}");
}

#[actix_web::test]
async fn chinese_characters_have_the_forms_of_the_documents_country() {
    let app = TestApp::start().await;
    for (text, font) in [("漢字 하나", "CJKkr"), ("漢字 かな", "CJKjp"), ("漢字", "CJKsc")] {
        let (view, pdf) = app.typeset("pdf", document("", text), (json!({}), json!({}))).await;
        assert_eq!(view["success"], json!(true), "{text}: {view}");
        let fonts = poppler_output("pdffonts", &[], &pdf);
        assert!(fonts.contains(font), "{text}: {fonts}");
    }
}

#[actix_web::test]
async fn numbers_stand_in_formulas_and_long_values_on_a_line() {
    let app = TestApp::start().await;
    let body = "$<%= sum %>$ and <%= sum %>. <%= 'word '.repeat(60000) %>";
    let text = app.typeset_text(document("", body), json!({"sum": "\u{2212}5"})).await;
    assert!(
        text.contains("\u{2212}5 and \u{2212}5.") && text.matches("word").count() == 60_000,
        "{}",
        &text[..200]
    );
    let (view, _) = app.typeset("pdf", document("\\pdfoutput=0", "x"), (json!({}), json!({}))).await;
    assert_eq!(view["errorCode"], json!("template_error"), "{view}");
}

#[actix_web::test]
async fn references_are_right_when_the_document_is_made() {
    let app = TestApp::start().await;
    let body = "\\tableofcontents\\newpage See \\ref{end} on page \\pageref{end}.\\newpage\\section{First}\\section{Last \
                one}\\label{end}";
    let text = app.typeset_text(document("", body), json!({})).await;
    assert!(text.contains("See 2 on page 3."), "{text}");
    let line = text.lines().find(|line| line.contains("Last one")).unwrap_or_default();
    assert!(line.trim_end().ends_with('3'), "contents: {text}");
    // Contents that take more room than before move what they list, of which TeX says nothing.
    let body = "\\tableofcontents\\newpage<% for (let at = 1; at < 9; at += 1) { %>\\section{Part <%= at %>}x\\par <% } %>";
    let text = app.typeset_text(document("\\setlength\\textheight{3cm}", body), json!({})).await;
    let pages: Vec<_> = text.split('\u{c}').collect();
    let line = text.lines().find(|line| line.contains("Part 8")).unwrap_or_default();
    let page = pages.iter().rposition(|page| page.contains("Part 8")).unwrap() + 1;
    assert!(page > 3 && line.trim_end().ends_with(&page.to_string()), "on page {page}: {text}");
    // One that never comes to rest ends at the limit: each run reads the number of the one before, and writes the next.
    let restless = "\\makeatletter\\ifdefined\\run\\else\\def\\run{0}\\fi\\label{a\\run}\\label{b}\\pageref{c}\
                    \\immediate\\write\\@auxout{\\gdef\\string\\run{\\the\\numexpr\\run+1}}";
    let restless = document("", restless);
    let (view, _) = app.typeset("pdf", restless, (json!({}), json!({}))).await;
    let warnings = view["warnings"].to_string();
    assert!(
        warnings.contains("tex.runs_limit") && warnings.contains("the reference 'c' is not defined"),
        "{view}"
    );
}

#[actix_web::test]
async fn an_archive_brings_a_class_a_picture_and_what_is_included() {
    let app = TestApp::start().await;
    let class =
        "\\ProvidesClass{house}\\LoadClass{article}\\RequirePackage{graphicx}\\newcommand\\house{The House}";
    let main = "\\documentclass{house}\n\\begin{document}\\house: <%- include('parts/greeting.tex', {name: 'B&B'}) %>\n\
                \\includegraphics[width=1cm]{pictures/d\u{f6}t}\\input{parts/plain}\\end{document}";
    let files: [(&str, &[u8]); 5] = [
        ("main.tex", main.as_bytes()),
        ("house.cls", class.as_bytes()),
        ("parts/greeting.tex", b"Hello <%= name %> of \\VAR{city}"),
        ("parts/plain.tex", b"and <% plain \n text"),
        // As macOS packs it.
        ("pictures/do\u{308}t.png", &STANDARD.decode(PNG).unwrap()),
    ];
    let (view, pdf) = app.typeset("pdf", packed(&files), (json!({"city": "Köln"}), json!({}))).await;
    assert_eq!((&view["success"], &view["warnings"]), (&json!(true), &json!([])), "{view}");
    let text = app.text_of(&pdf);
    assert!(text.contains("The House: Hello B&B of Köln"), "{text}");
    assert!(pdf.windows(8).any(|bytes| bytes == b"/Subtype"), "a picture is there");
}

#[actix_web::test]
async fn an_error_names_file_and_line() {
    let app = TestApp::start().await;
    for (source, code, words) in [
        (document("", "Hello\n\\foo{x}"), "template_error", "index.tex:5: Undefined control sequence \\foo"),
        (
            document("\\usepackage{nowhere}", ""),
            "template_error",
            "index.tex:2: File 'nowhere.sty' not found; put it beside the template",
        ),
        (document("", "<%= name %>"), "template_error", "index.tex:4: 'name' is not defined"),
        (document("", ""), "template_invalid", "no pages"),
        ("\\documentclass{article}\\begin{document}x".to_owned(), "template_error", "Emergency stop"),
        (
            document("", "\\begin{itemize}\n\\item a"),
            "template_error",
            "index.tex:6: \\begin{itemize} on input line 4 ended by \\end{document}",
        ),
    ] {
        let (view, _) = app.typeset("pdf", source.clone(), (json!({}), json!({}))).await;
        assert_eq!(view["errorCode"], json!(code), "{source}: {view}");
        assert!(view["error"].as_str().unwrap().contains(words), "{source}: {view}");
    }
    let files: [(&str, &[u8]); 2] = [
        ("my letter.tex", b"\\documentclass{article}\\begin{document}\\input{parts/part}\\end{document}"),
        ("parts/part.tex", b"one\n\\two"),
    ];
    let (view, _) = app.typeset("pdf", packed(&files), (json!({}), json!({}))).await;
    assert!(
        view["error"].as_str().unwrap().contains("parts/part.tex:2: Undefined control sequence \\two"),
        "{view}"
    );
    let (view, _) = app.typeset("pdf", "<p>a page</p>", (json!({}), json!({}))).await;
    assert_eq!(view["errorCode"], json!("template_invalid"), "{view}");
}

#[actix_web::test]
async fn an_endless_loop_ends_at_a_limit_and_the_next_job_runs() {
    // Of the processor's time, so that a busy machine has what is good end well.
    let app = TestApp::with(&[("tex.processor_limit_s", "4"), ("tex.timeout_ms", "100000")]).await;
    for (letter, words) in
        [("", ""), ("Ω ", "lualatex, which was tried because pdflatex said: index.tex:4: ")]
    {
        let endless = document("", &format!("{letter}\\def\\a{{\\a}}\\a"));
        let (view, _) = app.typeset("pdf", endless, (json!({}), json!({}))).await;
        assert_eq!(view["errorCode"], json!("template_limit"), "{view}");
        let error = view["error"].as_str().unwrap();
        assert!(error.contains("4 s of the processor (tex.processor_limit_s)"), "{view}");
        assert!(error.contains(words), "{view}");
    }
    let (view, _) = app.typeset("pdf", document("", "next"), (json!({}), json!({}))).await;
    assert_eq!(view["success"], json!(true), "{view}");
    let hurried = TestApp::with(&[("tex.timeout_ms", "3000")]).await;
    let (view, _) = hurried.typeset("pdf", document("", "\\def\\a{\\a}\\a"), (json!({}), json!({}))).await;
    assert_eq!(view["errorCode"], json!("template_limit"), "{view}");
    assert!(view["error"].as_str().unwrap().contains("3000 ms (tex.timeout_ms)"), "{view}");
}

#[actix_web::test]
async fn lines_and_paragraphs_of_a_value_are_kept_where_that_is_asked() {
    let app = TestApp::start().await;
    let body = "\\setlength\\parindent{0pt}<%- latex.lines(address) %>\n\n<%- latex.paragraphs(story) %>\n\n\
                \\begin{center}<%- latex.lines(gap) %>\\end{center}(<%- latex.lines(none) %>)";
    let data = json!({
        "address": "Main_Street 1\n[12345] & Town\n", "story": "one\ntwo\n\n# three",
        "gap": "1st floor\n\n \n[12345] Town", "none": "\n"
    });
    let text = app.typeset_text(document("", body), data).await;
    assert!(text.contains("Main_Street 1\n[12345] & Town\n"), "{text}");
    assert!(text.contains("one two\n# three"), "{text}");
    let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(lines[4..7], ["1st floor", "[12345] Town", "()"], "empty lines that are centred: {text}");
}

#[actix_web::test]
async fn the_caller_or_the_file_chooses_the_tex_program_and_metadata_are_written() {
    let app = TestApp::start().await;
    let options = |engine: &str| {
        let metadata = json!({"title": "T & <ü> 漢", "author": "A) \\ B"});
        json!({"engine": engine, "metadata": metadata, "password": "open"})
    };
    for (preamble, engine, producer) in [
        ("", "", "pdfTeX"),
        ("\\usepackage[pdfauthor=X]{hyperref}", "", "pdfTeX"),
        ("\\usepackage{fontspec}", "", "LuaTeX"),
        ("% !TeX program = xelatex", "", "xdvipdfmx"),
        ("% !TeX program = xelatex\n\\usepackage{hyperref}", "lualatex", "LuaTeX"),
    ] {
        let (view, pdf) = app.typeset("pdf", document(preamble, "x"), (json!({}), options(engine))).await;
        assert_eq!((&view["success"], &view["warnings"]), (&json!(true), &json!([])), "{preamble}: {view}");
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), pdf).unwrap();
        let about = std::process::Command::new("pdfinfo").args(["-upw", "open"]).arg(file.path()).output();
        let about = String::from_utf8_lossy(&about.unwrap().stdout).into_owned();
        for words in ["Title:           T & <ü> 漢\n", "Author:          A) \\ B\n", producer, "AES-256"] {
            assert!(about.contains(words), "{preamble} {engine}, no {words}: {about}");
        }
    }
    let (view, _) =
        app.typeset("pdf", document("% !TeX program = latexmk", "x"), (json!({}), json!({}))).await;
    assert!(view["warnings"][0].as_str().unwrap().contains("latexmk was ignored"), "{view}");
    let wrong = json!({"type": "latex", "target": "pdf", "formatOpts": {"engine": "word"}});
    let (status, problem) = app.post("/v1/documents/init", &wrong).await;
    assert_eq!((status, &problem["errors"][0]["pointer"]), (422, &json!("/formatOpts/engine")), "{problem}");
}

#[actix_web::test]
async fn a_saved_template_has_previews_and_is_rendered_again_by_its_own_script() {
    let app = TestApp::start().await;
    let main = document("\\usepackage{house}", "\\house{<%= name %>} \\VAR{name} \\input{end}");
    let files: [(&str, &[u8]); 3] = [
        ("index.tex", main.as_bytes()),
        ("house.sty", b"\\newcommand\\house[1]{House of #1}"),
        ("end.tex", b"Yours"),
    ];
    let id = app.unzipped(packed(&files)).await;
    let body = json!({"type": "latex", "data": {"name": "A&B"}});
    let (status, answer) = app.post(&format!("/v1/templates/{id}/render-previews"), &body).await;
    assert_eq!(status, 200, "{answer}");
    let jobs = ["pngPreview", "pdfPreview"].map(|name| answer[name]["jobId"].as_str().unwrap().to_owned());
    for job in &jobs {
        let view = app.ended(job).await;
        assert_eq!(view["success"], json!(true), "{view}");
    }
    let request = json!({
        "templateInfo": {
            "title": "letter", "description": "", "type": "latex", "sampleData": {"name": "A"}, "categories": ["other"],
            "sourceCode": null
        },
        "previewIds": {"pngJobId": jobs[0], "pdfJobId": jobs[1]}
    });
    let (status, answer) = app.post(&format!("/v1/templates/{id}"), &request).await;
    assert_eq!((status, &answer), (204, &Value::Null));
    // Once its scripts are generated, EJS is not used any more.
    for name in ["C_D", "E%F", "G{H"] {
        let body = json!({"type": "latex", "target": "pdf", "templateId": id, "data": {"name": name}});
        let (status, answer) = app.post("/v1/documents/immediate-render", &body).await;
        assert_eq!(status, 200, "{answer}");
        let (_, pdf) = app.fetch(&answer["url"]).await;
        let text = app.text_of(&pdf);
        assert!(text.contains(&format!("House of {name} {name} Yours")), "{text}");
    }
}

#[actix_web::test]
async fn without_tex_init_and_the_doctor_say_what_to_install() {
    if rerun_in_mount_namespace("latex::without_tex_init_and_the_doctor_say_what_to_install").is_some() {
        return;
    }
    let hidden = Hidden::over(Path::new("/usr/bin/pdflatex"));
    let app = TestApp::start().await;
    let wanted = json!({"type": "latex", "target": "png"});
    let (status, problem) = app.post("/v1/documents/init", &wanted).await;
    assert_eq!((status, &problem["code"]), (422, &json!("unsupported_conversion")), "{problem}");
    let detail = problem["detail"].as_str().unwrap();
    assert!(
        detail.contains("pdflatex is not installed")
            && detail.contains("apt-get install --no-install-recommends texlive"),
        "{detail}"
    );
    let doctor = app.set(bounded()).arg("doctor").output().unwrap();
    let found = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(
        found.contains("latex to jpg, png, pptx, pdf")
            && found.contains("recommends texlive-latex-recommended"),
        "{found}"
    );
    let (view, _) = app.render("pdf", "<p>a page", json!({})).await;
    assert_eq!(view["success"], json!(true), "everything else is made: {view}");
    drop(hidden);
    app.until("it is seen", async || app.post("/v1/documents/init", &wanted).await.0 == 200).await;
}
