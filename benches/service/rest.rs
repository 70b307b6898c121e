//! How long a page that is loaded waits before it is printed, and whether it is whole then: our own waiting
//! against 500 ms without a request, which is what most renderers wait for.

use std::cell::Cell;
use std::io::{self, Write as _};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::{Actor, Addr, System};
use bytes::Bytes;
use platen::browser::{BrowserPool, LeaseTab, PageFault, PageOutput, PageStep, PageTask, ShutDown, open};
use platen::config::{BrowserConfig, Config};
use platen::domain::format_opts::PageOptions;
use platen::domain::ids::AccountId;
use platen::domain::lane::Lane;
use platen::domain::reach::Reach;
use platen::domain::site::Site;
use platen::outbound::{Outbound, SystemResolver};
use platen::telemetry::metrics::Metrics;
use platen::workers::Starter;

use crate::common::document::Document;
use crate::common::floor::{self, Floor};
use crate::common::pipe::lock;

/// What the network must be idle for before a page is printed, where that is what is waited for.
const IDLE: Duration = Duration::from_millis(500);

/// A page that says `whole` when it has drawn everything.
struct Sample {
    name: &'static str,
    page: &'static str,
    lane: Lane,
    rounds: usize,
}

/// What one way made of one page: from load to print, and whether the document was whole.
struct Outcome {
    waits: Vec<Duration>,
    whole: usize,
}

const SAMPLES: [Sample; 10] = [
    Sample { name: "no script", page: "<p>whole", lane: Lane::Static, rounds: 15 },
    scripted("a script, done at load", "<p id=p></p><script>p.textContent = 'whole'</script>"),
    scripted(
        "draws after 300 ms",
        "<p id=p></p><script>setTimeout(() => p.textContent = 'whole', 300)</script>",
    ),
    scripted(
        "a timer of a minute",
        "<p>whole</p><script>setTimeout(() => document.body.append('!'), 60000)</script>",
    ),
    slow(
        "draws for 1 s in frames",
        "<svg><rect id=r height=9 /><text id=t y=20></text></svg><script>const go = at => { \
         r.setAttribute('width', at / 5); at < 1000 ? requestAnimationFrame(go) : t.textContent = 'whole' }; \
         requestAnimationFrame(go)</script>",
    ),
    slow(
        "paginates itself for 3 s",
        "<main id=m></main><script>const pause = ms => new Promise(done => setTimeout(done, ms)); \
         (async () => { const end = performance.now() + 3000; while (performance.now() < end) { \
         const p = document.createElement('p'); p.textContent = performance.now(); m.append(p); \
         m.scrollHeight; await pause(0) } m.append('whole') })()</script>",
    ),
    scripted(
        "an idle frame loop",
        "<p>whole</p><script>const go = () => requestAnimationFrame(go); go()</script>",
    ),
    scripted("polls each second", "<p>whole</p><script>setInterval(() => fetch('/n.json'), 1000)</script>"),
    scripted(
        "polls by timers",
        "<p>whole</p><script>const go = () => fetch('/n.json').then(() => setTimeout(go, 1000)); go()</script>",
    ),
    Sample {
        rounds: 1,
        ..scripted(
            "a clock of 100 ms",
            "<p>whole</p><i id=i></i><script>setInterval(() => i.textContent = Date.now(), 100)</script>",
        )
    },
];

const fn scripted(name: &'static str, page: &'static str) -> Sample {
    Sample { name, page, lane: Lane::Scripted, rounds: 15 }
}

const fn slow(name: &'static str, page: &'static str) -> Sample {
    Sample { rounds: 3, ..scripted(name, page) }
}

/// Measures every page in both ways, in turn, and prints the table.
pub fn compare() -> io::Result<()> {
    println!("\nfrom load to print, and whether the document is whole");
    println!(
        "{:<26} {:>10} {:>8} {:>6} {:>14} {:>6}",
        "", "ours p50", "max", "whole", "idle 500 p50", "whole"
    );
    let floor = Floor::start()?;
    System::new().block_on(async {
        let config = Config::default().browser;
        let starter = Starter::new(env!("CARGO_BIN_EXE_platen").into())?;
        let outbound = Outbound::new(Config::default().outbound, &[], Arc::new(SystemResolver));
        let pool = BrowserPool::new(config.clone(), starter, outbound, Metrics::new().browser).start();
        for sample in &SAMPLES {
            compare_one(sample, &pool, &config, &floor).await?;
        }
        pool.send(ShutDown).await.map_err(io::Error::other)
    })
}

