//! The effect of one account's worst pages on another account: documents a second, latencies, failures, each beside the
//! figure when it is alone; how long its job takes beside nine slow ones; and what floods of one account and of two do to
//! each kind of its jobs.
//!
//! A benchmark, never a test: it fails at nothing, it prints. `cargo bench --bench neighbours` takes forty minutes;
//! words after `--` choose attacks, slow jobs and floods by their names, `fairness` all slow jobs, `floods` all floods,
//! `overload` what one account gets with 1 to 256 clients.
//! `--seconds`, `--run-up` and `--rest` bound the parts of a flood's row. A path has another version's program measured.

#![expect(clippy::print_stdout, reason = "a benchmark prints")]

#[path = "../common"]
mod common {
    #[expect(dead_code, reason = "shared with benchmarks that ask for more")]
    pub mod figures;
    pub mod footprint;
    #[expect(dead_code, reason = "shared with benchmarks that ask for more")]
    pub mod office_files;
    #[expect(dead_code, reason = "shared with benchmarks that ask for more")]
    pub mod options;
    #[expect(dead_code, reason = "shared with benchmarks that ask for more")]
    pub mod program;
    pub mod request;
    pub mod tree;
    #[expect(dead_code, reason = "shared with benchmarks that ask for more")]
    pub mod usage;
}
mod attacks;
mod fairness;
#[path = "../../tests/support/fake_engine/mod.rs"]
#[expect(clippy::expect_used, clippy::panic, reason = "it is a test's engine, which fails by panicking")]
mod fake;
mod floods;

use std::cell::RefCell;
use std::io;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::task::LocalSet;

use attacks::{ATTACKS, Attack};
use common::figures::Figures;
use common::options::Options;
use common::program::{OWN, Program, make_account};

/// How long each measurement takes.
const WINDOW: Duration = Duration::from_secs(20);
/// How long an attack is under way before it is measured beside.
const RUN_UP: Duration = Duration::from_secs(5);
/// Clients of the account that is measured.
const CLIENTS: usize = 2;

fn main() -> io::Result<()> {
    if std::env::args().nth(1).as_deref() == Some("serve") {
        return fairness::serve();
    }
    let options = Options::read(&floods::NUMBERS)?;
    let has_word = |word: &str| options.words.iter().any(|given| given == word);
    attacked(options.program.as_deref().unwrap_or(OWN), |attack| options.chooses(attack.name))?;
    fairness::run(|slow| options.chooses(slow.name) || has_word("fairness"))?;
    floods::run(&options)
}

/// Both accounts ask for as much as they can.
fn attacked(executable: &str, chosen: impl Fn(&Attack) -> bool) -> io::Result<()> {
    let mut has_head = false;
    for attack in ATTACKS.iter().filter(|attack| chosen(attack)) {
        if !std::mem::replace(&mut has_head, true) {
            println!(
                "{:<44} {:>9} {:>8} {:>9} {:>9} {:>7}",
                "", "a second", "of quiet", "p50 ms", "p95 ms", "failed"
            );
        }
        // Each against a service of its own: the after-effects of one do not count for the next.
        let folder = tempfile::tempdir()?;
        let (token, hostile) =
            (make_account(folder.path(), "neighbour")?, make_account(folder.path(), "hostile")?);
        let program = Program::of(executable, folder.path(), token, &[])?;
        let documents = documents()?;
        let (quiet, beside, attackers) = LocalSet::new().block_on(&program.runtime, async {
            program.ready().await?;
            let run = Run { program: &program, documents: &documents };
            // The first documents warm up.
            run.measure(Duration::from_secs(3)).await;
            let quiet = run.measure(WINDOW).await;
            let attackers = attack.begin(&program, &hostile);
            tokio::time::sleep(RUN_UP).await;
            let beside = run.measure(WINDOW).await;
            Ok::<_, io::Error>((quiet, beside, attackers))
        })?;
        print_line(&format!("quiet, before: {}", attack.name), &quiet, quiet.figures.throughput());
        print_line(&format!("beside {}", attack.name), &beside, quiet.figures.throughput());
        println!("{:<44} {}", "", attackers.ended());
    }
    Ok(())
}

/// The documents of the account that is measured, in turn: the sample invoice, and a page that a script draws.
fn documents() -> io::Result<[String; 2]> {
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/samples/invoice");
    let invoice = std::fs::read_to_string(format!("{sample}/index.html"))?;
    let data: Value = serde_json::from_str(&std::fs::read_to_string(format!("{sample}/data.json"))?)?;
    let drawn = "<table id=t></table><script>for (let i = 0; i < 30; i++) \
        t.insertRow().insertCell().textContent = 'row ' + i</script>";
    Ok([
        json!({"type": "ejs", "target": "pdf", "template": invoice, "data": data}).to_string(),
        json!({"type": "html", "target": "pdf", "template": drawn, "data": {}}).to_string(),
    ])
}

struct Run<'a> {
    program: &'a Program,
    documents: &'a [String; 2],
}

struct Measured {
    figures: Figures,
    failures: Vec<String>,
}

impl Run<'_> {
    async fn measure(&self, window: Duration) -> Measured {
        let (begun, latencies, failures) = (Instant::now(), RefCell::default(), RefCell::default());
        let client = async |number: usize| {
            let mut at = number;
            while begun.elapsed() < window {
                at += 1;
                let asked = Instant::now();
                match self.program.render(self.documents[at % 2].clone()).await {
                    Ok(file) if file.starts_with(b"%PDF-") => {
                        RefCell::<Vec<Duration>>::borrow_mut(&latencies).push(asked.elapsed());
                    }
                    Ok(_) => RefCell::<Vec<String>>::borrow_mut(&failures).push("no PDF came".to_owned()),
                    Err(error) => failures.borrow_mut().push(error.to_string()),
                }
            }
        };
        futures_util::future::join_all((0..CLIENTS).map(client)).await;
        let figures =
            Figures { latencies: latencies.into_inner(), wall: begun.elapsed(), ..Figures::default() };
        Measured { figures, failures: failures.into_inner() }
    }
}

fn print_line(name: &str, measured: &Measured, quiet: f64) {
    let Measured { figures, failures } = measured;
    let rate = figures.throughput();
    println!(
        "{name:<44} {rate:>9.1} {:>7.0}% {:>9.0} {:>9.0} {:>7}",
        rate / quiet * 100.0,
        figures.percentile_ms(0.5),
        figures.percentile_ms(0.95),
        failures.len(),
    );
    if let Some(failure) = failures.first() {
        println!("{:<44} {failure}", "");
    }
}
