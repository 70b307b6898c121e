//! How long a page that is loaded waits before it is printed, and whether it is whole then: our own waiting
//! against 500 ms without a request, which is what most renderers wait for.

use std::io::{self, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use platen::config::Config;

use crate::common::document::Document;
use crate::common::floor::{self, Floor};
use crate::common::pipe::lock;
use crate::path::{OwnPath, task};

/// What the network must be idle for before a page is printed, where that is what is waited for.
const IDLE: Duration = Duration::from_millis(500);

/// A page that says `whole` when it has drawn everything.
struct Sample {
    name: &'static str,
    page: &'static str,
    scripted: bool,
    rounds: usize,
}

/// What one way made of one page: from load to print, and whether the document was whole.
#[derive(Default)]
struct Outcome {
    waits: Vec<Duration>,
    whole: usize,
}

const SAMPLES: [Sample; 14] = [
    Sample { name: "no script", page: "<p>whole", scripted: false, rounds: 15 },
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
    slow(
        "a chain of 6 × 600 ms",
        "<p id=p></p><script>const go = n => n ? setTimeout(go, 600, n - 1) : p.textContent = 'whole'; go(6)</script>",
    ),
    scripted(
        "a worker that stays",
        "<p id=p></p><script>const w = new Worker('data:text/javascript,onmessage = () => postMessage(`whole`)'); \
         w.onmessage = it => p.textContent = it.data; w.postMessage(0)</script>",
    ),
    scripted(
        "a worker that closes itself",
        "<p id=p></p><script>new Worker('data:text/javascript,postMessage(`whole`); close()').onmessage = \
         it => p.textContent = it.data</script>",
    ),
    slow(
        "a worker computes for 6 s",
        "<p id=p></p><script>new Worker('data:text/javascript,const end = performance.now() + 6000; \
         while (performance.now() < end); postMessage(`whole`)').onmessage = it => p.textContent = it.data</script>",
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
    Sample { name, page, scripted: true, rounds: 15 }
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
    let (floor, path) = (Floor::start()?, OwnPath::start(Config::default().browser)?);
    for sample in &SAMPLES {
        compare_one(sample, &path, &floor)?;
    }
    path.finish()
}

fn compare_one(sample: &Sample, path: &OwnPath, floor: &Floor) -> io::Result<()> {
    let (mut ours, mut idle) = (Outcome::default(), Outcome::default());
    let (page, scripted) = (sample.page.to_owned(), sample.scripted);
    let files = vec![("n.json".to_owned(), b"{}".to_vec())];
    let document = Document { page, files, served: scripted, scripted, ..Document::invoice()? };
    let task = task(&document);
    // The first round warms up and is not counted.
    for round in 0..=sample.rounds {
        let (by_us, by_idle) = (path.block_on(path.render(&task))?, print_when_idle(floor, &document)?);
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

/// Prints a page when it has made no request for 500 ms; gives the time from the load event until then, and the
/// file.
fn print_when_idle(floor: &Floor, document: &Document) -> io::Result<(Duration, Vec<u8>)> {
    floor.origin.show(document);
    let last_asked = || *lock(&floor.origin.served.last);
    let tab = floor.factory(document.scripted).open()?;
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