async fn compare_one(
    sample: &Sample,
    pool: &Addr<BrowserPool>,
    config: &BrowserConfig,
    floor: &Floor,
) -> io::Result<()> {
    let mut ours = Outcome { waits: Vec::new(), whole: 0 };
    let mut idle = Outcome { waits: Vec::new(), whole: 0 };
    let page = sample.page.to_owned();
    let document = Document { page, served: true, scripted: true, ..Document::invoice()? };
    // The first round warms up and is not counted.
    for round in 0..=sample.rounds {
        let (by_us, by_idle) = (render(sample, pool, config).await?, print_when_idle(floor, &document)?);
        if round > 0 || sample.rounds == 1 {
            ours.add(by_us)?;
            idle.add(by_idle)?;
        }
    }
    println!(
        "{:<26} {:>7.1} ms {:>5.0} ms {:>6} {:>11.1} ms {:>6}",
        sample.name,
        ours.median_ms(),
        ours.longest_ms(),
        ours.share(),
        idle.median_ms(),
        idle.share()
    );
    Ok(())
}

impl Outcome {
    fn add(&mut self, (wait, pdf): (Duration, Vec<u8>)) -> io::Result<()> {
        self.waits.push(wait);
        self.whole += usize::from(text_of(&pdf)?.contains("whole"));
        Ok(())
    }

    fn median_ms(&self) -> f64 {
        let mut sorted = self.waits.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).map_or(0.0, Duration::as_secs_f64) * 1_000.0
    }

    fn longest_ms(&self) -> f64 {
        self.waits.iter().max().map_or(0.0, Duration::as_secs_f64) * 1_000.0
    }

    fn share(&self) -> String {
        format!("{}/{}", self.whole, self.waits.len())
    }
}

async fn render(
    sample: &Sample,
    pool: &Addr<BrowserPool>,
    config: &BrowserConfig,
) -> io::Result<(Duration, Vec<u8>)> {
    let files = [("index.html", sample.page.as_bytes()), ("n.json", b"{}")];
    let files = files.map(|(name, text)| (name.to_owned(), Bytes::from_static(text)));
    let task = PageTask {
        site: Site::new("index.html", files.into()),
        data: Bytes::from_static(b"{}"),
        lane: sample.lane,
        direct: sample.lane == Lane::Static,
        options: PageOptions::default(),
        reach: Reach::OwnFiles,
        output: PageOutput::Pdf,
        limit_bytes: u64::MAX,
    };
    let message = LeaseTab { account: AccountId::generate(), lane: task.lane };
    let lease = pool.send(message).await.map_err(io::Error::other)?.map_err(io::Error::other)?;
    let loaded = Cell::new(Instant::now());
    let note = |step| {
        if step == PageStep::Readiness {
            loaded.set(Instant::now());
        }
    };
    let failed = |fault: PageFault| io::Error::other(fault);
    let page = open(lease, &task, config, note).await.map_err(failed)?;
    let wait = loaded.get().elapsed();
    let mut printed = page.print().await.map_err(failed)?;
    let mut pdf = Vec::new();
    while let Some(chunk) = printed.next_chunk().await.map_err(failed)? {
        pdf.extend_from_slice(&chunk);
    }
    Ok((wait, pdf))
}

/// Prints a page when it has made no request for 500 ms; gives the time from the load event until then, and the
/// file.
fn print_when_idle(floor: &Floor, document: &Document) -> io::Result<(Duration, Vec<u8>)> {
    floor.origin.show(document);
    let last_asked = || *lock(&floor.origin.served.last);
    let tab = floor.maker(true).open()?;
    floor::show(&floor.pipe, document, &tab)?;
    let loaded = Instant::now();
    while let Some(left) = IDLE.checked_sub(loaded.max(last_asked()).elapsed()) {
        std::thread::sleep(left);
    }
    let wait = loaded.elapsed();
    let file = floor::print(&floor.pipe, &tab)?;
    tab.dispose(&floor.pipe)?;
    Ok((wait, file))
}

fn text_of(pdf: &[u8]) -> io::Result<String> {
    let mut file = tempfile::NamedTempFile::new()?;
    file.write_all(pdf)?;
    let output = Command::new("pdftotext").arg(file.path()).arg("-").stderr(Stdio::inherit()).output()?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
