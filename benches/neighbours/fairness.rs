//! What one account's job takes while nine slow jobs of another one are at work or waiting, beside what it takes when the
//! service is idle.
//!
//! The limit is 1.5 times as long and 50 ms, of 95 in 100 jobs. Whatever is slow is a line of [`SLOW`].

use std::io;
use std::time::{Duration, Instant};

use platen::app::App;
use platen::config::Config;
use serde_json::{Value, json};
use tokio::task::LocalSet;

use crate::attacks::Attack;
use crate::common::figures::Figures;
use crate::common::program::{Program, make_account};
use crate::fake;

/// How long the idle service is measured, and then the one with slow jobs.
const WINDOW: Duration = Duration::from_secs(20);
/// How long the slow jobs are under way before it is measured beside them: some have ended, also of those that end by
/// the longest of their deadlines, so that the queue has seen what they cost.
const RUN_UP: Duration = Duration::from_secs(20);
/// What the limit is made of: so many times the idle service's, and so much more.
const FACTOR: f64 = 1.5;
const MORE_MS: f64 = 50.0;

/// The slow jobs, nine of them at any moment.
pub const SLOW: &[Attack] = &[
    Attack {
        name: "9 slow programs of an engine",
        clients: 9,
        kind: "latex",
        template: "\\documentclass{article} SLOW",
    },
    Attack { name: "9 endless templates", clients: 9, kind: "ejs", template: "<% while (1); %>" },
    Attack { name: "9 endless pages", clients: 9, kind: "html", template: "<script>while(1);</script>" },
    Attack {
        name: "9 reports of 1,000 static pages",
        clients: 9,
        kind: "ejs",
        template: "<% for (let i = 0; i < 1000; i++) { %><p style='break-after:page'>page <%= i %></p><% } %>",
    },
];

/// The jobs that are measured, each alone.
fn quick() -> io::Result<[(&'static str, String); 3]> {
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/samples/invoice");
    let invoice = std::fs::read_to_string(format!("{sample}/index.html"))?;
    let data: Value = serde_json::from_str(&std::fs::read_to_string(format!("{sample}/data.json"))?)?;
    let (plain, drawn) = ("<h1>plain</h1>", "<h1 id=h></h1><script>h.textContent = 'drawn'</script>");
    Ok([
        ("page", json!({"type": "html", "target": "pdf", "template": plain, "data": {}}).to_string()),
        (
            "page with script",
            json!({"type": "html", "target": "pdf", "template": drawn, "data": {}}).to_string(),
        ),
        ("invoice", json!({"type": "html", "target": "pdf", "template": invoice, "data": data}).to_string()),
    ])
}

/// Measures all jobs beside all slow ones that are chosen.
pub fn run(chosen: impl Fn(&Attack) -> bool) -> io::Result<()> {
    let mut has_head = false;
    for slow in SLOW.iter().filter(|slow| chosen(slow)) {
        if !std::mem::replace(&mut has_head, true) {
            print_line("", "jobs", ["p50 ms", "p95 ms", "limit"].map(str::to_owned), "failed");
        }
        beside(slow)?;
    }
    Ok(())
}

/// The service with the fake engine of the tests, whose program can be made slow.
pub fn serve() -> io::Result<()> {
    fake::install(fake::PRESS);
    let variables = std::env::vars().filter(|(name, _)| name.starts_with("PLATEN__"));
    let config = Config::load(None, variables).map_err(io::Error::other)?;
    actix::System::new().block_on(async {
        let mut engines = fake::others();
        engines.push(fake::engine());
        let platen = env!("CARGO_BIN_EXE_platen").into();
        let app = App::build_with(config, platen, engines).await.map_err(io::Error::other)?;
        println!("listening on {}", app.address());
        let ended = app.run_until_stopped().await.map_err(io::Error::other);
        fake::uninstall();
        ended
    })
}

/// A service of its own for each kind of slow job.
fn beside(slow: &Attack) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let (token, other) = (make_account(folder.path(), "quick")?, make_account(folder.path(), "slow")?);
    let this = std::env::current_exe()?.display().to_string();
    let program = Program::of(&this, folder.path(), token, &[])?;
    let jobs = quick()?;
    LocalSet::new().block_on(&program.runtime, async {
        program.ready().await?;
        let mut idle = Vec::new();
        for (_, job) in &jobs {
            // The first ones warm up.
            measure(&program, job, WINDOW / 10).await;
            idle.push(measure(&program, job, WINDOW).await);
        }
        let attackers = slow.begin(&program, &other);
        tokio::time::sleep(RUN_UP).await;
        for ((name, job), idle) in jobs.iter().zip(&idle) {
            let beside = measure(&program, job, WINDOW).await;
            idle.print(&format!("{name}, idle"), None);
            beside.print(&format!("{name}, beside {}", slow.name), Some(idle));
        }
        println!("{:<52} {}", "", attackers.ended());
        Ok(())
    })
}

struct Measured {
    figures: Figures,
    failures: Vec<String>,
}

/// One client asks for the job again and again.
async fn measure(program: &Program, job: &str, window: Duration) -> Measured {
    let (begun, mut figures, mut failures) = (Instant::now(), Figures::default(), Vec::new());
    while begun.elapsed() < window {
        let asked = Instant::now();
        match program.render(job.to_owned()).await {
            Ok(file) if file.starts_with(b"%PDF-") => figures.latencies.push(asked.elapsed()),
            Ok(_) => failures.push("no PDF came".to_owned()),
            Err(error) => failures.push(error.to_string()),
        }
    }
    figures.wall = begun.elapsed();
    Measured { figures, failures }
}

impl Measured {
    fn print(&self, name: &str, idle: Option<&Self>) {
        let [p50, p95] = [0.5, 0.95].map(|share| self.figures.percentile_ms(share));
        let limit = idle.map(|idle| FACTOR * idle.figures.percentile_ms(0.95) + MORE_MS);
        let told = limit.map_or_else(String::new, |limit| {
            // Without a job there is no figure, and one that failed may be the one that would have been late.
            let holds = p95 <= limit && !self.figures.latencies.is_empty() && self.failures.is_empty();
            format!("{limit:.0} {}", if holds { "holds" } else { "BROKEN" })
        });
        let (count, failed) = (self.figures.latencies.len().to_string(), self.failures.len().to_string());
        print_line(name, &count, [format!("{p50:.0}"), format!("{p95:.0}"), told], &failed);
        if let Some(failure) = self.failures.first() {
            println!("{:<52} {failure}", "");
        }
    }
}

fn print_line(name: &str, jobs: &str, [p50, p95, limit]: [String; 3], failed: &str) {
    println!("{name:<52} {jobs:>6} {p50:>9} {p95:>9} {limit:>12} {failed:>7}");
}
