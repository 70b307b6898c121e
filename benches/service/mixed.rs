//! Many accounts and many templates: what stays in memory, and what it costs to keep tabs that nobody takes again.

use std::io;
use std::time::Instant;

use serde_json::Value;

use crate::common::clients::at_once;
use crate::common::document::Document;
use crate::common::figures::Figures;
use crate::common::program::{Program, make_account};
use crate::common::service::Service;
use crate::long::browser_memory_mb;

/// Accounts of each service.
const ACCOUNTS: usize = 20;
/// Documents of a long run, documents of one of its lines, and clients at once.
const DOCUMENTS: usize = 20_000;
const PORTION: usize = 1_000;
const CLIENTS: usize = 4;
/// Documents that an account asks for one after the other: a page with script takes the place of the one before.
const IN_A_ROW: usize = 12;
/// Documents of one measurement of a comparison, and its rounds.
const COMPARED: usize = 100;
const ROUNDS: usize = 5;

/// A service with accounts, and the documents that they ask for.
struct Mix {
    service: Service,
    tokens: Vec<String>,
    documents: [Document; 3],
}

impl Mix {
    fn start(settings: &[(&str, &str)]) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let token = |number| make_account(folder.path(), &format!("account-{number}"));
        let tokens = (0..ACCOUNTS).map(token).collect::<io::Result<_>>()?;
        let documents = [Document::invoice()?, Document::drawn()?, Document::report(3)?];
        let program = Program::start(folder.path(), make_account(folder.path(), "bench")?, settings)?;
        Ok(Self { service: Service::of(program, folder)?, tokens, documents })
    }

    /// The document of this number: the account changes after `IN_A_ROW`, the document after all accounts had it. The
    /// template of a quarter, changing, never comes again.
    async fn render_mixed(&self, number: usize) -> io::Result<()> {
        let turn = number / IN_A_ROW;
        let round = turn / ACCOUNTS;
        let document = &self.documents[round % self.documents.len()];
        let once = (number + round).is_multiple_of(4).then_some(number);
        self.render(turn % ACCOUNTS, document, once).await
    }

    /// Renders a document of this account; with a number its template is another one than ever before.
    async fn render(&self, account: usize, document: &Document, once: Option<usize>) -> io::Result<()> {
        let comment = once.map_or_else(String::new, |number| format!("<!-- {number} -->"));
        let (template, data) = (Value::from(format!("{}{comment}", document.template)), &document.data);
        let body = format!(r#"{{"type": "ejs", "target": "pdf", "template": {template}, "data": {data}}}"#);
        document.check(&self.service.program.render_as(&self.tokens[account], body).await?)
    }
}

/// Memory over 20,000 documents of 20 accounts, with script and without.
pub fn go_on() -> io::Result<()> {
    // A browser that is replaced would hide what it keeps.
    let mix =
        Mix::start(&[("PLATEN__BROWSER__RECYCLE_DOCUMENTS", "0"), ("PLATEN__BROWSER__RECYCLE_AGE_S", "0")])?;
    let program = &mix.service.program;
    println!("\n| documents | documents/s | p50 ms | own MiB | browser MiB |\n|--:|--:|--:|--:|--:|");
    for portion in 0..DOCUMENTS / PORTION {
        let begun = Instant::now();
        let ask = async |number| mix.render_mixed(portion * PORTION + number).await;
        let latencies = program.runtime.block_on(at_once(CLIENTS, PORTION, ask))?;
        let figures = Figures { latencies, wall: begun.elapsed(), ..Figures::default() };
        println!(
            "| {} | {:.1} | {:.1} | {} | {} |",
            (portion + 1) * PORTION,
            figures.throughput(),
            figures.percentile_ms(0.5),
            program.memory_mb("VmRSS:"),
            browser_memory_mb(&mix.service)
        );
    }
    Ok(())
}

/// Pages with script whose template never comes twice, of one account and of 20: with tabs that are kept for the next
/// page of a template, in turn with a service that keeps none.
pub fn compare_once() -> io::Result<()> {
    let never = ("PLATEN__BROWSER__SCRIPTED_REUSE", "never");
    let mixes = [("template", Mix::start(&[])?), ("never", Mix::start(&[never])?)];
    println!("\n| scripted_reuse | accounts | documents/s | p50 ms | Chromium ms | own ms |");
    println!("|:--{}", "|--:".repeat(5) + "|");
    let mut number = 0;
    // The first round warms up.
    for round in 0..=ROUNDS {
        for accounts in [1, ACCOUNTS] {
            for (name, mix) in &mixes {
                let first = number;
                number += COMPARED;
                let ask = async |at| mix.render(at % accounts, &mix.documents[1], Some(first + at)).await;
                let make = || mix.service.program.runtime.block_on(at_once(CLIENTS, COMPARED, ask));
                let figures = Figures::measure(|| mix.service.used(), make)?;
                if round > 0 {
                    let [chromium, own, _] = figures.used_a_document_ms();
                    let (throughput, median) = (figures.throughput(), figures.percentile_ms(0.5));
                    println!(
                        "| {name} | {accounts} | {throughput:.1} | {median:.1} | {chromium:.1} | {own:.1} |"
                    );
                }
            }
        }
    }
    Ok(())
}
