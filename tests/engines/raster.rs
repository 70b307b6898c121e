//! Pictures of PDF pages through the whole service: which pages are drawn, warnings, and refused options by name.

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use platen::domain::format_opts::KeySet;
use platen::domain::kinds::{FileKind, TemplateKind};
use platen::engines::Engine;
use platen::engines::document::{Document, DocumentKind};
use platen::engines::error::EngineError;
use platen::engines::plan::Ability;
use platen::engines::runner::{StepContext, StepRunner};
use platen::engines::step::{Step, StepKind};
use reqwest::Method;
use serde_json::{Value, json};

use crate::fake;
use crate::hostile_pdfs as hostile;
use crate::pdf_documents as documents;
use crate::service::Service;
use crate::texts;

/// Makes the PDF that is the data's `pdf`, in base64.
const CARBON: Engine = Engine {
    name: "carbon",
    abilities: &[Ability {
        step: StepKind::Assemble,
        from: DocumentKind::Template(TemplateKind::Latex),
        to: DocumentKind::File(FileKind::Pdf),
        cost: 1,
        heeds: KeySet::NONE,
        asked_by: None,
    }],
    requires: &[],
    reads_files: false,
    slots: None,
    start: |_| Box::new(Carbon),
};

struct Carbon;

#[async_trait(?Send)]
impl StepRunner for Carbon {
    async fn run(
        &self,
        step: &Step,
        job: &mut StepContext<'_>,
        _: Document,
    ) -> Result<Document, EngineError> {
        let data: Value = serde_json::from_slice(job.data).unwrap();
        let mut sink = job.outlet.open().await?;
        sink.write(Bytes::from(STANDARD.decode(data["pdf"].as_str().unwrap()).unwrap())).await?;
        sink.finish(step.file()?, None).await
    }
}

async fn start(settings: &[(&str, &str)]) -> Service {
    let mut engines = fake::others();
    engines.push(CARBON);
    Service::start_with(settings, engines).await
}

fn job(target: &str, pdf: &[u8], options: &Value) -> Value {
    json!({"type": "latex", "target": target, "data": {"pdf": STANDARD.encode(pdf)}, "formatOpts": options})
}

async fn run(service: &Service, target: &str, pdf: &[u8], options: Value) -> Value {
    let id = service.init(&job(target, pdf, &options), "\\documentclass{article}").await;
    service.finish(&id).await
}

async fn picture(service: &Service, target: &str, pdf: &[u8], options: Value) -> (Value, Vec<u8>, String) {
    let view = run(service, target, pdf, options).await;
    assert_eq!(view["success"], true, "{view}");
    let (bytes, content_type) = service.bytes(&view).await;
    (view, bytes, content_type)
}

fn names(zip: Vec<u8>) -> Vec<String> {
    let archive = zip::ZipArchive::new(std::io::Cursor::new(zip)).unwrap();
    archive.file_names().map(|name| name.unwrap().into_owned()).collect()
}

#[actix::test]
async fn the_first_page_is_drawn_unless_others_are_asked_for() {
    let service = start(&[]).await;
    let pdf = documents::pages(7);
    let (view, png, content_type) = picture(&service, "png", &pdf, json!({})).await;
    let message = "1 of 7 pages is in the picture; formatOpts.pages asks for others (\"all\", or a range such as \"2-4\")";
    assert_eq!(texts(&view["warnings"]), [message]);
    assert_eq!(view["output"]["metadata"]["pages"], 7, "{view}");
    assert_eq!((content_type.as_str(), png.starts_with(b"\x89PNG")), ("image/png", true));
    let (view, jpg, content_type) =
        picture(&service, "jpg", &pdf, json!({"page": 7, "dpi": 30, "quality": 5})).await;
    assert_eq!((texts(&view["warnings"]), content_type.as_str()), (vec![], "image/jpeg"));
    assert!(jpg.starts_with(b"\xff\xd8\xff") && jpg.len() < 4_000, "{} bytes", jpg.len());
    for (options, pages) in [
        (json!({"pages": "2-4,7"}), "2347"),
        (json!({"pages": "all", "dpi": 20}), "1234567"),
        (json!({"fromPage": 6}), "67"),
        (json!({"fromPage": 2, "toPage": 5, "pages": "2-"}), "345"),
    ] {
        let (view, zip, content_type) = picture(&service, "png", &pdf, options).await;
        assert_eq!((texts(&view["warnings"]), content_type.as_str()), (vec![], "application/zip"));
        assert_eq!(view["output"]["metadata"]["pages"], 7, "{view}");
        let expected: Vec<_> = pages.chars().map(|page| format!("page-{page}.png")).collect();
        assert_eq!(names(zip), expected);
    }
    let (view, ..) = picture(&service, "png", &documents::form(), json!({})).await;
    assert_eq!((texts(&view["warnings"]), &view["output"]["metadata"]["pages"]), (vec![], &json!(1)));
    service.stop().await;
}

