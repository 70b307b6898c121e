//! A running service and the processes of its template engine: one that waits for its first job, one that had some.

use std::io;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::common::program::{Program, make_account};
use crate::common::usage::{children_time, engines, process_time};
use crate::templates::Template;

/// One process at work, and one of each kind that waits.
const SETTINGS: [(&str, &str); 4] = [
    ("PLATEN__ASSEMBLE__SPARES", "1"),
    ("PLATEN__ASSEMBLE__KEPT", "1"),
    ("PLATEN__ASSEMBLE__PROCESSES", "1"),
    ("PLATEN__BROWSER__TABS", "1"),
];
/// How long a process may take to be there or gone.
const PATIENCE: Duration = Duration::from_secs(10);

/// A service whose engine is measured.
pub struct Engines {
    program: Program,
    _folder: tempfile::TempDir,
}

impl Engines {
    /// Starts a program and waits until it has its spare.
    pub fn start(executable: &str) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let token = make_account(folder.path(), "bench")?;
        let engines =
            Self { program: Program::of(executable, folder.path(), token, &SETTINGS)?, _folder: folder };
        engines.program.runtime.block_on(engines.program.ready())?;
        engines.settle(1);
        Ok(engines)
    }

    /// Makes the page so many times, one after the other.
    pub fn run(&self, template: &Template, jobs: usize) -> io::Result<()> {
        let body = json!({"type": "ejs", "target": "html", "template": template.text, "data": template.data,
            "formatOpts": template.options});
        let body = body.to_string();
        self.program.runtime.block_on(async {
            for _ in 0..jobs {
                let page = self.program.render(body.clone()).await?;
                if !String::from_utf8_lossy(&page).contains(template.mark) {
                    return Err(io::Error::other("another page came"));
                }
            }
            Ok(())
        })
    }

    /// Processor time of the engine's processes for a job, their starts included.
    pub fn cpu_ms_a_job(&self, template: &Template, jobs: usize) -> io::Result<f64> {
        let service = self.program.id();
        let used = || children_time(service, || engines(service));
        let before = used();
        self.run(template, jobs)?;
        let used = used().saturating_sub(before);
        Ok(used.as_secs_f64() * 1_000.0 / f64::from(u32::try_from(jobs).unwrap_or(u32::MAX)))
    }

    /// Processor time of a start: of the process that had no job.
    pub fn start_ms(&self) -> f64 {
        let spare = self.settle(1).first().copied();
        // Finer than the ticks of `stat`; of the first thread, and there is no other.
        let text = spare.and_then(|id| std::fs::read_to_string(format!("/proc/{id}/schedstat")).ok());
        let used_ns = text.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
        used_ns.unwrap_or(f64::NAN) / 1e6
    }

    /// Anonymous memory of the process that had no job.
    pub fn spare_mib(&self) -> f64 {
        anonymous_mib(self.settle(1).first().copied())
    }

    /// Anonymous memory of the process that had jobs: it used more time than the spare. Not a number where none is kept.
    pub fn kept_mib(&self) -> f64 {
        anonymous_mib(self.settle(2).get(1).copied())
    }

    /// Waits until there are so many processes and nothing happens in them; those with the least time first.
    fn settle(&self, count: usize) -> Vec<u32> {
        let begun = Instant::now();
        let mut before = Vec::new();
        loop {
            std::thread::sleep(Duration::from_millis(300));
            let mut now: Vec<_> =
                engines(self.program.id()).into_iter().map(|id| (process_time(id), id)).collect();
            now.sort_unstable();
            let is_settled = now.len() == count && now == before;
            if is_settled || begun.elapsed() > PATIENCE {
                return now.into_iter().map(|(_, id)| id).collect();
            }
            before = now;
        }
    }
}

fn anonymous_mib(process: Option<u32>) -> f64 {
    let status = process.and_then(|id| std::fs::read_to_string(format!("/proc/{id}/status")).ok());
    let status = status.unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap_or_default();
    let kib = line.split_whitespace().next().and_then(|number| number.parse::<f64>().ok());
    kib.unwrap_or(f64::NAN) / 1_024.0
}
