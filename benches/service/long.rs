//! What the service costs beyond one small document: pages, a large file, many documents.

use std::io;
use std::time::Instant;

use reqwest::Method;
use serde_json::{Value, json};

use crate::common::document::Document;
use crate::common::figures::Figures;
use crate::common::noise;
use crate::common::program::{memory_mb, text};
use crate::common::saved::archive;
use crate::common::service::{Service, chromium_groups};
use crate::common::usage::members;

/// Pages of the documents whose cost is compared.
const PAGES: [usize; 8] = [1, 10, 50, 100, 200, 400, 700, 1_000];
/// Pages that are printed for each number of pages, about, and documents at least.
const PRINTED_PAGES: usize = 2_000;
const LEAST_DOCUMENTS: usize = 3;
const MOST_DOCUMENTS: usize = 40;

/// Pictures of a large document, and the side of each: their pixels make 300 MB.
const PICTURES: usize = 100;
const PICTURE_PX: u32 = 1_000;

/// Documents of a long run, of a line of it, and how many clients ask.
const DOCUMENTS: usize = 20_000;
const PORTION: usize = 1_000;
const CLIENTS: usize = 4;

/// The cost of a page in documents of 1 to 1,000 pages; one client.
pub fn compare_pages() -> io::Result<()> {
    let service = Service::start(&[])?;
    println!("\n| pages | p10 ms | p50 ms | ms a page | Chromium ms a page | own ms a page |");
    println!("|{}", "--:|".repeat(6));
    for pages in PAGES {
        let documents = (PRINTED_PAGES / pages).clamp(LEAST_DOCUMENTS, MOST_DOCUMENTS);
        match service.measure(&Document::report(pages)?, 1, documents) {
            Ok(figures) => print_pages(pages, &figures),
            Err(error) => println!("{pages} pages: left out, {error}"),
        }
    }
    Ok(())
}

fn print_pages(pages: usize, figures: &Figures) {
    #[expect(clippy::cast_precision_loss, reason = "a thousand")]
    let a_page = |document_ms: f64| document_ms / pages as f64;
    let [least, median] = [0.1, 0.5].map(|share| figures.percentile_ms(share));
    let [chromium, own, _] = figures.used_a_document_ms();
    println!(
        "| {pages} | {least:.1} | {median:.1} | {:.2} | {:.2} | {:.3} |",
        a_page(median),
        a_page(chromium),
        a_page(own)
    );
}

/// The memory of the service's own process while a file of 300 MB is made and downloaded.
pub fn make_large() -> io::Result<()> {
    let service = Service::start(&[])?;
    service.measure(&Document::invoice()?, 1, 1)?;
    let picture = |number| format!("<img width=\"700\" src=\"noise.png?{number}\">");
    let template = (0..PICTURES).map(picture).collect::<String>();
    let files = vec![("noise.png".to_owned(), noise::picture(PICTURE_PX)?)];
    let document = Document { files, ..Document::of("large", template, "{}".to_owned())? };
    println!("\n| | MiB resident | most so far |\n|:--|--:|--:|");
    let say = |what: &str| {
        println!(
            "| {what} | {} | {} |",
            service.program.memory_mb("VmRSS:"),
            service.program.memory_mb("VmHWM:")
        );
    };
    say("before");
    let begun = Instant::now();
    let url = service.program.runtime.block_on(start_and_wait(&service, &document, say))?;
    say(&format!("rendered in {:.1} s", begun.elapsed().as_secs_f64()));
    let begun = Instant::now();
    let bytes = service.program.runtime.block_on(download(&service, &url))?;
    say(&format!("{} MB downloaded in {:.1} s", bytes / 1_000_000, begun.elapsed().as_secs_f64()));
    Ok(())
}

/// Renders by an uploaded archive; gives the address of the file.
async fn start_and_wait(service: &Service, document: &Document, say: impl Fn(&str)) -> io::Result<String> {
    let program = &service.program;
    let ask =
        async |method, path: &str, body: &Value| program.ask_as(&program.token, method, path, body).await;
    let wanted = json!({ "type": "html", "target": "pdf", "data": {} });
    let job = ask(Method::POST, "/v1/documents/init", &wanted).await?;
    program.upload(text(&job, "/presignedTemplateUploadUrl")?, archive(document)?).await?;
    say("uploaded");
    let id = text(&job, "/jobId")?;
    ask(Method::POST, &format!("/v1/documents/{id}/render"), &json!({})).await?;
    loop {
        let view = ask(Method::GET, &format!("/v1/jobs/{id}?wait=60"), &Value::Null).await?;
        if view["status"] == "done" {
            return Ok(text(&view, "/output/data/url")?.to_owned());
        }
    }
}

/// Fetches a file and keeps nothing of it; gives its bytes.
async fn download(service: &Service, url: &str) -> io::Result<usize> {
    let mut answer = service.program.client.get(url).send().await.map_err(io::Error::other)?;
    let mut bytes = 0;
    while let Some(chunk) = answer.chunk().await.map_err(io::Error::other)? {
        bytes += chunk.len();
    }
    Ok(bytes)
}

/// Memory over 20,000 documents: of the service's own process, and of all processes of its browsers (what they
/// share is counted in each).
pub fn go_on() -> io::Result<()> {
    let (document, service) = (Document::invoice()?, Service::start(&[])?);
    println!("\n| documents | documents/s | p50 ms | own MiB | browser MiB |\n|--:|--:|--:|--:|--:|");
    for portion in 1..=DOCUMENTS / PORTION {
        let begun = Instant::now();
        let latencies = service.render_all(&document, CLIENTS, PORTION)?;
        let figures = Figures { latencies, wall: begun.elapsed(), ..Figures::default() };
        println!(
            "| {} | {:.1} | {:.1} | {} | {} |",
            portion * PORTION,
            figures.throughput(),
            figures.percentile_ms(0.5),
            service.program.memory_mb("VmRSS:"),
            browser_memory_mb(&service)
        );
    }
    Ok(())
}

/// Resident memory of all processes of its browsers, in MiB; what they share is counted in each.
pub fn browser_memory_mb(service: &Service) -> u64 {
    let groups = chromium_groups(service.program.id());
    groups.into_iter().flat_map(members).map(|(id, _)| memory_mb(id, "VmRSS:")).sum()
}