#[actix::test]
async fn options_are_read_strictly() {
    let service = start(&[]).await;
    for (options, key) in [
        (json!({"dpi": 9}), "dpi"),
        (json!({"dpi": "300"}), "dpi"),
        (json!({"page": 0}), "page"),
        (json!({"pages": "2-1"}), "pages"),
        (json!({"page": 1, "pages": "2"}), "page"),
    ] {
        let order = job("png", b"", &options);
        let (status, answer) = service.call(Method::POST, "/v1/documents/init", &order).await;
        assert_eq!(status, 422, "{answer}");
        assert!(answer.to_string().contains(&format!("/formatOpts/{key}")), "{answer}");
    }
    let view = run(&service, "pdf", &documents::form(), json!({"dpi": 300})).await;
    assert_eq!(
        texts(&view["warnings"]),
        ["formatOpts.dpi has no effect on pdf made of latex and was ignored"]
    );
    service.stop().await;
}

#[actix::test]
async fn limits_and_unreadable_documents_are_refused_by_name() {
    let service = start(&[
        ("raster.timeout_ms", "8000"),
        ("raster.page_timeout_ms", "0"),
        ("raster.picture_limit_pixels", "1000000"),
        ("raster.pages_limit", "20"),
        ("raster.memory_limit_mb", "256"),
        ("storage.output_limit_bytes", "8000"),
    ])
    .await;
    let pages = documents::pages(3);
    for (pdf, options, code, message) in [
        (&pages, json!({"page": 9}), "options_invalid", "page 9 of 3 does not exist"),
        (&pages, json!({"fromPage": 4}), "options_invalid", "page 4 of 3 does not exist"),
        (
            &pages,
            json!({"dpi": 600}),
            "options_invalid",
            "(raster.picture_limit_pixels); give a smaller formatOpts.dpi",
        ),
        (&documents::huge(), json!({}), "options_invalid", "(raster.picture_limit_pixels)"),
        (
            &documents::same_pages(10_000),
            json!({"pages": "all"}),
            "options_invalid",
            "10000 pages are more than 20 (raster.pages_limit)",
        ),
        (&b"%PDF-1.7 and nothing".to_vec(), json!({}), "template_invalid", "the PDF is damaged, or none"),
        (&Vec::new(), json!({}), "template_invalid", "the PDF is damaged, or none"),
        // Which of its limits it meets first goes by the machine.
        (&hostile::endless(), json!({}), "template_limit", "(raster."),
        (&documents::blends(), json!({"dpi": 150}), "output_too_large", "8000"),
    ] {
        let view = run(&service, "png", pdf, options).await;
        assert_eq!(view["errorCode"], code, "{view}");
        assert!(view["error"].as_str().unwrap().contains(message), "{view}");
    }
    // What is hostile in these is not drawn; the page is.
    for pdf in [hostile::nested(), hostile::vast_image()] {
        let (_, png, _) = picture(&service, "png", &pdf, json!({"dpi": 40})).await;
        let side = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
        assert_eq!((side(16), side(20)), (167, 111));
    }
    // Each cost its own job.
    let (view, ..) = picture(&service, "png", &documents::form(), json!({"dpi": 40})).await;
    assert_eq!(texts(&view["warnings"]), [""; 0]);
    let answered = service.metric("platen_engine_jobs_total{engine=\"raster\",end=\"answered\"}").await;
    assert!(!answered.is_empty(), "what the children do is counted");
    service.stop().await;
}

#[actix::test]
async fn a_large_document_goes_through_in_pieces() {
    let service = start(&[("raster.memory_limit_mb", "64")]).await;
    let mut file = documents::File::new();
    file.page("", "", "0 0 100 100 re f");
    file.stream("", &vec![b'x'; 5 << 20]);
    let (_, png, _) = picture(&service, "png", &file.write(""), json!({})).await;
    assert!(png.starts_with(b"\x89PNG"));
    service.stop().await;
}
